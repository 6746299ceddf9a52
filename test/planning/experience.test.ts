import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AgentResult, Contract, EventData } from '../../src/domain/index.js'
import { experienceOf } from '../../src/planning/index.js'
import { openSqliteStore, type Store } from '../../src/store/index.js'
import { eventsOfRun, resultOf } from '../support/tree-events.js'

let folder: string
let store: Store
const USAGE = { input_tokens: 900, output_tokens: 100, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'retinue-experience-'))
  const opened = await openSqliteStore({ file: join(folder, 'log.db'), clock: { now: () => 1 } })
  if (!opened.ok) throw new Error(opened.message)
  store = opened.store
})

afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

type Past = {
  agent?: Partial<Contract['agent']>
  ms?: number
  result?: Partial<AgentResult>
  left?: 'at_work' | 'waiting'
}

/** A run of the past, in a folder, with the sub-agents that it had. */
async function past(run_id: string, workspace_root: string, children: Past[]) {
  const run = eventsOfRun(Number(run_id.slice(1)) * 1_000_000)
  run.root()
  ;(run.events[0]?.data as EventData<'run.created'>).workspace_root = workspace_root
  for (const [i, { agent, ms = 1000, result, left }] of children.entries()) {
    const child = run.create('root', `a${i + 1}`)
    const created = run.events.at(-1)?.data as EventData<'agent.subagent_created'>
    Object.assign(created.contract.agent, agent)
    child.start()
    run.wait(ms)
    if (left === 'at_work') continue
    const ended = resultOf({ usage: USAGE, cost_usd: 0.02, tool_calls: 4, ...result })
    const failed = ended.outcome === 'error'
    run.add(`a${i + 1}`, failed ? 'agent.subagent_failed' : 'agent.subagent_waiting_for_merge', {
      ...{ sub_agent_id: `a${i + 1}`, step_idx: i, result: ended },
    })
    if (left !== 'waiting') child.close(failed ? 'failed' : 'completed', ended)
  }
  if (children.every(({ left }) => left === undefined)) run.closeRun()
  const seqs = new Map<string, number>()
  for (const { agent_id, type, version, at, data } of run.events) {
    const seq = seqs.get(agent_id) ?? 0
    seqs.set(agent_id, seq + 1)
    const claim = seq === 0 ? { claim: { owner: 'test', ttl_ms: 1000 } } : {}
    const event = { type, version, at, data } as Parameters<Store['append']>[0]['events'][number]
    const appended = await store.append({ run_id, agent_id, epoch: 1, expected_seq: seq, events: [event], ...claim })
    if (!appended.ok) throw new Error(appended.message)
  }
}

it('is the average of what sub-agents of a profile used in this folder, by its name and by their handle', async () => {
  const executor = { profile_id: 'executor' }
  await past('r1', '/roof', [
    { agent: executor, ms: 2000 },
    { agent: { profile_id: 'executor', handle: '@mender' }, ms: 4000, result: { tool_calls: 8, cost_usd: 0.04 } },
    { ms: 500, result: { outcome: 'budget_exceeded' } },
  ])
  const experience = await experienceOf(store, '/roof')
  expect(experience('executor')).toEqual({
    ...{ agents: 2, tool_calls: 6, tokens: 1000, cost_usd: 0.03, duration_ms: 3000 },
  })
  expect(experience('@mender')).toEqual({
    ...{ agents: 1, tool_calls: 8, tokens: 1000, cost_usd: 0.04, duration_ms: 4000 },
  })
  expect(experience(null)).toEqual({ agents: 1, tool_calls: 4, tokens: 1000, cost_usd: 0.02, duration_ms: 500 })
  expect(experience('tester')).toBeNull()
})

it('leaves out other folders, root agents, what failed and what is not over', async () => {
  const agent = { profile_id: 'executor' }
  await past('r1', '/cellar', [{ agent }])
  await past('r2', '/roof', [
    { agent, left: 'at_work' },
    { agent, left: 'waiting' },
  ])
  await past('r3', '/roof', [{ agent, result: { outcome: 'error', reason: 'no' } }])
  const experience = await experienceOf(store, '/roof')
  expect([experience('executor'), experience(null)]).toEqual([null, null])
})

it('does not say what things cost where it is not known of one of them', async () => {
  const agent = { profile_id: 'executor' }
  await past('r1', '/roof', [{ agent }, { agent, result: { cost_usd: null } }])
  expect((await experienceOf(store, '/roof'))('executor')).toMatchObject({ agents: 2, cost_usd: null })
})

it('goes by the newest 50 runs alone', async () => {
  const agent = { profile_id: 'executor' }
  for (let i = 1; i <= 52; i++) await past(`r${i}`, '/roof', [{ agent, result: { tool_calls: i <= 2 ? 1000 : 1 } }])
  expect((await experienceOf(store, '/roof'))('executor')).toMatchObject({ agents: 50, tool_calls: 1 })
})
