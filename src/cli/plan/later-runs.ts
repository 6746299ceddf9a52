import { isDeepStrictEqual } from 'node:util'
import type { Plan, Retinue, RunSummary } from '../../index.js'
import { outcomeOf } from './ending.js'
import { orderOf } from './of-run.js'
import { isForLater, standingWord } from './outcome-lines.js'

/** A run that carried out, or carries out, a plan that another one left; and how it stands with it. */
export type CarriedOut = { run_id: string; state: string }

/** So many runs are looked at: it is a list for people, and old plans are carried out from their files. */
const MOST_RUNS = 500

/**
 * Finds the newest run that began after another one and was given the same plan. Nothing in a log says where a plan came
 * from, so that one which was changed before is not found. The runs are read when they are asked for, and once.
 */
export function laterRuns(retinue: Retinue): (plan: Plan, run_id: string) => Promise<CarriedOut | null> {
  let runs: Promise<{ run: RunSummary; plan: Plan | null }[]> | null = null
  return async (plan, run_id) => {
    runs ??= retinue.runs({ limit: MOST_RUNS }).then((rows) => rows.flatMap(ofPlan))
    const known = await runs
    const began = known.find(({ run }) => run.run_id === run_id)?.run.created_at ?? 0
    for (const { run, plan: given } of known) {
      if (run.run_id === run_id || run.created_at < began || !isDeepStrictEqual(given, plan)) continue
      const outcome = await outcomeOf(retinue, run.run_id)
      if (outcome && !isForLater(outcome, run)) return { run_id: run.run_id, state: standingWord(outcome, run) }
    }
    return null
  }
}

function ofPlan(run: RunSummary) {
  return run.plan ? [{ run, plan: orderOf(run).plan }] : []
}
