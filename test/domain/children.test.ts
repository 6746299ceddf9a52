import { describe, expect, it } from 'vitest'
import {
  type AgentEvent,
  type AgentMemory,
  type AgentResult,
  type Contract,
  CorruptLogError,
  type EventData,
  type EventType,
  foldAgent,
  left,
  NO_USAGE,
  rootContract,
} from '../../src/domain/index.js'

const derived = rootContract({
  ...{ run_id: 'r', task: 'All of it', prompt_digest: 'd'.repeat(64), mode: 'auto', rules: [] },
  model: { provider: 'p', model: 'm', source: 'request', window: null },
  ...{ known_tools: ['read_file', 'spawn'], nameable_tools: [], known_servers: [], known_skills: [] },
  budget: { total_tokens: 10_000, cost_usd: 5, sub_agents: 10 },
  delegation: { enabled: true, max_depth: 2, models: [] },
  can_ask_person: false,
  base: null,
})
if (!derived.ok) throw new Error(derived.faults.join())
const { contract } = derived

/** A sub-agent's contract, as far as its parent's ledger goes by it. */
function childContract(share: { total_tokens: number; cost_usd: number; sub_agents: number }): Contract {
  const parent = { ...contract.parent, agent_id: 'root', depth: 1 }
  return {
    ...contract,
    parent,
    execution: { ...contract.execution, budget: { ...contract.execution.budget, ...share } },
  }
}

const SHARE = { total_tokens: 4000, cost_usd: 2, sub_agents: 3 }

function result(more: Partial<AgentResult> = {}): AgentResult {
  return {
    ...{ outcome: 'completed', cause: null, reason: null, text: 'found it', turns: 1, tool_calls: 1 },
    ...{ usage: { ...NO_USAGE, input_tokens: 900, output_tokens: 100 }, cost_usd: 0.5 },
    ...{ files_read: ['a.ts'], files_changed: ['b.ts'], duration_ms: 5 },
    ...more,
  }
}

type Entry = { [T in EventType]: [T, EventData<T>] }[EventType]

function fold(agent_id: string, ...events: Entry[]): AgentMemory {
  const stream = events.map(([type, data], i) => {
    return { type, version: 1, at: 1000 + i * 10, data, run_id: 'r', agent_id, seq: i + 1 } as AgentEvent
  })
  return foldAgent(stream) as AgentMemory
}

const started: Entry = ['agent.started', { contract, task: 'All of it', history_digest: null, calls_before: 0 }]

function created(id: string, share = SHARE): Entry {
  const step_idx = Number(id.slice(1)) - 1
  const place = { sub_agent_id: id, step_idx, call_id: `c${id}`, index: 0 }
  return ['agent.subagent_created', { ...place, contract: childContract(share), task: 'Look', cache_key: null }]
}

function closed(id: string, more: Partial<EventData<'agent.subagent_closed'>> = {}): Entry {
  const used = { total_tokens: 1000, cost_usd: 0.5, sub_agents: 1 }
  return [
    'agent.subagent_closed',
    {
      ...{ sub_agent_id: id, step_idx: 0, final_status: 'completed', close_reason: 'it gave its answer' },
      ...{ result: result(), used, ...more },
    },
  ]
}

function leftOf({ ledger }: AgentMemory) {
  return {
    total_tokens: left(ledger, 'total_tokens'),
    cost_usd: left(ledger, 'cost_usd'),
    sub_agents: left(ledger, 'sub_agents'),
  }
}

function corruption(...events: Entry[]): string {
  try {
    fold('root', ...events)
  } catch (error) {
    if (error instanceof CorruptLogError) return error.corruption
    throw error
  }
  return 'none'
}

