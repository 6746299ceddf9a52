import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Retinue, RetinueError, readPlan } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { standing } from '../plan/outcome-lines.js'
import { savedPlans } from '../plan/source.js'
import { age, line, type Paint, paintFor, plural } from '../style.js'

/** `goal` and `steps` are null where the file cannot be read as a plan, `state` where this store does not know the run. */
type SavedPlan = { run_id: string; goal: string | null; steps: number | null; state: string | null; saved_at: number }

/** The plans that were made in this folder, newest first. */
export async function planList(options: StoreOptions & { json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const plans = await allSaved(retinue)
    if (options.json) {
      for (const plan of plans) process.stdout.write(`${JSON.stringify(plan)}\n`)
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
  const plans = await Promise.all(
    names.flatMap((name) => {
      const [, run_id] = /^([\w-]+)\.yaml$/.exec(name) ?? []
      return run_id === undefined ? [] : [savedPlan(retinue, run_id, join(folder, name))]
    }),
  )
  return plans.sort((a, b) => b.saved_at - a.saved_at)
}

async function savedPlan(retinue: Retinue, run_id: string, file: string): Promise<SavedPlan> {
  const read = readPlan(await readFile(file, 'utf8'))
  const { mtimeMs } = await stat(file)
  const shown = read.ok ? { goal: read.plan.goal, steps: read.plan.steps.length } : { goal: null, steps: null }
  return { run_id, ...shown, state: await stateOf(retinue, run_id), saved_at: Math.round(mtimeMs) }
}

async function stateOf(retinue: Retinue, run_id: string): Promise<string | null> {
  try {
    const { status } = await retinue.find(run_id)
    return standing({ ...(await retinue.planOutcome(run_id)), reason: null }, status)
  } catch (error) {
    if (error instanceof RetinueError) return null
    throw error
  }
}

function planLine({ run_id, goal, steps, state, saved_at }: SavedPlan, { dim, green, red, yellow }: Paint): string {
  const colour = state === 'completed' ? green : state === 'failed' ? red : yellow
  const shown = line((goal ?? 'cannot be read: see retinue plan check').replace(/\s+/g, ' ')).slice(0, 60)
  const size = steps === null ? '' : `${plural(steps, 'step')}, `
  return `${run_id}  ${colour((state ?? 'unknown run').padEnd(16))} ${shown.padEnd(60)} ${dim(`${size}${age(saved_at, Date.now())}`)}`
}
