import { givenToWorkers, type Retinue, RetinueError } from '../../index.js'
import { missingFor } from '../attendance.js'
import { refuseToDetach } from '../detach.js'
import { type DriveOptions, drive } from '../drive.js'
import { type WorkOptions, withRetinue } from '../open.js'
import { planDriving } from '../plan/driving.js'
import { optionsOfRun } from '../plan/of-run.js'
import { isFree } from '../stands.js'

export async function resume(id: string, options: WorkOptions & DriveOptions): Promise<number> {
  refuseToDetach(options)
  return withRetinue(options, async (retinue) => resumeRun(retinue, (await retinue.find(id)).run_id, options))
}

export async function resumeRun(retinue: Retinue, run_id: string, options: DriveOptions): Promise<number> {
  const run = await retinue.find(run_id)
  const { status } = run
  if (status === 'running' && !isFree(run, retinue)) throw await held(retinue, run_id)
  const given = await givenToWorkers(retinue.store, run_id)
  // A closed run gives its result again; what led to it is not happening now and is not shown as if it were.
  const quiet = options.print === true || options.outputFormat !== 'text'
  if (status === 'closed' && !quiet) process.stderr.write(`Run ${run_id} is closed already; this is its result.\n`)
  const driving: DriveOptions = {
    ...options,
    finished: status === 'closed',
    // There is nothing of it to give away.
    ...(status === 'closed' ? { detach: false } : {}),
    // It is known from its beginning whether workers have it, and whether anybody is asked then.
    far: retinue.engine === 'dbos' && given !== null,
    asked_elsewhere: given?.asks === true,
    ...(run.plan ? planDriving(retinue, { ...options, as: await optionsOfRun(retinue, run) }) : {}),
  }
  return drive(retinue, driving, (watching) => retinue.resume(run_id, watching))
}

async function held(retinue: Retinue, run_id: string): Promise<RetinueError> {
  const see = `See it with: retinue watch ${run_id}`
  if (!(await givenToWorkers(retinue.store, run_id))) {
    return new RetinueError('held', `Run ${run_id} is being worked on by another process. ${see}`)
  }
  const missing = await missingFor(retinue, run_id)
  const then = missing === null ? see : `${missing}. ${see}`
  return new RetinueError(
    'held',
    `Run ${run_id} was given to the workers, and they go on with it by themselves. ${then}`,
  )
}
