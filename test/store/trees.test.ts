import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AgentState, NewEvent } from '../../src/domain/index.js'
import {
  begin,
  called,
  claim,
  responded,
  result,
  type SubAgent,
  subAgent,
  subAgentClosed,
  subAgentCreated,
  subAgentFailed,
  subAgentStarted,
  subAgentWaits,
  taken,
} from '../../src/store/conformance/fixtures.js'
import { createMemoryStore, openSqliteStore, type Store } from '../../src/store/index.js'
import { testFolder } from './sqlite.js'

/** One thing that happens in a tree: who writes it, which event, and what it makes of whom. */
type Happening = { writer: string; event: NewEvent; about: string; state: AgentState | null }

/** Of each agent below the root: which of the agents before it is its parent, and how it ends. */
const TREE = fc.array(fc.record({ parent: fc.nat(), ends: fc.constantFrom('well', 'badly', 'unstarted') }), {
  minLength: 1,
  maxLength: 12,
})

type Tree = typeof TREE extends fc.Arbitrary<infer T> ? T : never

/** What happens to each agent, each in its order. Agents come after their parents. */
function lives(tree: Tree): { sub: SubAgent; parent: SubAgent | null; life: Happening[] }[] {
  const subs: SubAgent[] = []
  const numbers = new Map<string, number>()
  return tree.map(({ parent: pick, ends }, i) => {
    const parent = subs[pick % (subs.length + 1)] ?? null
    const above = parent?.sub_agent_id ?? 'root'
    const number = (numbers.get(above) ?? 0) + 1
    numbers.set(above, number)
    const sub = subAgent(number, parent)
    subs.push(sub)
    const at = 100 + i
    const by = (writer: string, event: NewEvent, state: AgentState | null): Happening => {
      return { writer, event, about: sub.sub_agent_id, state }
    }
    const own = sub.sub_agent_id
    const end = result({ outcome: ends === 'well' ? 'completed' : 'error', turns: i })
    const middle = {
      well: [
        by(own, subAgentStarted(sub, at + 20), 'running'),
        by(own, responded('m', 1, 1, at + 25), null),
        by(own, subAgentWaits(sub, end, at + 40), 'waiting_for_merge'),
      ],
      badly: [
        by(own, subAgentStarted(sub, at + 20), 'running'),
        by(own, called('c', at + 21), null),
        by(own, subAgentFailed(sub, end, at + 30), 'failed'),
      ],
      unstarted: [by(above, subAgentFailed(sub, end, at + 10), 'failed')],
    }[ends]
    const life = [
      by(above, subAgentCreated(sub, at), 'created'),
      ...middle,
      by(above, subAgentClosed(sub, end, at + 50), 'closed'),
    ]
    return { sub, parent, life }
  })
}

/** Some order in which it can all happen: each agent's own, and nothing by an agent before it has started. */
function interleave(tree: Tree, picks: number[]): Happening[] {
  const open = lives(tree).map(({ parent, life }) => ({ parent: parent?.sub_agent_id, left: [...life] }))
  const started = new Set<string>()
  const order: Happening[] = []
  for (let i = 0; ; i++) {
    const able = open.filter(({ parent, left }) => left.length > 0 && (parent === undefined || started.has(parent)))
    const next = able[(picks[i % picks.length] ?? 0) % Math.max(1, able.length)]?.left.shift()
    if (!next) return order
    if (next.state === 'running') started.add(next.about)
    order.push(next)
  }
}

/** What happens in one moment, as the appends that it makes: neighbours of one writer are one batch. */
function batches(run_id: string, moment: Happening[], seqs: Map<string, number>) {
  const made: { agent_id: string; events: NewEvent[] }[] = []
  for (const { writer, event } of moment) {
    const last = made.at(-1)
    if (last?.agent_id === writer) last.events.push(event)
    else made.push({ agent_id: writer, events: [event] })
  }
  return made.map(({ agent_id, events }) => {
    const expected_seq = seqs.get(agent_id) ?? 0
    seqs.set(agent_id, expected_seq + events.length)
    return { run_id, agent_id, epoch: 1, expected_seq, events, ...(expected_seq === 0 ? { claim } : {}) }
  })
}

async function append(store: Store, run_id: string, order: Happening[], sizes: number[]): Promise<void> {
  await begin(store, run_id)
  const seqs = new Map([['root', 2]])
  for (let i = 0, round = 0; i < order.length; round++) {
    const size = sizes[round % sizes.length] ?? 1
    await Promise.all(batches(run_id, order.slice(i, i + size), seqs).map((batch) => taken(store, batch)))
    i += size
  }
}

it('any tree of agents, up to any moment, has the rows its events say, in each store and rebuilt', async () => {
  const clock = { now: () => 1000 }
  const opened = await openSqliteStore({ file: join(await testFolder(), 'retinue.db'), clock })
  if (!opened.ok) throw new Error(opened.message)
  const sqlite = opened.store
  let round = 0
  const some = { minLength: 1, maxLength: 40 }
  const numbers = fc.array(fc.nat({ max: 1000 }), some)
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), some)
  await fc.assert(
    fc.asyncProperty(
      TREE,
      numbers,
      sizes,
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (tree, picks, sizes, cut) => {
        const whole = interleave(tree, picks)
        const order = whole.slice(0, Math.ceil(whole.length * cut))
        const memory = createMemoryStore({ clock })
        const run_id = `run-${round++}`
        for (const store of [sqlite, memory]) await append(store, run_id, order, sizes)

        const states = new Map<string, AgentState>([['root', 'running']])
        for (const { about, state } of order) if (state) states.set(about, state)
        const rows = await memory.agents(run_id)
        expect(rows.map(({ agent_id, state }) => [agent_id, state])).toEqual([...states])
        const run = await memory.run(run_id)
        expect([await sqlite.run(run_id), await sqlite.agents(run_id)]).toEqual([run, rows])
        for (const store of [sqlite, memory]) {
          await store.rebuildProjections()
          expect([await store.run(run_id), await store.agents(run_id)]).toEqual([run, rows])
        }
      },
    ),
    { numRuns: 60 },
  )
  await sqlite.close()
})
