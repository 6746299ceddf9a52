import { statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Retinue, RetinueError } from '../index.js'
import { absolute } from './open.js'

/** Writes a run's script to a file. That the file can be written is found out before the run, not after it. */
export function scriptFile(path: string): (retinue: Retinue, run_id: string) => Promise<void> {
  const file = absolute(path)
  const there = statSync(file, { throwIfNoEntry: false })
  if (there?.isDirectory()) throw new RetinueError('input', `Cannot record to ${file}: it is a folder`)
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) {
    throw new RetinueError('input', `Cannot record to ${file}: the folder ${dirname(file)} does not exist`)
  }
  return async (retinue, run_id) => {
    // A run that could not even be started has nothing to record.
    if ((await retinue.store.run(run_id)) === null) return
    try {
      await writeFile(file, await retinue.script(run_id))
    } catch (error) {
      throw new RetinueError('input', `Cannot record to ${file}: ${(error as Error).message}`)
    }
  }
}
