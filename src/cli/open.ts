import { resolve } from 'node:path'
import {
  isDatabaseUrl,
  type OpenOptions,
  openRetinue,
  type Retinue,
  RetinueError,
  storeAddressFault,
} from '../index.js'

export type StoreOptions = { cwd?: string; store?: string; engine?: 'local' | 'dbos' }

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
export function placeOf({ cwd, store, engine }: StoreOptions): Pick<OpenOptions, 'cwd' | 'store' | 'engine'> {
  return {
    cwd: absolute(cwd ?? '.'),
    ...(store === undefined ? {} : { store: storeAt(store) }),
    ...(engine === undefined ? {} : { engine }),
  }
}

function storeAt(store: string): string {
  const fault = storeAddressFault(store)
  if (fault !== null) throw new RetinueError('input', `--store: ${fault}`)
  return isDatabaseUrl(store) ? store : absolute(store)
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
