import { createContext, Script } from 'node:vm'

/** On a machine that is too busy to do anything, all of them together may be too few. */
const MOST_ATTEMPTS = 5

export type WithinTime = <T>(ms: number, work: () => T) => { ok: true; value: T } | { ok: false }

/**
 * Runs what somebody else's data decides the length of, and gives up on it. Nothing else ends a regular expression
 * that has begun. What is thrown inside is thrown on.
 */
export function createWithinTime(): WithinTime {
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } })
  const script = new Script('work()')
  const attempt: WithinTime = (ms, work) => {
    context.work = work
    try {
      return { ok: true, value: script.runInContext(context, { timeout: ms }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { ok: false }
      throw error
    } finally {
      context.work = null
    }
  }
  return (ms, work) => {
    for (let left = MOST_ATTEMPTS; ; left--) {
      const before = process.cpuUsage()
      const done = attempt(ms, work)
      const { user, system } = process.cpuUsage(before)
      // The clock on the wall ran, but the machine did something else.
      const starved = (user + system) / 1000 < ms / 2
      if (done.ok || !starved || left === 1) return done
    }
  }
}
