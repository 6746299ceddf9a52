import type { Retinue, RunSummary } from '../../index.js'
import { outcomeOf } from './ending.js'
import { NOT_CARRIED_OUT, standingWord } from './outcome-lines.js'

/** Of these runs, those whose plan was left for later: a log has no other word for them than cancelled. */
export async function leftRuns(retinue: Retinue, runs: readonly RunSummary[]): Promise<ReadonlySet<string>> {
  const left = await Promise.all(runs.map(async (run) => ((await isLeft(retinue, run)) ? [run.run_id] : [])))
  return new Set(left.flat())
}

async function isLeft(retinue: Retinue, run: RunSummary): Promise<boolean> {
  if (!run.plan || run.outcome !== 'cancelled') return false
  const outcome = await outcomeOf(retinue, run.run_id)
  return outcome !== null && standingWord(outcome, run) === NOT_CARRIED_OUT
}
