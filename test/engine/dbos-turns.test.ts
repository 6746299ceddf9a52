import { expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers } from '../support/worker-victim.js'

const SLOW = { budget: { wall_ms: 600_000 } }
const SETTINGS = { ...TREE_SETTINGS, delegation: { profiles: { lead: { ...SLOW, can_spawn_children: true } } } }

const write = (id: string, delay_ms = 0) => ({
  when: { contains: `Write ${id}` },
  steps: [{ delay_ms, calls: [{ write_file: { path: `${id}/b.txt`, content: 'x\n' } }] }, { text: 'Done.' }],
})

const SUBTASKS = [{ task: 'Write A' }, { task: 'Write B', depends_on: 0 }, { task: 'Write C' }, { task: 'Write D' }]

it('those that wait to write give their places to those that they wait for', async () => {
  const store = await (await sharedPostgres()).database()
  const script = JSON.stringify({
    agents: {
      a1: [{ calls: [{ delegate_task: { plan: 'P', subtasks: SUBTASKS } }] }, { text: 'Led.' }],
      // The first is at work until the others have begun. The second is told of it.
      'a1.*': [{ branches: [write('B'), write('A', 3000), write('C'), write('D')] }],
    },
  })
  const cwd = makeProject({ 'script.yaml': script, 'a.txt': 'alpha\n' }, { git: true })
  const order = { cwd, store, settings: SETTINGS }
  await startWorkers(1, order)
  const face = await openFace(order)
  const [led] = await face.fanOut([{ task: 'Lead', profile: 'lead' }], { maxConcurrent: 2 }).results()
  expect(led).toMatchObject({ success: true, summary: 'Led.' })
  const written = Object.keys(tree(cwd)).filter((path) => path.endsWith('/b.txt'))
  expect(written.sort()).toEqual(['A/b.txt', 'B/b.txt', 'C/b.txt', 'D/b.txt'])
})

/** So many of those below the lead waited for their model at once. */
function mostAtWork(log: readonly StoredEvent[]): number {
  const asking = new Set<string>()
  let most = 0
  for (const { type, agent_id } of log.filter(({ agent_id }) => agent_id.startsWith('a1.'))) {
    if (type === 'model.requested') asking.add(agent_id)
    if (type === 'model.responded') asking.delete(agent_id)
    most = Math.max(most, asking.size)
  }
  return most
}

it('no more of them are at work than their parent may have, although each asks to write', async () => {
  const store = await (await sharedPostgres()).database()
  const works = (id: string) => [
    { calls: [{ write_file: { path: `${id}/b.txt`, content: 'x\n' } }] },
    { delay_ms: 2000, text: 'Done.' },
  ]
  const ids = ['A', 'B', 'C']
  const asked = ids.map((id) => ({ spawn: { task: `Write ${id}`, owns: [`${id}/**`] } }))
  const lead = [{ calls: asked }, { calls: [{ spawn_await: { job_ids: '*' } }] }, { text: 'Led.' }]
  const agents = { a1: lead, 'a1.1': works('A'), 'a1.2': works('B'), 'a1.3': works('C') }
  const cwd = makeProject({ 'script.yaml': JSON.stringify({ agents }), 'a.txt': 'alpha\n' }, { git: true })
  const order = { cwd, store, settings: SETTINGS }
  await startWorkers(1, order)
  const face = await openFace(order)
  const run = face.fanOut([{ task: 'Lead', profile: 'lead' }], { maxConcurrent: 1 })
  expect(await run.results()).toMatchObject([{ success: true, summary: 'Led.' }])
  const log = await face.events(run.run_id)
  expect(ids.map((id) => tree(cwd)[`${id}/b.txt`])).toEqual(['x\n', 'x\n', 'x\n'])
  expect(mostAtWork(log)).toBe(1)
})
