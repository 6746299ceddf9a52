import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type PlanOptions,
  type PlanOutcome,
  planFile,
  type Retinue,
  RetinueError,
  type RunResult,
  writePlan,
} from '../../index.js'
import { isQuiet } from '../audience.js'
import type { DriveOptions, Ending } from '../drive.js'
import { EXIT, exitOfResult } from '../exit.js'
import { paintFor } from '../style.js'
import { checkedLines } from './checked-lines.js'
import { isForLater, NOT_CARRIED_OUT } from './outcome-lines.js'

export type EndingOptions = DriveOptions & {
  /** How the plan would be carried out. */
  as: PlanOptions
  /** The exit code where the plan was made and nobody said yes to it. Default: that is how it was wanted. */
  left?: number
}

/** What there is to say when a run of a plan is over: its report, or the plan itself and how to go on with it. */
export function planEnding(retinue: Retinue, options: EndingOptions): (result: RunResult) => Promise<Ending> {
  return async (result) => {
    const { run_id } = result
    const usual = { answer: result.text, notes: [], also: {}, code: exitOfResult(result) }
    const outcome = await outcomeOf(retinue, run_id)
    if (!outcome) return usual
    const also = { plan_outcome: outcome }
    if (!isForLater(outcome, result)) return { ...usual, also }
    const file = join(retinue.cwd, planFile(run_id))
    const saved = (await readFile(file, 'utf8').catch(() => null)) !== null
    const { status, plan } = outcome
    const stopped = status !== 'made' && status !== 'left'
    const checked = await lookedAt(retinue, outcome, options)
    return {
      // Somebody at a terminal has seen it; a program gets the file.
      answer: status !== 'made' || plan === null ? '' : writePlan(plan).trimEnd(),
      notes: [...checked.lines, ...howToGoOn(run_id, { saved, sound: checked.sound })],
      also: { ...also, plan_file: saved ? file : null },
      code: stopped ? exitOfResult(result) : (options.left ?? EXIT.ok),
      ...(status === 'left' ? { word: NOT_CARRIED_OUT } : {}),
    }
  }
}

/** null: the run ended before it had begun with its plan. */
export async function outcomeOf(retinue: Retinue, run_id: string): Promise<PlanOutcome | null> {
  try {
    return await retinue.planOutcome(run_id)
  } catch (error) {
    if (error instanceof RetinueError) return null
    throw error
  }
}

/** Only where nobody was asked: whoever was has read it. */
async function lookedAt(retinue: Retinue, { run_id, plan, status }: PlanOutcome, options: EndingOptions) {
  if (plan === null || status !== 'made' || isQuiet(options)) return { sound: true, lines: [] }
  const checked = await retinue.checkPlan(plan, options.as)
  const lines = checkedLines(checked, planFile(run_id), paintFor(process.stderr, process.env))
  return { sound: checked.ok, lines }
}

function howToGoOn(run_id: string, { saved, sound }: { saved: boolean; sound: boolean }): string[] {
  const where = saved ? `saved in ${planFile(run_id)}` : 'in the log of the run, and in no file of this folder'
  return [
    `The plan is ${where}; nothing of it is carried out.`,
    sound
      ? `Carry it out with: retinue plan run ${run_id}   (retinue plan edit ${run_id} changes it first)`
      : `Change it with: retinue plan edit ${run_id}`,
  ]
}
