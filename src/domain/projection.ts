import type { NewEvent } from './events.js'
import { type AgentState, endState } from './lifecycle.js'
import type { Outcome } from './outcome.js'

/** Counts in `runs` grow with each event; in `sub_agents` they are set when the agent has finished. */
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

/** A row of `runs`: a projection of the log, which can be rebuilt from it. */
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
 * What one event does to the projections: new rows, values that are set and counts that are added. Sets and sums
 * commute between agents, so that many writers need not read a row before they change it.
 */
export type Projection = {
  run: Omit<RunRow, keyof Counters | 'run_id' | 'updated_at' | 'last_position'> | null
  agent: Omit<AgentRow, keyof Counters | 'run_id' | 'agent_id' | 'updated_at'> | null
  set_run: { status?: RowStatus; outcome?: Outcome; text?: string } | null
  set_agent: ({ state: AgentState; outcome: Outcome } & Partial<Counters>) | null
  /** To the run's counts. */
  add: Counters | null
}

const NOTHING: Projection = { run: null, agent: null, set_run: null, set_agent: null, add: null }

export function project(event: NewEvent): Projection {
  switch (event.type) {
    case 'run.created': {
      const { session_id, task, workspace_root } = event.data
      return {
        ...NOTHING,
        run: { session_id, task, workspace_root, status: 'running', outcome: null, text: null, created_at: event.at },
      }
    }
    case 'agent.started': {
      const { contract } = event.data
      return {
        ...NOTHING,
        agent: {
          parent_id: contract.parent.agent_id,
          depth: contract.parent.depth,
          step_idx: contract.parent.step_idx,
          state: 'running',
          outcome: null,
          model: `${contract.model.provider}/${contract.model.model}`,
          context_json: JSON.stringify(contract),
          created_at: event.at,
        },
      }
    }
    case 'model.responded': {
      const { usage, purpose, cost_usd } = event.data
      const { input_tokens, output_tokens, cached_tokens } = usage
      const counts = { turns: purpose === 'turn' ? 1 : 0, input_tokens, output_tokens, cached_tokens }
      return { ...NOTHING, add: { ...NO_COUNTS, ...counts, ...costOf(cost_usd) } }
    }
    case 'model.failed':
      return event.data.spent_usd === 0
        ? NOTHING
        : { ...NOTHING, add: { ...NO_COUNTS, ...costOf(event.data.spent_usd) } }
    case 'tool.called':
      return event.data.attempt > 1 ? NOTHING : { ...NOTHING, add: { ...NO_COUNTS, tool_calls: 1 } }
    case 'agent.finished': {
      const { outcome, turns, tool_calls, usage, cost_usd } = event.data.result
      const { input_tokens, output_tokens, cached_tokens } = usage
      const counts = { turns, tool_calls, input_tokens, output_tokens, cached_tokens, ...costOf(cost_usd) }
      return { ...NOTHING, set_agent: { state: endState(outcome), outcome, ...counts } }
    }
    case 'run.closed':
      return {
        ...NOTHING,
        set_run: { status: 'closed', outcome: event.data.outcome, text: event.data.text },
        set_agent: { state: 'closed', outcome: event.data.outcome },
      }
    default:
      return NOTHING
  }
}

function costOf(usd: number | null): Pick<Counters, 'cost_usd' | 'unpriced_calls'> {
  return usd === null ? { cost_usd: 0, unpriced_calls: 1 } : { cost_usd: usd, unpriced_calls: 0 }
}
