import { resolve } from 'node:path'
import { openRetinue, type Retinue, RetinueError } from '../index.js'

export type StoreOptions = { cwd?: string; store?: string }

/** How many agents this process works on at once: nothing of a run's, so a resumed one takes it too. */
export type WorkOptions = StoreOptions & { maxConcurrent?: number }

/** A path as it was given on the command line, absolute. */
export function absolute(path: string): string {
  try {
    return resolve(path)
  } catch {
    // Only the current folder can fail here: it was removed under us.
    throw new RetinueError('input', 'The current folder does not exist any more: go to another one, or use --cwd')
  }
}

/** Where the options say to work and to keep the log. */
export function placeOf({ cwd, store }: StoreOptions): { cwd: string; store?: string } {
  return { cwd: absolute(cwd ?? '.'), ...(store === undefined ? {} : { store: absolute(store) }) }
}

/** Opens the folder that the options name, does something with it, and closes it whatever happens. */
export async function withRetinue<T>(options: WorkOptions, work: (retinue: Retinue) => Promise<T>): Promise<T> {
  const { maxConcurrent: max_concurrent } = options
  const limit = max_concurrent === undefined ? {} : { max_concurrent }
  const retinue = await openRetinue({ ...placeOf(options), env: process.env, ...limit })
  try {
    return await work(retinue)
  } finally {
    await retinue.close()
  }
}
