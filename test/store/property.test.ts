import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  agentFinished,
  begin,
  called,
  claim,
  closed,
  created,
  finished,
  responded,
  result,
  started,
  subAgent,
  subAgentClosed,
  subAgentCreated,
  subAgentFailed,
  subAgentStarted,
  subAgentWaits,
} from '../../src/store/conformance/fixtures.js'
import { createMemoryStore, openSqliteStore, type Signal, type Store } from '../../src/store/index.js'
import { testFolder } from './sqlite.js'

const AGENTS = ['root', 'a', 'b']
const AGENT = fc.constantFrom(...AGENTS)
const RUN = fc.constantFrom('one', 'two')
/** Mostly right. */
const OFF = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) })
/** About an agent that has a stream, or none, in whoever's stream. */
const ABOUT_ANOTHER = ['a', 'b', 'c'].flatMap((sub_agent_id, i) => {
  const sub = { ...subAgent(i + 1), sub_agent_id }
  return [
    subAgentCreated(sub, 58 + i),
    subAgentStarted(sub, 61),
    subAgentWaits(sub, result({ turns: 3 }), 82),
    subAgentFailed(sub, result({ outcome: 'timeout', turns: 4 }), 57),
    subAgentClosed(sub, result({ outcome: 'gate_failed' }), 94),
  ]
})
const EVENT = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ABOUT_ANOTHER) },
  {
    weight: 12,
    arbitrary: fc.constantFrom(called('c', 70), finished('c', 'x', 80), responded('m', 3, 4, 75), called('d', 55)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      created(50),
      started(60),
      agentFinished('text', 'completed', 90),
      closed('error', 'text', 95),
    ),
  },
)

const OP = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      run: RUN,
      agent: AGENT,
      seq: OFF,
      epoch: OFF,
      claim: fc.boolean(),
      begin: fc.boolean(),
      events: fc.array(EVENT, { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('acquire' as const), run: RUN, agent: AGENT, epoch: OFF }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('lease' as const), run: RUN, agent: AGENT, renew: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('record' as const), id: AGENT, version: OFF, put: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('signal' as const), run: RUN }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rebuild' as const) }) },
)
type Op = typeof OP extends fc.Arbitrary<infer T> ? T : never

/** Where the streams and records are before a burst, as those who take part in it have seen them. */
async function look(store: Store, prefix: string) {
  const streams = new Map<string, { seq: number; epoch: number }>()
  const versions = new Map<string, number>()
  for (const run of ['one', 'two']) {
    for (const agent of AGENTS) {
      const seq = (await store.read({ run_id: prefix + run, agent_id: agent })).length
      const epoch = (await store.lease(prefix + run, agent))?.epoch ?? 0
      streams.set(run + agent, { seq, epoch })
    }
  }
  for (const id of AGENTS) versions.set(id, (await store.record(prefix, id))?.version ?? 0)
  return { streams, versions }
}

function perform(store: Store, prefix: string, seen: Awaited<ReturnType<typeof look>>, op: Op): Promise<unknown> {
  if (op.kind === 'rebuild') return store.rebuildProjections()
  if (op.kind === 'record') {
    const expected_version = (seen.versions.get(op.id) ?? 0) + op.version
    const change = { type: prefix, id: op.id, by: 'anna', expected_version }
    return op.put ? store.putRecord({ ...change, value: op }) : store.deleteRecord(change)
  }
  const run_id = prefix + op.run
  if (op.kind === 'signal') return store.signal({ run_id, kind: 'cancel', data: op, by: 'anna' }).then(withoutId)
  const agent_id = op.agent
  const { seq, epoch } = seen.streams.get(op.run + op.agent) ?? { seq: 0, epoch: 0 }
  const lease = { run_id, agent_id, owner: 'me', epoch, expires_at: 0 }
  if (op.kind === 'lease') return op.renew ? store.renew(lease, 500) : store.release(lease)
  if (op.kind === 'acquire') return store.acquire({ ...lease, ttl_ms: 100, seen_epoch: Math.max(0, epoch + op.epoch) })
  const fresh = op.begin && seq === 0
  return store.append({
    run_id,
    agent_id,
    epoch: Math.max(1, epoch + op.epoch),
    expected_seq: Math.max(0, seq + op.seq),
    events: fresh ? [...(agent_id === 'root' ? [created(40)] : []), started(45), ...op.events] : op.events,
    ...(op.claim && epoch === 0 ? { claim } : {}),
  })
}

/** Whether it was said before the run closed or after is a matter of who was faster: it is gone in either case. */
function withoutId({ id, ...signal }: Signal): Omit<Signal, 'id'> {
  return signal
}

async function everything(store: Store, prefix: string) {
  const runs = ['one', 'two'].map(async (run) => {
    const run_id = prefix + run
    const leases = await Promise.all(AGENTS.map((agent) => store.lease(run_id, agent)))
    const rows = [await store.run(run_id), await store.agents(run_id), await store.runs({ id_prefix: run_id })]
    const signals = await store.signals({ run_id, after: 0 })
    return [await store.read({ run_id }), rows, leases, signals.map(withoutId)]
  })
  const histories = AGENTS.map((id) => store.recordHistory(prefix, id))
  return [await Promise.all(runs), await store.records(prefix), await Promise.all(histories)]
}

it('sqlite and memory agree on every interleaving', async () => {
  const clock = { now: () => 1000 }
  const opened = await openSqliteStore({ file: join(await testFolder(), 'retinue.db'), clock })
  if (!opened.ok) throw new Error(opened.message)
  const sqlite = opened.store
  const memory = createMemoryStore({ clock })
  let round = 0
  let appended = 0
  const bursts = fc.array(fc.array(OP, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(bursts, async (history) => {
      const prefix = `${round++}/`
      for (const store of [sqlite, memory]) await begin(store, `${prefix}one`)
      for (const burst of history) {
        const seen = await look(memory, prefix)
        const all = (store: Store) => Promise.allSettled(burst.map((op) => perform(store, prefix, seen, op)))
        const [ofSqlite, ofMemory] = [await all(sqlite), await all(memory)]
        expect(ofSqlite).toEqual(ofMemory)
      }
      const [inSqlite, inMemory] = [await everything(sqlite, prefix), await everything(memory, prefix)]
      expect(inSqlite).toEqual(inMemory)
      await sqlite.rebuildProjections()
      expect(await everything(sqlite, prefix)).toEqual(inMemory)
      for (const run of ['one', 'two']) {
        expect(await sqlite.verify(prefix + run)).toBeNull()
        expect(await memory.verify(prefix + run)).toBeNull()
        appended += (await memory.read({ run_id: prefix + run })).length
      }
    }),
    { numRuns: 40 },
  )
  // A history of refusals alone would say nothing.
  expect(appended).toBeGreaterThan(100)
  await sqlite.close()
})
