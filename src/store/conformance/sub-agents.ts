import { describe, expect, it } from 'vitest'
import { type AgentRow, type NewEvent, NO_COUNTS } from '../../domain/index.js'
import type { Append, Store } from '../store.js'
import {
  AT,
  agentFinished,
  begin,
  called,
  claim,
  closed,
  eventsOf,
  responded,
  result,
  subAgent,
  subAgentClosed,
  subAgentCreated,
  subAgentFailed,
  subAgentReused,
  subAgentStarted,
  subAgentWaits,
  taken,
} from './fixtures.js'
import type { Open } from './open.js'

/** What parents and their sub-agents write about one another, as it is seen in the tables. */
export function subAgentSuite(open: Open): void {
  describe('sub-agents', () => {
    const one = subAgent(1)
    const two = subAgent(2)
    const below = subAgent(1, two)
    const usage = { input_tokens: 30, output_tokens: 7, cached_tokens: 2, cache_write_tokens: 0, reasoning_tokens: 0 }

    it('have a row from their creation on, which goes with them through their states', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await taken(store, by('root', 2, [subAgentCreated(one, 100)]))
      const place = { run_id: 'run', agent_id: 'a1', parent_id: 'root', depth: 1, step_idx: 0, model: 'scripted/m' }
      const row = { ...place, context_json: JSON.stringify(one.contract), created_at: 100 }
      const fresh = { ...row, ...NO_COUNTS, outcome: null }
      expect(await rowOf(store, 'a1')).toEqual({ ...fresh, state: 'created', updated_at: 100 })

      await taken(store, by('a1', 0, [subAgentStarted(one, 110)]))
      expect(await rowOf(store, 'a1')).toEqual({ ...fresh, state: 'running', updated_at: 110 })

      await taken(store, by('a1', 1, [subAgentWaits(one, result({ turns: 3, tool_calls: 4, usage }), 120)]))
      const tokens = { input_tokens: 30, output_tokens: 7, cached_tokens: 2 }
      const counts = { turns: 3, tool_calls: 4, ...tokens, cost_usd: 0.25, unpriced_calls: 0 }
      const end = { ...row, ...counts, state: 'waiting_for_merge', outcome: 'completed', updated_at: 120 }
      expect(await rowOf(store, 'a1')).toEqual(end)

      await taken(store, by('root', 3, [subAgentClosed(one, result({ outcome: 'gate_failed', turns: 9 }), 130)]))
      const shut = { ...end, state: 'closed', outcome: 'gate_failed', updated_at: 130 }
      expect(await rowOf(store, 'a1')).toEqual(shut)
      expect(await store.agents('run')).toMatchObject([{ agent_id: 'root', state: 'running', updated_at: AT }, shut])
    })

    it('fail in their own stream, or in that of their parent when they never started', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await taken(store, by('root', 2, [subAgentCreated(one), subAgentCreated(two)]))
      const broken = result({ outcome: 'error', turns: 2, cost_usd: null, usage })
      await taken(store, by('a1', 0, [subAgentStarted(one), subAgentFailed(one, broken)]))
      await taken(store, by('root', 4, [subAgentFailed(two, result({ outcome: 'cancelled', turns: 0 }))]))
      expect(await store.agents('run')).toMatchObject([
        { agent_id: 'root', state: 'running', outcome: null },
        { agent_id: 'a1', state: 'failed', outcome: 'error', turns: 2, input_tokens: 30, unpriced_calls: 1 },
        { agent_id: 'a2', state: 'failed', outcome: 'cancelled', turns: 0, unpriced_calls: 0 },
      ])
    })

    it('are listed in the order of their creation, whoever starts and ends first', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const many = Array.from({ length: 100 }, (_, i) => subAgent(i + 1))
      await taken(
        store,
        by(
          'root',
          2,
          many.map((sub, i) => subAgentCreated(sub, 200 - i)),
        ),
      )
      await taken(store, by('a2', 0, [subAgentStarted(two), subAgentCreated(below)]))
      const later = subAgent(101)
      await taken(store, by('root', 102, [subAgentCreated(later)]))
      for (const sub of [later, ...many.slice(2).reverse()]) {
        await taken(store, by(sub.sub_agent_id, 0, [subAgentStarted(sub), subAgentWaits(sub, result())]))
      }
      const order = ['root', ...many.map((sub) => sub.sub_agent_id), 'a2.1', 'a101']
      expect((await store.agents('run')).map((agent) => agent.agent_id)).toEqual(order)
      expect(await rowOf(store, 'a2.1')).toMatchObject({ parent_id: 'a2', depth: 2, state: 'created' })
      await sameAfterRebuild(store)
    })

    it('show the last of what one moment did to them, in the order of the log', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const results = await Promise.all([
        store.append(by('root', 2, [subAgentCreated(one, 100), subAgentCreated(two, 101)])),
        store.append(by('a1', 0, [subAgentStarted(one, 110)])),
        store.append(by('a2', 0, [subAgentStarted(two, 111), subAgentCreated(below, 112)])),
        store.append(by('a1', 1, [subAgentWaits(one, result({ turns: 5 }), 120)])),
        store.append(
          by('a2.1', 0, [subAgentStarted(below, 113), subAgentFailed(below, result({ outcome: 'timeout' }), 109)]),
        ),
        store.append(by('root', 4, [subAgentClosed(one, result(), 130)])),
      ])
      expect(results.flatMap(eventsOf).map((event) => event.position)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11])
      expect(await store.agents('run')).toMatchObject([
        { agent_id: 'root', state: 'running' },
        { agent_id: 'a1', state: 'closed', outcome: 'completed', turns: 5, created_at: 100, updated_at: 130 },
        { agent_id: 'a2', state: 'running', outcome: null, created_at: 101, updated_at: 111 },
        { agent_id: 'a2.1', state: 'failed', outcome: 'timeout', created_at: 112, updated_at: 113 },
      ])
      const ids = async (...states: AgentRow['state'][]) =>
        (await store.agents('run', states)).map(({ agent_id }) => agent_id)
      expect(await ids('failed', 'running')).toEqual(['root', 'a2', 'a2.1'])
      expect(await ids('waiting_for_merge')).toEqual([])
      expect(await ids()).toEqual([])
      await sameAfterRebuild(store)
    })

    it('are counted once in the run, however deep they are', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await taken(store, by('root', 2, [responded('m', 10, 1), called('c'), subAgentCreated(two)]))
      await taken(
        store,
        by('a2', 0, [subAgentStarted(two), responded('m', 10, 1), called('c'), subAgentCreated(below)]),
      )
      const spent = (calls: number) =>
        result({ usage: { ...usage, input_tokens: 10 * calls, output_tokens: calls }, cost_usd: 0.25 * calls })
      const work = [subAgentStarted(below), responded('m', 10, 1), called('c'), subAgentWaits(below, spent(1))]
      await taken(store, by('a2.1', 0, work))
      await taken(store, by('a2', 4, [subAgentClosed(below, spent(1)), subAgentWaits(two, spent(2))]))
      const end = [subAgentClosed(two, spent(2)), agentFinished('dry'), closed()]
      await taken(store, by('root', 5, end))
      const counts = { turns: 3, tool_calls: 3, input_tokens: 30, output_tokens: 3, cost_usd: 0.75 }
      expect(await store.run('run')).toMatchObject({ ...counts, status: 'closed', last_position: 18 })
      expect((await store.agents('run')).map((agent) => [agent.agent_id, agent.state, agent.cost_usd])).toEqual([
        ['root', 'closed', 0.25],
        ['a2', 'closed', 0.5],
        ['a2.1', 'closed', 0.25],
      ])
      await sameAfterRebuild(store)
    })

    it('have no row where an earlier result was used, nor before somebody created them', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await taken(store, by('root', 2, [subAgentReused(one, result()), subAgentClosed(two, result(), 90)]))
      await taken(store, by('a2', 0, [subAgentStarted(two, 95)]))
      expect(await store.agents('run')).toMatchObject([{ agent_id: 'root' }])
      const three = subAgent(3)
      const late = [subAgentFailed(two, result(), 99), subAgentCreated(three), subAgentCreated(two, 70)]
      await taken(store, by('root', 4, late))
      const untouched = { agent_id: 'a2', state: 'created', outcome: null, turns: 0, created_at: 70, updated_at: 70 }
      expect(await store.agents('run')).toMatchObject([{ agent_id: 'root' }, { agent_id: 'a3' }, untouched])
      await sameAfterRebuild(store)
    })

    it('are created once, by whomever', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const twice = by('root', 2, [subAgentCreated(one), subAgentCreated(two), subAgentCreated(one)])
      await expect(store.append(twice)).rejects.toThrow('Agent a1 of run run exists already')
      await taken(store, by('root', 2, [subAgentCreated(one)]))
      const before = await store.agents('run')
      const again = by('root', 3, [called('c'), subAgentCreated(two), subAgentCreated(one, 5)])
      await expect(store.append(again)).rejects.toThrow('Agent a1 of run run exists already')
      await expect(store.append(by('x', 0, [subAgentCreated({ ...one, sub_agent_id: 'root' })]))).rejects.toThrow(
        'Agent root of run run exists already',
      )
      expect(await store.agents('run')).toEqual(before)
      expect(await store.read({ run_id: 'run' })).toHaveLength(3)
      expect(await store.run('run')).toMatchObject({ tool_calls: 0, last_position: 3 })
      expect(await store.lease('run', 'x')).toBeNull()
    })
  })
}

/** An append of one of the run's agents. The first to a stream claims it. */
function by(agent_id: string, expected_seq: number, events: NewEvent[]): Append {
  return { run_id: 'run', agent_id, epoch: 1, expected_seq, events, ...(expected_seq === 0 ? { claim } : {}) }
}

async function rowOf(store: Store, agent_id: string) {
  return (await store.agents('run')).find((agent) => agent.agent_id === agent_id)
}

async function sameAfterRebuild(store: Store): Promise<void> {
  const before = [await store.run('run'), await store.agents('run')]
  await store.rebuildProjections()
  expect([await store.run('run'), await store.agents('run')]).toEqual(before)
  expect(await store.verify('run')).toBeNull()
}
