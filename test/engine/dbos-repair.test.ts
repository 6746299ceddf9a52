import { expect, it } from 'vitest'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const SETTINGS = { ...TREE_SETTINGS, workspace: { repair: true } }

const awaiting = (job_ids: string) => ({ calls: [{ spawn_await: { job_ids } }] })
const write = (content: string) => ({ calls: [{ write_file: { path: 'x.txt', content } }] })

it('one whose sub-agent meets a conflict keeps no place from the one that resolves it', async () => {
  const store = await (await sharedPostgres()).database()
  const agents = {
    root: [
      {
        calls: [
          { spawn: { task: 'Write', owns: ['x.txt'], tools: 'read_file,edit_file,write_file' } },
          { spawn: { task: 'Say something' } },
        ],
      },
      awaiting('a2'),
      // When it gets here the first may write, and has not.
      { delay_ms: 1500, calls: [{ edit_file: { path: 'x.txt', old_text: 'middle', new_text: 'by the root' } }] },
      awaiting('a1'),
      { text: 'Done.' },
    ],
    a1: [write('top\nby the child\nend\n'), { text: 'Written.' }],
    a2: [{ text: 'Something.' }],
    a3: [{ calls: [{ read_file: { path: 'x.txt' } }] }, write('top\nby both\nend\n'), { text: 'Resolved.' }],
  }
  const files = { 'script.yaml': JSON.stringify({ agents }), 'x.txt': 'top\nmiddle\nend\n' }
  const cwd = makeProject(files, { git: true })
  const order = { cwd, store, settings: SETTINGS, per_run: 1 }
  await startWorkers(1, order)
  const face = await openFace(order)
  const run = face.run({ task: 'Go' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  expect(tree(cwd)['x.txt']).toBe('top\nby both\nend\n')
  const closed = (await face.events(run.run_id)).flatMap(({ type, data }) =>
    type === 'agent.subagent_closed' ? [[data.sub_agent_id, data.close_reason]] : [],
  )
  expect(closed).toEqual([
    ['a2', 'it gave its answer'],
    ['a3', 'it gave its answer; 1 of 1 checks passed'],
    ['a1', 'it gave its answer; its conflict in x.txt was resolved by a3'],
  ])
})
