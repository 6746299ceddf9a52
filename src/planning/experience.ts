import { type AgentRow, endState } from '../domain/index.js'
import type { Store } from '../store/index.js'
import type { Experience } from './estimate.js'

/** Enough to tell what is usual, and few enough to be read while somebody waits. */
const MOST_RUNS = 50
/** Where several folders share a store, those of this one are among so many. */
const MOST_LOOKED_AT = 500

type Sums = Experience & { unpriced: number }

/**
 * What earlier sub-agents used that did what they were asked for in this folder, by the name of their profile or by
 * their handle.
 */
export async function experienceOf(
  store: Pick<Store, 'runs' | 'agents'>,
  workspace_root: string,
): Promise<(agent: string | null) => Experience | null> {
  const rows = await store.runs({ limit: MOST_LOOKED_AT })
  const here = rows.filter((row) => row.workspace_root === workspace_root).slice(0, MOST_RUNS)
  const sums = new Map<string | null, Sums>()
  for (const { run_id } of here) {
    for (const row of await store.agents(run_id)) {
      if (!tells(row)) continue
      for (const name of namesOf(row)) sums.set(name, withRow(sums.get(name), row))
    }
  }
  return (agent) => averageOf(sums.get(agent))
}

/** A sub-agent that is over and did not fail. */
function tells({ parent_id, state, outcome }: AgentRow): boolean {
  return parent_id !== null && state === 'closed' && outcome !== null && endState(outcome) !== 'failed'
}

/** By which it could have been asked for; null: by none. */
function namesOf({ context_json }: AgentRow): (string | null)[] {
  const { agent } = JSON.parse(context_json) as { agent: { handle: string | null; profile_id: string | null } }
  const names = [agent.profile_id, agent.handle].filter((name) => name !== null)
  return names.length > 0 ? names : [null]
}

function withRow(sums: Sums | undefined, row: AgentRow): Sums {
  const { agents, tool_calls, tokens, cost_usd, duration_ms, unpriced } = sums ?? NOTHING
  return {
    agents: agents + 1,
    tool_calls: tool_calls + row.tool_calls,
    tokens: tokens + row.input_tokens + row.output_tokens,
    cost_usd: (cost_usd ?? 0) + row.cost_usd,
    duration_ms: duration_ms + row.updated_at - row.created_at,
    unpriced: unpriced + row.unpriced_calls,
  }
}

const NOTHING: Sums = { agents: 0, tool_calls: 0, tokens: 0, cost_usd: 0, duration_ms: 0, unpriced: 0 }

function averageOf(sums: Sums | undefined): Experience | null {
  if (!sums) return null
  const { agents, tool_calls, tokens, cost_usd, duration_ms, unpriced } = sums
  return {
    agents,
    tool_calls: tool_calls / agents,
    tokens: tokens / agents,
    cost_usd: unpriced > 0 || cost_usd === null ? null : cost_usd / agents,
    duration_ms: duration_ms / agents,
  }
}
