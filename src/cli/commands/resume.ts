import { type Retinue, RetinueError } from '../../index.js'
import { type DriveOptions, drive } from '../drive.js'
import { type WorkOptions, withRetinue } from '../open.js'

export async function resume(id: string, options: WorkOptions & DriveOptions): Promise<number> {
  return withRetinue(options, async (retinue) => resumeRun(retinue, (await retinue.find(id)).run_id, options))
}

export async function resumeRun(retinue: Retinue, run_id: string, options: DriveOptions): Promise<number> {
  const { status } = await retinue.find(run_id)
  if (status === 'running') {
    throw new RetinueError(
      'held',
      `Run ${run_id} is being worked on by another process. See it with: retinue watch ${run_id}`,
    )
  }
  // A closed run gives its result again; what led to it is not happening now and is not shown as if it were.
  const quiet = options.print === true || options.outputFormat !== 'text'
  if (status === 'closed' && !quiet) process.stderr.write(`Run ${run_id} is closed already; this is its result.\n`)
  return drive(retinue, { ...options, finished: status === 'closed' }, (watching) => retinue.resume(run_id, watching))
}
