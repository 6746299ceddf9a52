import pg from 'pg'
import { expect, it } from 'vitest'
import { AT_REST } from '../../src/engine/index.js'
import { type StoredEvent, startWorker } from '../../src/index.js'
import { endsOf } from '../support/busy-tree.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { modelCalls } from '../support/tree-work.js'
import { openFace, startWorkers, type WorkerOrder, WorkerVictim } from '../support/worker-victim.js'

const SLOW = { budget: { wall_ms: 600_000 } }
const SETTINGS = {
  ...TREE_SETTINGS,
  workspace: { isolation: 'shared' as const },
  delegation: { profiles: { slow: SLOW, lead: { ...SLOW, can_spawn_children: true } } },
}

/** a1 needs a GPU, and has one below it; a2 needs nothing. */
const SCRIPT = JSON.stringify({
  agents: {
    root: [
      {
        calls: [{ spawn: { task: 'Compute', profile: 'lead', label: 'gpu' } }, { spawn: { task: 'Look' } }],
      },
      { calls: [{ spawn_await: { job_ids: '*' } }] },
      { text: 'Done.' },
    ],
    a1: [{ calls: [{ spawn_agent: { task: 'Compute below', profile: 'slow' } }] }, { text: 'Computed.' }],
    'a1.1': [{ delay_ms: 300, text: 'Computed.' }],
    a2: [{ text: 'Seen.' }],
  },
})

async function newOrder(): Promise<WorkerOrder> {
  const store = await (await sharedPostgres()).database()
  return { cwd: makeProject({ 'script.yaml': SCRIPT }), store, settings: SETTINGS }
}

const spoke = (log: readonly StoredEvent[], agent_id: string) => log.filter((event) => event.agent_id === agent_id)

/** Who asked a model for an agent. */
function askedBy(cwd: string, agent_id: string): number[] {
  const calls = modelCalls(cwd) as unknown as { pid: number; agent_id: string }[]
  return [...new Set(calls.filter((call) => call.agent_id === agent_id).map(({ pid }) => pid))]
}

/** Resolves when a worker without labels has looked at all that it was asked for about those that need one. */
async function nothingForAnybody(store: string): Promise<void> {
  const waiting = `SELECT workflow_uuid FROM retinue_dbos.workflow_status
    WHERE status IN ('ENQUEUED', 'DELAYED', 'PENDING') AND queue_name NOT LIKE '%#%' AND workflow_uuid LIKE '%/a1%'`
  await expect.poll(() => queried(store, waiting), { timeout: 60_000 }).toEqual([])
}

it.each([
  ['while it works', { when: 'after', type: 'model.requested', agent_id: 'a1.1' }],
  ['when it is to go on', { when: 'before', type: 'agent.woken', agent_id: 'a1' }],
] as const)(
  'an agent and all below it are worked on by workers with its label alone, also when one dies %s',
  async (_, kill) => {
    const order = await newOrder()
    const face = await openFace(order)
    const gpu = { ...order, labels: ['gpu'] }
    const victim = new WorkerVictim({ ...gpu, kill })
    const heir = new WorkerVictim({ ...gpu, labels: ['office', 'gpu'] })
    const [plain] = (await startWorkers(1, order)) as [WorkerVictim]
    await victim.begin()
    const run = face.run({ task: 'Go' })
    await victim.ended
    const asked = [askedBy(order.cwd, 'a1'), askedBy(order.cwd, 'a1.1')]
    await plain.heard('took_up')
    await nothingForAnybody(order.store)
    expect([askedBy(order.cwd, 'a1'), askedBy(order.cwd, 'a1.1')]).toEqual(asked)
    await heir.begin()
    expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
    const ends = { a1: 'completed', 'a1.1': 'completed', a2: 'completed', root: 'completed' }
    expect(endsOf(await face.events(run.run_id))).toEqual({ ends, faults: [] })
    expect(askedBy(order.cwd, 'a1')).toEqual([victim.pid, heir.pid])
    // A call that was under way when its worker died is made again.
    const able = kill.agent_id === 'a1' ? [victim.pid, heir.pid] : [heir.pid]
    expect(askedBy(order.cwd, 'a1.1').filter((pid) => !able.includes(pid))).toEqual([])
  },
)

