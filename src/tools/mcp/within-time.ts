import { createContext, Script } from 'node:vm'

export type WithinTime = <T>(ms: number, work: () => T) => { ok: true; value: T } | { ok: false }

/**
 * Runs what somebody else's data decides the length of, and gives up on it. Nothing else ends a regular expression
 * that has begun. What is thrown inside is thrown on.
 */
export function createWithinTime(): WithinTime {
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } })
  const script = new Script('work()')
  return (ms, work) => {
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
}
