import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Retinue, RetinueError } from '../index.js'
import { absolute } from './open.js'

export type ScriptFile = {
  /** Writes the script of a run, or takes the file away again where no run was started. Says what went wrong, or null. */
  finish: (retinue: Retinue, run_id: string | null) => Promise<string | null>
}

/** A file for a run's script. That it can be written is found out before the run, not after it. */
export function openScriptFile(path: string): ScriptFile {
  const file = absolute(path)
  let isNew: boolean
  try {
    isNew = prepare(file)
  } catch (error) {
    throw new RetinueError('input', `Cannot record to ${file}: ${(error as Error).message}`)
  }
  return {
    finish: async (retinue, run_id) => {
      try {
        // A run that could not even be started has nothing to record.
        if (run_id === null || (await retinue.store.run(run_id)) === null) {
          if (isNew) rmSync(file, { force: true })
          return null
        }
        await writeFile(file, await retinue.script(run_id))
        return null
      } catch (error) {
        return `Cannot record to ${file}: ${(error as Error).message}`
      }
    },
  }
}

/** Opens the file without changing what is in it. Whether it was made by that. */
function prepare(file: string): boolean {
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`the folder ${dirname(file)} does not exist`)
  }
  const there = statSync(file, { throwIfNoEntry: false })
  if (there?.isDirectory()) throw new Error('it is a folder')
  // Who reads from a pipe would take the closing for the end.
  if (there && !there.isFile()) return false
  closeSync(openSync(file, 'a'))
  if (there && there.size > 0 && !readFileSync(file, 'utf8').startsWith('# Recorded from run ')) {
    throw new Error('it holds something else than a recording; name another file')
  }
  return there === undefined
}