it('it waits for a worker with its label, and begins when one comes', async () => {
  const order = await newOrder()
  const face = await openFace(order)
  const [plain] = (await startWorkers(1, order)) as [WorkerVictim]
  const heir = new WorkerVictim({ ...order, labels: ['gpu'] })
  const run = face.run({ task: 'Go' })
  // The one that needs nothing has ended: whoever could work on the other would have.
  await plain.appended('agent.subagent_waiting_for_merge', 'a2')
  await nothingForAnybody(order.store)
  expect(spoke(await face.events(run.run_id), 'a1')).toEqual([])
  const begun_at = Date.now()
  await heir.begin()
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  const log = await face.events(run.run_id)
  expect(spoke(log, 'a1')[0]?.at).toBeGreaterThanOrEqual(begun_at)
  expect([askedBy(order.cwd, 'a1'), askedBy(order.cwd, 'a1.1'), askedBy(order.cwd, 'a2')]).toEqual([
    ...[[heir.pid], [heir.pid], [plain.pid]],
  ])
})

it('one for which nobody has the label can be cancelled, and its parent goes on', async () => {
  const order = await newOrder()
  const face = await openFace(order)
  await startWorkers(1, order)
  const run = face.run({ task: 'Go' })
  for await (const { type } of face.follow(run.run_id)) if (type === 'agent.subagent_closed') break
  // Its parent does not hear it: whoever rests is with nobody.
  await expect.poll(async () => (await face.store.lease(run.run_id, 'root'))?.owner, { timeout: 30_000 }).toBe(AT_REST)
  expect(await face.cancelAgent(run.run_id, 'a1', 'tester', 'nobody comes')).toMatchObject({ outcome: 'cancelled' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  const ends = { a1: 'cancelled', a2: 'completed', root: 'completed' }
  expect(endsOf(await face.events(run.run_id))).toEqual({ ends, faults: [] })
  expect(askedBy(order.cwd, 'a1')).toEqual([])
})

it('a run is closed although those that had its agents are gone, and nobody else works on them', async () => {
  const order = await newOrder()
  const face = await openFace(order)
  const kill = { when: 'after', type: 'model.requested', agent_id: 'a1.1' } as const
  const victim = new WorkerVictim({ ...order, labels: ['gpu'], kill })
  const [plain] = (await startWorkers(1, order)) as [WorkerVictim]
  await victim.begin()
  const run = face.run({ task: 'Go' })
  await victim.ended
  await plain.heard('took_up')
  expect(await face.cancel(run.run_id, 'tester', 'enough')).toMatchObject({ outcome: 'cancelled' })
  const { ends, faults } = endsOf(await face.events(run.run_id))
  expect([ends.a1, ends['a1.1'], faults]).toEqual(['cancelled', 'cancelled', []])
  expect([askedBy(order.cwd, 'a1'), askedBy(order.cwd, 'a1.1')]).toEqual([[victim.pid], []])
})

it('one for which nobody has the label is closed although the worker that was to do so was just being stopped', async () => {
  const order = await newOrder()
  const face = await openFace(order)
  const stopping = await startWorker(order)
  const run = face.run({ task: 'Go' })
  for await (const { type } of face.follow(run.run_id)) if (type === 'agent.subagent_closed') break
  await expect.poll(async () => (await face.store.lease(run.run_id, 'root'))?.owner, { timeout: 30_000 }).toBe(AT_REST)
  // What anybody may close is taken from the queue, and that takes until the lock is free.
  await queried(
    order.store,
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
     CREATE TRIGGER slow BEFORE UPDATE ON retinue_dbos.workflow_status FOR EACH ROW
       WHEN (NEW.status = 'PENDING' AND NEW.workflow_uuid LIKE '%/a1/%-by-any') EXECUTE FUNCTION slow()`,
  )
  const lock = new pg.Client(order.store)
  await lock.connect()
  await lock.query('SELECT pg_advisory_lock(1)')
  const cancelled = face.cancelAgent(run.run_id, 'a1', 'tester', 'nobody comes')
  const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
  await expect.poll(() => queried(order.store, waits)).toHaveLength(1)
  const stopped = stopping.stop(0)
  await lock.end()
  await stopped
  await startWorkers(1, order)
  expect(await cancelled).toMatchObject({ outcome: 'cancelled' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  expect(askedBy(order.cwd, 'a1')).toEqual([])
})
