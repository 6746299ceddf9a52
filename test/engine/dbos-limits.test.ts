import { expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject, tree } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers, type WorkerOrder } from '../support/worker-victim.js'

const SETTINGS = {
  ...TREE_SETTINGS,
  delegation: { profiles: { lead: { can_spawn_children: true, budget: { wall_ms: 600_000 } } } },
}

type Told = Pick<WorkerOrder, 'concurrency' | 'labels' | 'at_once' | 'per_run'>

/** Eight that take a while each, those with an odd number with a label where there is one. */
function eight(label: string | null): string {
  const needs = (i: number) => (label !== null && i % 2 === 1 ? { label } : {})
  const calls = Array.from({ length: 8 }, (_, i) => ({ spawn: { task: `Work ${i}`, ...needs(i) } }))
  const root = [{ calls }, { calls: [{ spawn_await: { job_ids: '*' } }] }, { text: 'Done.' }]
  return JSON.stringify({ agents: { root, 'a*': [{ delay_ms: 500, text: 'Worked.' }] } })
}

async function worked(script: string, { runs, workers }: { runs: number; workers: Told[] }) {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 'script.yaml': script }, { git: true })
  const order = { cwd, store, settings: SETTINGS }
  const face = await openFace(order)
  const begun = Array.from({ length: runs }, () => face.run({ task: 'Go' }))
  // With work for all from the beginning.
  await Promise.all(begun.map((run) => face.follow(run.run_id)[Symbol.asyncIterator]().next()))
  for (const told of workers) await startWorkers(1, { ...order, ...told })
  for (const run of begun) expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  return { cwd, logs: await Promise.all(begun.map((run) => face.events(run.run_id))) }
}

/** How many models were asked at the same time, at most. */
function atOnce(log: readonly StoredEvent[]): number {
  const moments = log.flatMap(({ type, at }) =>
    type === 'model.requested' ? [{ at, by: 1 }] : type === 'model.responded' ? [{ at, by: -1 }] : [],
  )
  // Of the same millisecond: who has ended makes room.
  moments.sort((a, b) => a.at - b.at || a.by - b.by)
  let open = 0
  return moments.reduce((most, { by }) => {
    open += by
    return Math.max(most, open)
  }, 0)
}

it('a worker never works on more agents than it was told, on all its queues together, and each has its own number', async () => {
  const workers = [{ concurrency: 3, labels: ['gpu', 'office'] }]
  const { logs } = await worked(eight('gpu'), { runs: 2, workers })
  expect(atOnce(logs.flat())).toBe(3)
  // Nobody is kept waiting by those of the other queue.
  const [log = []] = logs
  const order = log.flatMap((event) => (event.type === 'agent.subagent_started' ? [event.data.step_idx % 2] : []))
  expect(new Set(order.slice(0, 6)).size).toBe(2)
  const two = [{ concurrency: 1 }, { concurrency: 3 }]
  expect(atOnce((await worked(eight(null), { runs: 2, workers: two })).logs.flat())).toBe(4)
})

it('never more are at work on all workers together than they were told', async () => {
  const workers = [
    { concurrency: 4, at_once: 3 },
    { concurrency: 4, at_once: 3 },
  ]
  const { logs } = await worked(eight(null), { runs: 3, workers })
  expect(atOnce(logs.flat())).toBe(3)
})

it('of one run never more are at work than they were told, and others have the rest', async () => {
  const workers = [
    { concurrency: 4, per_run: 2 },
    { concurrency: 4, per_run: 2 },
  ]
  const { logs } = await worked(eight(null), { runs: 3, workers })
  expect(Math.max(...logs.map(atOnce))).toBe(2)
  expect(atOnce(logs.flat())).toBeGreaterThan(2)
})

/** Three deep, with some that write, and take turns with it. */
const DEEP = JSON.stringify({
  agents: {
    root: [
      {
        calls: [
          { spawn_agent: { task: 'Lead one', profile: 'lead', owns: ['one/**'], label: 'gpu' } },
          { spawn_agent: { task: 'Lead two', profile: 'lead', owns: ['two/**'] } },
        ],
      },
      { text: 'Done.' },
    ],
    a1: [{ calls: [{ spawn_agent: { task: 'Write', owns: ['one/**'] } }] }, { text: 'Led.' }],
    a2: [{ calls: [{ spawn_agent: { task: 'Write', owns: ['two/**'] } }] }, { text: 'Led.' }],
    'a1.1': [{ calls: [{ write_file: { path: 'one/a.txt', content: 'x\n' } }] }, { text: 'Written.' }],
    'a2.1': [{ calls: [{ write_file: { path: 'two/a.txt', content: 'x\n' } }] }, { text: 'Written.' }],
  },
})

it('parents and children do not lock each other up with every limit at 1', async () => {
  const one = { concurrency: 1, at_once: 1, per_run: 1 }
  const { cwd, logs } = await worked(DEEP, { runs: 2, workers: [{ ...one, labels: ['gpu'] }, one] })
  expect(tree(cwd)).toMatchObject({ 'one/a.txt': 'x\n', 'two/a.txt': 'x\n' })
  // Those with a label count apart.
  expect(logs.map(atOnce).every((most) => most <= 2)).toBe(true)
})
