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

/** A lead that asks for these and waits for some of them, under a program that may have so many at work. */
async function leading(below: { request: object; steps: object[] }[], at_once: number, awaits = '*') {
  const store = await (await sharedPostgres()).database()
  const asked = below.map(({ request }) => ({ spawn: request }))
  const lead = [{ calls: asked }, { calls: [{ spawn_await: { job_ids: awaits } }] }, { text: 'Led.' }]
  const agents = { a1: lead, ...Object.fromEntries(below.map(({ steps }, i) => [`a1.${i + 1}`, steps])) }
  const cwd = makeProject({ 'script.yaml': JSON.stringify({ agents }), 'a.txt': 'alpha\n' }, { git: true })
  const order = { cwd, store, settings: SETTINGS }
  await startWorkers(1, order)
  const face = await openFace(order)
  return { cwd, face, run: face.fanOut([{ task: 'Lead', profile: 'lead' }], { maxConcurrent: at_once }) }
}

const writing = (path: string) => ({ calls: [{ write_file: { path, content: 'x\n' } }] })
const done = (delay_ms: number) => ({ delay_ms, text: 'Done.' })

it('one that waits to write keeps its place where those that have none cannot begin', async () => {
  const below = [
    // Its parent rests when it asks.
    { request: { task: 'Write', owns: ['A/**'] }, steps: [{ delay_ms: 2000, ...writing('A/b.txt') }, done(0)] },
    { request: { task: 'Compute', label: 'gpu' }, steps: [] },
  ]
  const { face, run } = await leading(below, 1, 'a1.1')
  for await (const { type, data } of run) {
    if (type === 'agent.subagent_closed' && data.sub_agent_id === 'a1.1') break
  }
  const ends = (await face.agents(run.run_id)).map(({ agent_id, state, outcome }) => [agent_id, state, outcome])
  expect(ends).toContainEqual(['a1.1', 'closed', 'completed'])
  expect(ends).toContainEqual(['a1.2', 'created', null])
  await face.cancel(run.run_id, 'person', 'seen')
})

it('one that has ended has no need of a place to be heard of, and its parent rests meanwhile', async () => {
  const below = [
    { request: { task: 'First', owns: ['A/**'], checks: ['sleep 4'] }, steps: [writing('A/b.txt'), done(0)] },
    { request: { task: 'Behind it', owns: ['A/**'] }, steps: [writing('A/c.txt'), done(6000)] },
    // While the first is judged it has the place that the second lends, and then it waits for that one to be joined.
    { request: { task: 'Other', owns: ['C/**'] }, steps: [writing('C/b.txt'), done(0)] },
  ]
  const { cwd, face, run } = await leading(below, 1)
  const left = run.result().catch((error: Error) => error)
  for await (const { type, agent_id } of face.follow(run.run_id)) {
    if (type === 'agent.worktree_created' && agent_id === 'a1.2') break
  }
  const ends = (await face.agents(run.run_id)).map(({ agent_id, state }) => [agent_id, state])
  expect(ends).toContainEqual(['a1.3', 'waiting_for_merge'])
  // Whoever takes the lead up again, as for this, does not know by itself who has ended.
  await face.pause(run.run_id, 'ada', 'lunch')
  expect(await left).toBeInstanceOf(Error)
  expect(await face.resume(run.run_id).result()).toMatchObject({ outcome: 'completed' })
  expect(Object.keys(tree(cwd)).filter((path) => path.includes('/'))).toEqual(['A/b.txt', 'A/c.txt', 'C/b.txt'])
  const log = await face.events(run.run_id)
  const behind = log.findIndex(({ type, agent_id }) => type === 'agent.worktree_created' && agent_id === 'a1.2')
  const woken = log.slice(behind).filter(({ type, agent_id }) => type === 'agent.woken' && agent_id === 'a1')
  // For the pause, for each that ends and for what crosses it. Four times a second would be more than twenty.
  expect(woken.length).toBeLessThanOrEqual(10)
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

it.each([
  {
    those: 'each asks to write',
    at_once: 1,
    below: ['A', 'B', 'C'].map((id) => ({
      request: { task: `Write ${id}`, owns: [`${id}/**`] },
      steps: [writing(`${id}/b.txt`), done(2000)],
    })),
    written: ['A/b.txt', 'B/b.txt', 'C/b.txt'],
  },
  {
    those: 'one asks to write while an elder one that lent its place has none',
    at_once: 2,
    below: [
      { request: { task: 'First', owns: ['A/**'] }, steps: [writing('A/b.txt'), done(3000)] },
      { request: { task: 'Behind it', owns: ['A/**'] }, steps: [writing('A/c.txt'), done(4000)] },
      { request: { task: 'Asks', owns: ['C/**'] }, steps: [{ delay_ms: 14_000, ...writing('C/b.txt') }, done(4000)] },
      // It has begun before that one asks, also on a slow machine: who is not known to have begun counts for nobody.
      { request: { task: 'At work' }, steps: [done(19_000)] },
    ],
    written: ['A/b.txt', 'A/c.txt', 'C/b.txt'],
  },
])('no more of them are at work than their parent may have, although $those', async ({ below, at_once, written }) => {
  const { cwd, face, run } = await leading(below, at_once)
  expect(await run.results()).toMatchObject([{ success: true, summary: 'Led.' }])
  expect(written.map((path) => tree(cwd)[path])).toEqual(written.map(() => 'x\n'))
  expect(mostAtWork(await face.events(run.run_id))).toBe(at_once)
})
