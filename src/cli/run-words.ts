import type { ListedRun, Retinue } from '../index.js'
import { outcomeOf } from './plan/ending.js'
import { NOT_CARRIED_OUT, standingWord } from './plan/outcome-lines.js'

/** As the window has it, too. */
export const WAITS_FOR_YOU = 'waits for you'

/** How these runs stand, each in a word or a few. */
export async function runWords(retinue: Retinue, runs: readonly ListedRun[]): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(runs.map(async (run) => [run.run_id, await runWord(retinue, run)] as const)))
}

export async function runWord(retinue: Retinue, run: ListedRun): Promise<string> {
  const { status, paused, asks, waits_for_worker } = run
  if (paused) return 'paused'
  // Whoever takes it from there asks again.
  if (asks > 0 && !waits_for_worker) return WAITS_FOR_YOU
  if (status !== 'closed') return status
  return (await isLeft(retinue, run)) ? NOT_CARRIED_OUT : (run.outcome ?? status)
}

/** Whether its plan was left for later: a log has no other word for that than cancelled. */
async function isLeft(retinue: Retinue, run: ListedRun): Promise<boolean> {
  if (!run.plan || run.outcome !== 'cancelled') return false
  const outcome = await outcomeOf(retinue, run.run_id)
  return outcome !== null && standingWord(outcome, run) === NOT_CARRIED_OUT
}
