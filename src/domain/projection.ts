import type { Contract } from './contract.js'
import type { NewEvent } from './events.js'
import { type AgentState, endState } from './lifecycle.js'
import type { Outcome } from './outcome.js'
import type { AgentResult } from './result.js'

/**
 * Counts in `runs` grow with each event, whoever wrote it. In `sub_agents` they are set when the agent has finished, to
 * what its result says: tokens and cost are its own and those of all below it, so those rows do not add up to the run.
 */
export type Counters = {
  turns: number
  tool_calls: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  /** Of the calls whose price is known. */
  cost_usd: number
  unpriced_calls: number
}

type RowStatus = 'running' | 'closed'

/** A row of `runs`. */
export type RunRow = Counters & {
  run_id: string
  session_id: string
  task: string
  workspace_root: string
  status: RowStatus
  outcome: Outcome | null
  text: string | null
  created_at: number
  updated_at: number
  last_position: number
  /** How many it has, its root among them. */
  agents: number
}

/** A row of `sub_agents`; the root agent has one too, with no parent. */
export type AgentRow = Counters & {
  run_id: string
  agent_id: string
  parent_id: string | null
  depth: number
  step_idx: number
  state: AgentState
  outcome: Outcome | null
  model: string
  /** The contract. */
  context_json: string
  created_at: number
  updated_at: number
}

export const NO_COUNTS: Counters = {
  turns: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost_usd: 0,
  unpriced_calls: 0,
}

/**
 * What one event does to the projections: new rows, values that are set and counts that are added. No writer needs to
 * read a row before it changes it: sums commute, and sets are applied in the order of the events' positions.
 */
export type Projection = {
  /** Whose row `agent` and `set_agent` are about. A parent writes about its sub-agents too. */
  agent_id: string
  run: Omit<RunRow, keyof Counters | 'run_id' | 'updated_at' | 'last_position' | 'agents'> | null
  agent: Omit<AgentRow, keyof Counters | 'run_id' | 'agent_id' | 'updated_at'> | null
  set_run: { status?: RowStatus; outcome?: Outcome; text?: string } | null
  set_agent: ({ state: AgentState; outcome?: Outcome } & Partial<Counters>) | null
  /** To the run's counts. */
  add: Counters | null
}

const NOTHING: Omit<Projection, 'agent_id'> = { run: null, agent: null, set_run: null, set_agent: null, add: null }

/** `writer` is the agent in whose stream the event is. */
export function project(event: NewEvent, writer: string): Projection {
  const nothing: Projection = { agent_id: writer, ...NOTHING }
  switch (event.type) {
    case 'run.created': {
      const { session_id, task, workspace_root } = event.data
      return {
        ...nothing,
        run: { session_id, task, workspace_root, status: 'running', outcome: null, text: null, created_at: event.at },
      }
    }
    case 'agent.started':
      return { ...nothing, agent: newAgent(event.data.contract, 'running', event.at) }
    case 'agent.subagent_created': {
      const { sub_agent_id, contract } = event.data
      return { ...nothing, agent_id: sub_agent_id, agent: newAgent(contract, 'created', event.at) }
    }
    case 'agent.subagent_started':
      return { ...nothing, agent_id: event.data.sub_agent_id, set_agent: { state: 'running' } }
    case 'agent.subagent_waiting_for_merge': {
      const { sub_agent_id, result } = event.data
      return { ...nothing, agent_id: sub_agent_id, set_agent: { state: 'waiting_for_merge', ...endOf(result) } }
    }
    case 'agent.subagent_failed': {
      const { sub_agent_id, result } = event.data
      return { ...nothing, agent_id: sub_agent_id, set_agent: { state: 'failed', ...endOf(result) } }
    }
    case 'agent.subagent_closed': {
      const { sub_agent_id, result } = event.data
      return { ...nothing, agent_id: sub_agent_id, set_agent: { state: 'closed', outcome: result.outcome } }
    }
    case 'model.responded': {
      const { usage, purpose, cost_usd } = event.data
      const { input_tokens, output_tokens, cached_tokens } = usage
      const counts = { turns: purpose === 'turn' ? 1 : 0, input_tokens, output_tokens, cached_tokens }
      return { ...nothing, add: { ...NO_COUNTS, ...counts, ...costOf(cost_usd) } }
    }
    case 'model.failed':
      return event.data.spent_usd === 0
        ? nothing
        : { ...nothing, add: { ...NO_COUNTS, ...costOf(event.data.spent_usd) } }
    case 'tool.called':
      return event.data.attempt > 1 ? nothing : { ...nothing, add: { ...NO_COUNTS, tool_calls: 1 } }
    case 'agent.finished': {
      const { result } = event.data
      return { ...nothing, set_agent: { state: endState(result.outcome), ...endOf(result) } }
    }
    case 'run.closed':
      return {
        ...nothing,
        set_run: { status: 'closed', outcome: event.data.outcome, text: event.data.text },
        set_agent: { state: 'closed', outcome: event.data.outcome },
      }
    default:
      return nothing
  }
}

function newAgent(contract: Contract, state: AgentState, created_at: number): Projection['agent'] {
  return {
    parent_id: contract.parent.agent_id,
    depth: contract.parent.depth,
    step_idx: contract.parent.step_idx,
    state,
    outcome: null,
    model: `${contract.model.provider}/${contract.model.model}`,
    context_json: JSON.stringify(contract),
    created_at,
  }
}

function endOf({ outcome, turns, tool_calls, usage, cost_usd }: AgentResult) {
  const { input_tokens, output_tokens, cached_tokens } = usage
  return { outcome, turns, tool_calls, input_tokens, output_tokens, cached_tokens, ...costOf(cost_usd) }
}

function costOf(usd: number | null): Pick<Counters, 'cost_usd' | 'unpriced_calls'> {
  return usd === null ? { cost_usd: 0, unpriced_calls: 1 } : { cost_usd: usd, unpriced_calls: 0 }
}
