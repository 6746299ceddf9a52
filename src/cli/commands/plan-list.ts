import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Plan, type Retinue, RetinueError, readPlan } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { type CarriedOut, laterRuns } from '../plan/later-runs.js'
import { isForLater, standingWord } from '../plan/outcome-lines.js'
import { savedPlans } from '../plan/source.js'
import { age, line, type Paint, paintFor, plural } from '../style.js'

/**
 * `goal` and `steps` are null where the file cannot be read as a plan, `state` where this store does not know the run.
 * `carried_out_by`: a later run that did what this one left, and how that stands.
 */
type SavedPlan = {
  run_id: string
  goal: string | null
  steps: number | null
  state: string | null
  carried_out_by: CarriedOut | null
  saved_at: number
}

type LaterRuns = (plan: Plan, run_id: string) => Promise<CarriedOut | null>

/** The plans that were made in this folder, newest first. */
export async function planList(options: StoreOptions & { json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const plans = await allSaved(retinue)
    if (options.json) {
      for (const plan of plans) process.stdout.write(`${JSON.stringify(plan)}\n`)
      if (plans.length === 0) process.stdout.write('[]\n')
      return 0
    }
    if (plans.length === 0) process.stdout.write(`No plans in ${retinue.cwd} yet. Make one: retinue plan "goal"\n`)
    const paint = paintFor(process.stdout, process.env)
    for (const plan of plans) process.stdout.write(`${planLine(plan, paint)}\n`)
    return 0
  })
}

async function allSaved(retinue: Retinue): Promise<SavedPlan[]> {
  const folder = savedPlans(retinue)
  const names = await readdir(folder).catch(() => [])
  const later = laterRuns(retinue)
  const plans = await Promise.all(
    names.flatMap((name) => {
      const [, run_id] = /^([\w-]+)\.yaml$/.exec(name) ?? []
      return run_id === undefined ? [] : [savedPlan(retinue, run_id, join(folder, name), later)]
    }),
  )
  return plans.sort((a, b) => b.saved_at - a.saved_at)
}

async function savedPlan(retinue: Retinue, run_id: string, file: string, later: LaterRuns): Promise<SavedPlan> {
  const read = readPlan(await readFile(file, 'utf8'))
  const { mtimeMs } = await stat(file)
  const shown = read.ok ? { goal: read.plan.goal, steps: read.plan.steps.length } : { goal: null, steps: null }
  const { state, waits } = await stateOf(retinue, run_id)
  const carried_out_by = waits && read.ok ? await later(read.plan, run_id) : null
  return {
    ...{ run_id, ...shown, state: carried_out_by ? 'carried out' : state, carried_out_by },
    saved_at: Math.round(mtimeMs),
  }
}

async function stateOf(retinue: Retinue, run_id: string): Promise<{ state: string | null; waits: boolean }> {
  try {
    const run = await retinue.find(run_id)
    const outcome = await retinue.planOutcome(run_id)
    return { state: standingWord(outcome, run), waits: isForLater(outcome, run) }
  } catch (error) {
    if (error instanceof RetinueError) return { state: null, waits: false }
    throw error
  }
}

function planLine(plan: SavedPlan, { dim, green, red, yellow }: Paint): string {
  const { run_id, goal, steps, state, carried_out_by, saved_at } = plan
  const colour = state === 'completed' || state === 'carried out' ? green : state === 'failed' ? red : yellow
  const shown = line((goal ?? 'cannot be read: see retinue plan check').replace(/\s+/g, ' ')).slice(0, 60)
  const size = steps === null ? '' : `${plural(steps, 'step')}, `
  const by = carried_out_by ? `, by run ${carried_out_by.run_id}: ${carried_out_by.state}` : ''
  const stands = state === 'paused' || state === 'interrupted'
  const words = stands ? `${state}: retinue resume ${run_id}` : (state ?? 'unknown run')
  return `${run_id}  ${colour(words.padEnd(16))} ${shown.padEnd(60)} ${dim(`${size}${age(saved_at, Date.now())}${by}`)}`
}
