import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Does something of DBOS that writes to stdout and cannot be told not to: that is for answers. What others write
 * meanwhile is written.
 */
export async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const within = new AsyncLocalStorage<true>()
  const { log } = console
  const filtered = (...said: unknown[]) => {
    if (!within.getStore()) log.apply(console, said)
  }
  console.log = filtered
  try {
    return await within.run(true, work)
  } finally {
    // Another may have begun meanwhile, and hands on to this one.
    if (console.log === filtered) console.log = log
  }
}
