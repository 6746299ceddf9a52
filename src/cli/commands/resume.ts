import { type Retinue, RetinueError } from '../../index.js'
import { type DriveOptions, drive } from '../drive.js'
import { type WorkOptions, withRetinue } from '../open.js'
import { planEnding } from '../plan/ending.js'
import { optionsOfRun } from '../plan/of-run.js'

export async function resume(id: string, options: WorkOptions & DriveOptions): Promise<number> {
  return withRetinue(options, async (retinue) => resumeRun(retinue, (await retinue.find(id)).run_id, options))
}

export async function resumeRun(retinue: Retinue, run_id: string, options: DriveOptions): Promise<number> {
  const { status, plan } = await retinue.find(run_id)
  if (status === 'running') {
    throw new RetinueError(
      'held',
      `Run ${run_id} is being worked on by another process. See it with: retinue watch ${run_id}`,
    )
  }
  // A closed run gives its result again; what led to it is not happening now and is not shown as if it were.
  const quiet = options.print === true || options.outputFormat !== 'text'
  if (status === 'closed' && !quiet) process.stderr.write(`Run ${run_id} is closed already; this is its result.\n`)
  const driving: DriveOptions = {
    ...options,
    finished: status === 'closed',
    ...(plan ? await withPlan(retinue, run_id, options) : {}),
  }
  return drive(retinue, driving, (watching) => retinue.resume(run_id, watching))
}

/** What more there is to a run of a plan. */
async function withPlan(retinue: Retinue, run_id: string, options: DriveOptions): Promise<Partial<DriveOptions>> {
  const as = await optionsOfRun(retinue, run_id)
  return { ending: planEnding(retinue, { ...options, as }), checkPlan: (text) => retinue.checkPlan(text, as) }
}
