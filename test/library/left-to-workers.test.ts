import { expect, it, onTestFinished } from 'vitest'
import { createRetinue, leaveToWorkers } from '../../src/index.js'
import { makeProject } from '../support/project.js'

it('a run of this process is left to no workers, and goes on here', async () => {
  const cwd = makeProject({ 's.yaml': 'agents: {root: [{text: "Done."}]}' })
  const retinue = await createRetinue({ cwd, env: {} })
  onTestFinished(() => retinue.close())
  const run = retinue.run({ task: 'Do it', model: 'scripted/s.yaml' })
  await expect(leaveToWorkers(run)).rejects.toMatchObject({
    code: 'config',
    message: `Run ${run.run_id} is worked on in this process, and there are no workers to leave it to: create Retinue with engine: 'dbos'`,
  })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
})
