import type { Retinue, RunSummary } from '../index.js'
import { line } from './style.js'

/** Why nobody works on a run that is not closed, and what can be done about it. */
export function standsInWords({ run_id, paused }: Pick<RunSummary, 'run_id' | 'paused'>): string {
  const why = paused ? `Run ${run_id} was paused by ${line(paused.by)}: ${line(paused.reason)}` : 'Its process is gone'
  return `${why}. Go on with: retinue resume ${run_id}`
}

/** What waits for a worker can be gone on with in this process instead, by whoever wants that. */
export function isFree({ waits_for_worker }: RunSummary, { engine }: Pick<Retinue, 'engine'>): boolean {
  return waits_for_worker === true && engine === 'local'
}
