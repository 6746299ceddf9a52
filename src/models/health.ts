import type { ModelError } from './model.js'

/** Why a model is left alone for now. `left_ms` is Infinity where only a person can help. */
export type Pause = { code: ModelError['code']; message: string; left_ms: number }

/** How the members of pools fare, for the life of this process. */
export type Health = {
  pauseOf(model: string): Pause | null
  /** `started`: when the call that failed was begun. */
  failed(model: string, error: Pick<ModelError, 'code' | 'message' | 'retry_after_ms'>, started: number): void
  worked(model: string, started: number): void
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5 * 60_000
/** Timers may go off a little early. Whoever waited for the end of a pause must not be told to wait again. */
const SLACK_MS = 20

type State = { code: ModelError['code']; message: string; until: number; since: number; failures: number }

/** Faults of the model or the way to it. The others are about one request, and the next may fare better. */
const PAUSED: ReadonlySet<ModelError['code']> = new Set(['rate_limited', 'overloaded', 'network', 'auth'])

export function createHealth(now: () => number): Health {
  const states = new Map<string, State>()
  return {
    pauseOf(model) {
      const state = states.get(model)
      const left_ms = state ? state.until - now() : 0
      return state && left_ms > SLACK_MS ? { code: state.code, message: state.message, left_ms } : null
    },
    failed(model, { code, message, retry_after_ms }, started) {
      if (!PAUSED.has(code)) return
      const at = now()
      const known = states.get(model)
      if (known?.until === Number.POSITIVE_INFINITY) return
      // Calls that were under way together fail together: that is one failure, not many.
      const fresh = !known || started > known.since
      const failures = (known?.failures ?? 0) + (fresh ? 1 : 0)
      const until = code === 'auth' ? Number.POSITIVE_INFINITY : at + (retry_after_ms ?? pause(failures, at - started))
      if (!fresh && known.until > until) return
      states.set(model, { code, message, until, since: fresh ? at : known.since, failures })
    },
    worked(model, started) {
      const known = states.get(model)
      if (known && started > known.since && known.until !== Number.POSITIVE_INFINITY) states.delete(model)
    },
  }
}

/** Doubles from failure to failure. What took two minutes to fail is not worth another two for a while either. */
function pause(failures: number, took_ms: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS * 2 ** (failures - 1), took_ms))
}
