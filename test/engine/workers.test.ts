import { expect, it, onTestFinished } from 'vitest'
import { createRetinue } from '../../src/index.js'
import { startWorker } from '../../src/worker.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree } from '../support/project.js'
import { FOUR } from '../support/tree-run.js'

const SCRIPT = JSON.stringify({
  agents: {
    root: [{ calls: [{ spawn_agent: { task: 'Look' } }, { spawn_agent: { task: 'Look too' } }] }, { text: 'Done.' }],
    'a*': [{ delay_ms: 300, text: 'Seen.' }],
  },
})

it('works a tree', async () => {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 'script.yaml': SCRIPT, 'four.yaml': FOUR.script, 'a.txt': 'alpha\nbeta\n' })
  const settings = { model: { name: 'scripted/script.yaml', source: 'user' as const }, mode: 'dangerous' as const }
  const worker = await startWorker({ cwd, store, settings, say: (what) => console.log(what) })
  onTestFinished(() => worker.stop(100))
  const retinue = await createRetinue({ cwd, store, engine: 'dbos', settings })
  onTestFinished(() => retinue.close())
  for (const model of ['scripted/script.yaml', 'scripted/four.yaml']) {
    const run = retinue.run({ task: 'Go', model })
    const t = Date.now()
    void (async () => { for await (const e of run) console.log(Date.now() - t, e.position, e.agent_id, e.type) })().catch(() => {})
    const late = setTimeout(async () => { for (const e of await retinue.events(run.run_id)) console.log(e.agent_id, e.type, JSON.stringify(e.data).slice(0, 200)) }, 20000)
    const result = await run.result()
    clearTimeout(late)
    expect(result).toMatchObject({ outcome: 'completed' })
  }
  console.log(tree(cwd))
})
