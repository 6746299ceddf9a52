import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { endsOf } from '../support/busy-tree.js'
import { BUSY_SETTINGS } from '../support/busy-workers.js'
import { startLoopback } from '../support/loopback/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { openFace, startWorkers, type WorkerOrder, type WorkerVictim } from '../support/worker-victim.js'

const SETTINGS = {
  ...BUSY_SETTINGS,
  delegation: { ...BUSY_SETTINGS.delegation, models: ['scripted/script.yaml', 'there/m'] },
}

const SCRIPT = `
agents:
  root:
    - calls:
        - spawn: { task: Think, profile: slow, model: there/m }
    - calls:
        - run_command: { command: "until [ -e go ]; do sleep 0.05; done", timeout_ms: 300000 }
    - calls:
        - spawn_await: { job_ids: "*" }
    - expect: { contains: "[a1: OK]" }
      text: All done.
`

it('a worker that does not have the model of a sub-agent says so, and leaves it to one that has', async ({
  onTestFinished,
}) => {
  const server = await startLoopback({ protocol: 'chat', steps: [{ text: 'Thought.' }] })
  onTestFinished(() => server.close())
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject({ 'script.yaml': SCRIPT }, { finished: onTestFinished })
  const order: WorkerOrder = { cwd, store, settings: SETTINGS, concurrency: 1 }
  const providers = { there: { type: 'openai-compatible' as const, base_url: server.url } }
  const [lead] = (await startWorkers(1, { ...order, providers }, onTestFinished)) as [WorkerVictim]
  const face = await openFace(order, onTestFinished)
  const run = face.run({ task: 'Do the work' })
  await lead.appended('agent.subagent_created', 'root')
  // The other has no room: it is in a command of the root's.
  const [unfit] = (await startWorkers(1, order, onTestFinished)) as [WorkerVictim]
  await unfit.heard('problem')
  expect(unfit.said.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^a1 of run \S+ could not be worked on here, and is tried again: .*there/),
  ])
  writeFileSync(join(cwd, 'go'), '')
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
  const log = await face.events(run.run_id)
  expect(endsOf(log)).toEqual({ ends: { root: 'completed', a1: 'completed' }, faults: [] })
  expect(server.requests).toHaveLength(1)
})
