import type { RunSummary } from '../index.js'
import { line } from './style.js'

/** Why nobody works on a run that is not closed, and what can be done about it. */
export function standsInWords({ run_id, paused }: Pick<RunSummary, 'run_id' | 'paused'>): string {
  const why = paused ? `Run ${run_id} was paused by ${line(paused.by)}: ${line(paused.reason)}` : 'Its process is gone'
  return `${why}. Go on with: retinue resume ${run_id}`
}
