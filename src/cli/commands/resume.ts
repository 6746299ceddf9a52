import type { Retinue } from '../../index.js'
import { type DriveOptions, drive } from '../drive.js'
import { type StoreOptions, withRetinue } from '../open.js'

export async function resume(id: string, options: StoreOptions & DriveOptions): Promise<number> {
  return withRetinue(options, async (retinue) => resumeRun(retinue, (await retinue.find(id)).run_id, options))
}

export function resumeRun(retinue: Retinue, run_id: string, options: DriveOptions): Promise<number> {
  return drive(options, (watching) => retinue.resume(run_id, watching))
}