describe("a sub-agent in its parent's stream", () => {
  it('has its share set aside, and one of the sub-agents is the child itself', () => {
    expect(leftOf(fold('root', started))).toEqual({ total_tokens: 10_000, cost_usd: 5, sub_agents: 10 })
    const memory = fold('root', started, created('a1'))
    expect(leftOf(memory)).toEqual({ total_tokens: 6000, cost_usd: 3, sub_agents: 6 })
  })

  it('gives back what it did not use', () => {
    const memory = fold('root', started, created('a1'), closed('a1'))
    expect(leftOf(memory)).toEqual({ total_tokens: 9000, cost_usd: 4.5, sub_agents: 8 })
    expect(memory.ledger.reserved).toEqual({ total_tokens: 0, cost_usd: 0, sub_agents: 0 })
  })

  it('adds its usage, what it changed and whether its price is known to its parent', () => {
    const memory = fold('root', started, created('a1'), closed('a1'))
    expect(memory).toMatchObject({
      usage: { input_tokens: 900, output_tokens: 100 },
      files_changed: ['b.ts'],
      files_read: [],
      priced: true,
    })
    const unpriced = { result: result({ cost_usd: null }) }
    expect(fold('root', started, created('a1'), closed('a1', unpriced)).priced).toBe(false)
  })

  it('is known by its result after that', () => {
    const [child] = fold('root', started, created('a1'), closed('a1')).children
    expect(child).toMatchObject({
      id: 'a1',
      delivered: false,
      closed: { final_status: 'completed', close_reason: 'it gave its answer', result: result() },
    })
  })

  it('whose result an earlier one stands for costs nothing and is closed from the start', () => {
    const from = { run_id: 'earlier', agent_id: 'a7' }
    const place = { sub_agent_id: 'a1', step_idx: 0, call_id: 'c1', index: 0 }
    const reused: Entry = ['agent.subagent_reused', { ...place, title: 'Look', cache_key: 'k', from, result: result() }]
    const memory = fold('root', started, reused)
    expect(leftOf(memory)).toEqual({ total_tokens: 10_000, cost_usd: 5, sub_agents: 10 })
    expect(memory.children[0]).toMatchObject({ reused_from: from, closed: { final_status: 'completed' } })
  })

  it('is handed over as a message where nobody asked for its result', () => {
    const content = '[a1: OK]\nfound it'
    const memory = fold('root', started, created('a1'), closed('a1'), [
      'agent.results_delivered',
      { sub_agent_ids: ['a1'], content },
    ])
    expect(memory.messages.at(-1)).toEqual({ role: 'user', content })
    expect(memory.children.map(({ delivered }) => delivered)).toEqual([true])
  })
})

describe('a history of sub-agents that no correct writer can produce', () => {
  it.each<[string, string, Entry[]]>([
    ['the same id twice', 'child_repeated', [created('a1'), created('a1')]],
    ['a close of nobody', 'child_unknown', [closed('a9')]],
    ['a second close', 'child_closed_twice', [created('a1'), closed('a1'), closed('a1')]],
    ['more tokens than are left', 'budget_overdrawn', [created('a1', { ...SHARE, total_tokens: 10_001 })]],
    ['more cost than is left', 'budget_overdrawn', [created('a1'), created('a2', { ...SHARE, cost_usd: 3.5 })]],
    ['more sub-agents than are left', 'budget_overdrawn', [created('a1', { ...SHARE, sub_agents: 10 })]],
  ])('%s: %s', (_what, code, events) => {
    expect(corruption(started, ...events)).toBe(code)
  })
})

describe("a sub-agent's own stream", () => {
  const child = childContract(SHARE)
  const named = { sub_agent_id: 'a1', step_idx: 0 }
  const begun: Entry[] = [
    ['agent.subagent_started', { ...named, contract: child, task: 'Look' }],
    ['agent.subagent_attempt', { ...named, attempt: 1, after: null }],
  ]
  const failed: Entry[] = [
    [
      'model.requested',
      {
        ...{ request_id: 'q1', purpose: 'turn', model: 'p/m', request_digest: 'a'.repeat(64), messages: 1 },
        ...{ estimated_tokens: 50, estimated_usd: 0.1, attempt: 5 },
      },
    ],
    [
      'model.failed',
      {
        ...{ request_id: 'q1', code: 'network', message: 'gone', retry_after_ms: null },
        ...{ spent_tokens: 50, spent_usd: 0.1, duration_ms: 1 },
      },
    ],
  ]

  it('begins with nothing but its task', () => {
    const memory = fold('a1', ...begun)
    expect(memory).toMatchObject({
      history_digest: null,
      messages: [{ role: 'user', content: 'Look' }],
      state: 'running',
    })
  })

  it('begins again with a new attempt, and what was spent stays spent', () => {
    const after = { outcome: 'error', reason: 'gone' } as const
    const memory = fold('a1', ...begun, ...failed, ['agent.subagent_attempt', { ...named, attempt: 2, after }])
    expect(memory).toMatchObject({
      attempt: { number: 2, wall_ms_before: 30 },
      messages: [{ role: 'user', content: 'Look' }],
      failure: null,
      ledger: { spent: { total_tokens: 50, cost_usd: 0.1 } },
    })
  })

  it('ends with its result, after which nothing comes', () => {
    const waiting: Entry = ['agent.subagent_waiting_for_merge', { ...named, result: result() }]
    expect(fold('a1', ...begun, waiting)).toMatchObject({ state: 'waiting_for_merge', result: result() })
    expect(() => fold('a1', ...begun, waiting, ['agent.cancel_requested', { by: 'x', reason: 'y' }])).toThrow(
      'already_finished',
    )
    const lost: Entry = ['agent.subagent_failed', { ...named, result: result({ outcome: 'error' }) }]
    expect(fold('a1', ...begun, lost)).toMatchObject({ state: 'failed' })
  })
})
