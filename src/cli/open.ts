import { resolve } from 'node:path'
import { openRetinue, type Retinue } from '../index.js'

export type StoreOptions = { cwd?: string; store?: string }

/** Opens the folder that the options name, does something with it, and closes it whatever happens. */
export async function withRetinue<T>(options: StoreOptions, work: (retinue: Retinue) => Promise<T>): Promise<T> {
  const cwd = resolve(options.cwd ?? '.')
  const store = options.store === undefined ? {} : { store: resolve(options.store) }
  const retinue = await openRetinue({ cwd, env: process.env, ...store })
  try {
    return await work(retinue)
  } finally {
    await retinue.close()
  }
}
