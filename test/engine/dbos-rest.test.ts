import { expect, it } from 'vitest'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const write = (path: string) => ({ calls: [{ write_file: { path, content: 'x\n' } }] })

/** The second sub-agent is done long before the first, which has one of its own, and has to wait for it to be joined. */
const SCRIPT = JSON.stringify({
  agents: {
    root: [
      {
        calls: [
          { spawn_agent: { task: 'Take your time', owns: ['one/**'] } },
          { spawn_agent: { task: 'Be quick', owns: ['two/**'] } },
        ],
      },
      { text: 'Done.' },
    ],
    a1: [write('one/a.txt'), { calls: [{ spawn_agent: { task: 'Look' } }] }, { text: 'Written.' }],
    'a1.1': [{ delay_ms: 1500, text: 'Seen.' }],
    a2: [write('two/a.txt'), { text: 'Written.' }],
  },
})

it('a parent rests while one that has ended waits for another, and gives others its place', async () => {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 'script.yaml': SCRIPT }, { git: true })
  await startWorkers(1, { cwd, store, settings: TREE_SETTINGS, concurrency: 1 })
  const face = await openFace({ cwd, store, settings: TREE_SETTINGS })
  const run = face.run({ task: 'Go' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  expect(tree(cwd)).toMatchObject({ 'one/a.txt': 'x\n', 'two/a.txt': 'x\n' })
  // Twice somebody asks to write, twice somebody has ended: it is woken for that, and for nothing else.
  const woken = (await face.events(run.run_id)).filter(
    ({ agent_id, type }) => agent_id === 'root' && type === 'agent.woken',
  )
  expect(woken.length).toBeLessThanOrEqual(4)
})
