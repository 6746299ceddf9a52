import type { StoredEvent } from './events.js'

/** What one agent of a run spent on one model on one day (UTC, such as 2026-11-16). null: a price is not known. */
export type CostRow = {
  run_id: string
  agent_id: string
  profile: string | null
  /** `provider/model` that answered; the one that was asked, where none did. */
  model: string
  day: string
  /** Those that were answered, and those that failed and may have cost something all the same. */
  calls: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_usd: number | null
}

type Spent = Pick<CostRow, 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'cost_usd'>

/** From the events of one run, in their order. Its rows add up to what the row of the run says. */
export function costsOf(events: readonly StoredEvent[]): CostRow[] {
  const rows = new Map<string, CostRow>()
  const profiles = new Map<string, string | null>()
  const asked = new Map<string, string>()
  const add = ({ run_id, agent_id, at }: StoredEvent, model: string, spent: Spent) => {
    const day = new Date(at).toISOString().slice(0, 10)
    const key = JSON.stringify([agent_id, model, day])
    const row = rows.get(key) ?? {
      ...{ run_id, agent_id, profile: profiles.get(agent_id) ?? null, model, day, calls: 0 },
      ...{ input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: 0 },
    }
    rows.set(key, {
      ...row,
      calls: row.calls + 1,
      input_tokens: row.input_tokens + spent.input_tokens,
      output_tokens: row.output_tokens + spent.output_tokens,
      cached_tokens: row.cached_tokens + spent.cached_tokens,
      cost_usd: row.cost_usd === null || spent.cost_usd === null ? null : row.cost_usd + spent.cost_usd,
    })
  }
  for (const event of events) {
    switch (event.type) {
      case 'agent.started':
      case 'agent.subagent_started':
        profiles.set(event.agent_id, event.data.contract.agent.profile_id)
        break
      case 'model.requested':
        asked.set(event.agent_id, event.data.model)
        break
      case 'model.responded': {
        const { answered_by, usage, cost_usd } = event.data
        const { input_tokens, output_tokens, cached_tokens } = usage
        add(event, answered_by, { input_tokens, output_tokens, cached_tokens, cost_usd })
        break
      }
      case 'model.failed': {
        const { spent_usd } = event.data
        const model = asked.get(event.agent_id)
        // How many of the tokens that it may have spent were read is not known, so that no run counts them either.
        const spent = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: spent_usd }
        if (spent_usd !== 0 && model !== undefined) add(event, model, spent)
      }
    }
  }
  return [...rows.values()]
}
