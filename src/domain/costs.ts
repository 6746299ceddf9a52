import type { StoredEvent } from './events.js'

/** What one agent of a run spent on one model on one day (UTC, such as 2026-11-16). null: a price is not known. */
export type CostRow = {
  run_id: string
  agent_id: string
  profile: string | null
  /** `provider/model` that answered. */
  model: string
  day: string
  calls: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_usd: number | null
}

/** From the events of one run, in their order. */
export function costsOf(events: readonly StoredEvent[]): CostRow[] {
  throw new Error(`not written yet: ${events.length}`)
}
