import { describe, expect, it } from 'vitest'
import { NO_COUNTS } from '../../domain/index.js'
import type { Store } from '../store.js'
import {
  agentFinished,
  begin,
  beginChild,
  called,
  claim,
  closed,
  contract,
  created,
  finished,
  responded,
  started,
  taken,
} from './fixtures.js'
import type { Open } from './open.js'

export function projectionSuite(open: Open): void {
  describe('runs and sub_agents', () => {
    it('follow the events', async () => {
      const { store } = await open()
      const root = { run_id: 'run', agent_id: 'root', epoch: 1 }
      await taken(store, { ...root, expected_seq: 0, events: [created(100), started(101)], claim })
      await taken(store, { ...root, expected_seq: 2, events: [responded('m1', 20, 3, 110), called('c1', 111)] })
      await taken(store, { ...root, expected_seq: 4, events: [finished('c1', 'slates', 112)] })
      const tokens = { input_tokens: 20, output_tokens: 3, cached_tokens: 1 }
      const counters = { turns: 1, tool_calls: 1, ...tokens, cost_usd: 0.25, unpriced_calls: 0 }
      const task = { task: 'Mend the roof', session_id: 'session', workspace_root: '/work' }
      const run = { run_id: 'run', agents: 1, ...task, status: 'running', outcome: null, text: null, created_at: 100 }
      expect(await store.run('run')).toEqual({ ...run, ...counters, updated_at: 112, last_position: 5 })
      const place = { ...root, epoch: undefined, parent_id: null, depth: 0, step_idx: 0, model: 'scripted/m' }
      const agent = { ...place, context_json: JSON.stringify(contract()), state: 'running', outcome: null }
      expect(await store.agents('run')).toEqual([{ ...agent, ...NO_COUNTS, created_at: 101, updated_at: 101 }])

      const end = [agentFinished('dry', 'completed', 120), closed('gate_failed', 'dry', 121)]
      await taken(store, { ...root, expected_seq: 5, events: end })
      const outcome = { status: 'closed', outcome: 'gate_failed', text: 'dry' }
      expect(await store.run('run')).toEqual({ ...run, ...counters, ...outcome, updated_at: 121, last_position: 7 })
      const last = { state: 'closed', outcome: 'gate_failed', turns: 1, tool_calls: 1, updated_at: 121 }
      expect(await store.agents('run')).toMatchObject([last])
    })

    it('are the same after they were rebuilt from the log', async () => {
      const { store } = await open()
      await busyRun(store, 'one')
      await busyRun(store, 'two')
      const before = await snapshot(store)
      await store.rebuildProjections()
      expect(await snapshot(store)).toEqual(before)
      expect(before.map(({ run }) => run.turns)).toEqual([12, 12])
      const next = { run_id: 'one', agent_id: 'root', epoch: 1, expected_seq: 2 }
      expect(await taken(store, { ...next, events: [called('c')] })).toMatchObject([{ position: 43 }])
    })

    it('never go back in time, whatever the clocks of the agents say', async () => {
      const { store } = await open()
      const root = { run_id: 'run', agent_id: 'root', epoch: 1 }
      await taken(store, { ...root, expected_seq: 0, events: [created(100), started(101)], claim })
      await taken(store, { ...root, expected_seq: 2, events: [called('c', 90)] })
      expect(await store.run('run')).toMatchObject({ updated_at: 101 })
      expect(await store.agents('run')).toMatchObject([{ updated_at: 101 }])
    })

    it('show text that no database can hold as far as it goes', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const text = 'a\0b\ud800c'
      const events = [agentFinished(text), closed('completed', text)]
      await taken(store, { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq: 2, events })
      expect((await store.run('run'))?.text).toBe('a\ufffdb\ufffdc')
      await store.rebuildProjections()
      expect((await store.run('run'))?.text).toBe('a\ufffdb\ufffdc')
    })

    it('list runs in pages: after one of them come those that are older, and of the same age those with lower ids', async () => {
      const { store } = await open()
      for (const [run_id, at] of Object.entries({ a: 100, c: 101, b: 101, d: 102, e: 90 })) {
        await taken(store, {
          run_id,
          agent_id: 'root',
          epoch: 1,
          expected_seq: 0,
          events: [created(at), started()],
          claim,
        })
      }
      const ids = async (query?: Parameters<Store['runs']>[0]) => (await store.runs(query)).map(({ run_id }) => run_id)
      expect(await ids()).toEqual(['d', 'c', 'b', 'a', 'e'])
      expect(await ids({ before: 'd', limit: 2 })).toEqual(['c', 'b'])
      expect(await ids({ before: 'b' })).toEqual(['a', 'e'])
      expect(await ids({ before: 'c', id_prefix: 'e' })).toEqual(['e'])
      expect(await ids({ before: 'e' })).toEqual([])
      expect(await ids({ before: 'nothing' })).toEqual([])
    })

    it('list runs newest first, by session, status and start of the id', async () => {
      const { store } = await open()
      for (const [i, run_id] of ['aa1', 'aa2', 'ab3'].entries()) {
        const events = [created(100 + i, { session_id: i < 2 ? 's1' : 's2' }), started()]
        await taken(store, { run_id, agent_id: 'root', epoch: 1, expected_seq: 0, events, claim })
      }
      const end = [agentFinished('done'), closed()]
      await taken(store, { run_id: 'aa2', agent_id: 'root', epoch: 1, expected_seq: 2, events: end })
      const ids = async (query?: Parameters<Store['runs']>[0]) => (await store.runs(query)).map(({ run_id }) => run_id)
      expect(await ids()).toEqual(['ab3', 'aa2', 'aa1'])
      expect(await ids({ session_id: 's1' })).toEqual(['aa2', 'aa1'])
      expect(await ids({ status: 'running' })).toEqual(['ab3', 'aa1'])
      expect(await ids({ id_prefix: 'aa', limit: 1 })).toEqual(['aa2'])
      expect(await ids({ id_prefix: 'a_' })).toEqual([])
      expect(await ids({ session_id: 's2', status: 'closed' })).toEqual([])
      expect(await store.run('nothing')).toBeNull()
      expect(await store.agents('nothing')).toEqual([])
      expect([await store.agent('nothing', 'root'), await store.agent('aa2', 'nobody')]).toEqual([null, null])
      expect([await store.agent('aa2', 'root')]).toEqual(await store.agents('aa2'))
    })
  })
}

async function busyRun(store: Store, run_id: string): Promise<void> {
  await begin(store, run_id)
  await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (agent_id, i) => {
      await beginChild(store, run_id, agent_id)
      for (let round = 0; round < 3; round++) {
        const events = [responded(`${round}`, 10 + i, round, 200 + i), called('c', 300 - round), finished('c')]
        await taken(store, { run_id, agent_id, epoch: 1, expected_seq: 1 + round * 3, events })
      }
    }),
  )
}

async function snapshot(store: Store) {
  const runs = await store.runs()
  return Promise.all(runs.map(async (run) => ({ run, agents: await store.agents(run.run_id) })))
}
