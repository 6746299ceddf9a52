import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { planFile, type Retinue, RetinueError, type RunSummary, writePlan } from '../../index.js'
import { textOf } from '../input.js'
import { absolute } from '../open.js'

/**
 * A plan that was named on the command line. `name`: how it is called in messages. `file`: where its text is or would be
 * saved; null: it came on stdin. `run`: whose plan it is, where a run was named.
 */
export type PlanSource = { name: string; text: string; file: string | null; run: RunSummary | null }

/** Where the plans that were made in a folder are saved. */
export function savedPlans({ cwd }: Pick<Retinue, 'cwd'>): string {
  return join(cwd, dirname(planFile('')))
}

export async function findPlan(retinue: Retinue, named: string): Promise<PlanSource> {
  if (named === '-') return { name: 'stdin', text: await textOf('-'), file: null, run: null }
  const run = await namedRun(retinue, named)
  if (!run) return { name: named, text: await textOf(named), file: absolute(named), run: null }
  const name = planFile(run.run_id)
  const file = join(retinue.cwd, name)
  const saved = await readFile(file, 'utf8').catch(() => null)
  return { name, text: saved ?? (await planInLog(retinue, run)), file, run }
}

/** What a run is doing with its plan now is not changed or begun again from outside. */
export function refuseOpen(run: RunSummary | null, what: string): void {
  if (!run || run.status === 'closed') return
  const then = run.status === 'running' ? 'see it with: retinue watch' : 'go on with: retinue resume'
  throw new RetinueError(
    'held',
    `Run ${run.run_id} is not over, so that its plan cannot be ${what}: ${then} ${run.run_id}`,
  )
}

export async function isFile(path: string): Promise<boolean> {
  const found = await stat(absolute(path)).catch(() => null)
  return found !== null && !found.isDirectory()
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(absolute(path)).catch(() => null))?.isDirectory() === true
}

/** null: a file is named. It stands before a run of its name: whoever means the run can give more of its id. */
export async function namedRun(retinue: Retinue, named: string): Promise<RunSummary | null> {
  if (named === '-' || (await isFile(named))) return null
  try {
    return await retinue.find(named)
  } catch (error) {
    if (!(error instanceof RetinueError) || error.code !== 'not_found') throw error
    if (await isFolder(named)) throw new RetinueError('input', `${named} is a folder: name a plan file in it, or a run`)
    const hint = 'retinue plan list shows the plans that are saved'
    throw new RetinueError('not_found', `There is neither a file nor a run "${named}": ${hint}`)
  }
}

/** The file may be gone, or the run was of a plan that nobody saved; the log has it still. */
async function planInLog(retinue: Retinue, { run_id }: RunSummary): Promise<string> {
  const { plan } = await retinue.planOutcome(run_id)
  if (plan) return writePlan(plan)
  throw new RetinueError('not_found', `Run ${run_id} has no plan: it ended before there was one`)
}
