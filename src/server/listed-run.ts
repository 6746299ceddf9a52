import type { Retinue, RunSummary } from '../index.js'
import type { ListedRun } from './wire.js'

/** A run as it is listed: whoever looks at many wants to know which of them wait for a person. */
export async function listedRun(retinue: Retinue, run: RunSummary): Promise<ListedRun> {
  return { ...run, asks: run.status === 'running' ? (await retinue.questions(run.run_id)).length : 0 }
}
