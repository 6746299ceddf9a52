import {
  type PlanOptions,
  type PlanOutcome,
  planFile,
  type Retinue,
  RetinueError,
  type RunResult,
  writePlan,
} from '../../index.js'
import { type DriveOptions, type Ending, isQuiet } from '../drive.js'
import { EXIT, exitOfResult } from '../exit.js'
import { paintFor } from '../style.js'
import { previewLines } from './preview-lines.js'

type EndingOptions = DriveOptions & {
  /** How the plan would be carried out. */
  as: PlanOptions
  /** The exit code where the plan was made and nobody said yes to it. Default: that is how it was wanted. */
  left?: number
}

/** What there is to say when a run of a plan is over: its report, or the plan itself and how to go on with it. */
export function planEnding(retinue: Retinue, options: EndingOptions): (result: RunResult) => Promise<Ending> {
  return async (result) => {
    const outcome = await outcomeOf(retinue, result.run_id)
    if (!outcome) return { answer: result.text, notes: [], also: {}, code: exitOfResult(result) }
    const also = { plan_outcome: outcome }
    const { status, revision } = outcome
    // One that was left when its rest was to be changed has come to something.
    const waits = revision === 0 && (status === 'made' || status === 'left')
    if (!waits) return { answer: result.text, notes: [], also, code: exitOfResult(result) }
    return {
      // Somebody at a terminal has seen it; a program gets the file.
      answer: status === 'left' || outcome.plan === null ? '' : writePlan(outcome.plan).trimEnd(),
      notes: [...(await previewOf(retinue, outcome, options)), ...howToGoOn(result.run_id)],
      also,
      code: options.left ?? EXIT.ok,
      ...(status === 'left' ? { word: 'left for later' } : {}),
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
async function previewOf(retinue: Retinue, { plan, status }: PlanOutcome, options: EndingOptions): Promise<string[]> {
  if (plan === null || status === 'left' || isQuiet(options)) return []
  const checked = await retinue.checkPlan(plan, options.as)
  return checked.ok ? previewLines(checked.preview, paintFor(process.stderr, process.env)) : []
}

function howToGoOn(run_id: string): string[] {
  return [
    `The plan is saved in ${planFile(run_id)}; nothing of it is carried out.`,
    `Carry it out with: retinue plan run ${run_id}   (retinue plan edit ${run_id} changes it first)`,
  ]
}
