import type { Failure, ModelFault } from '../domain/index.js'

/** Faults after which the same request may well succeed. */
const RETRYABLE: ReadonlySet<ModelFault> = new Set(['rate_limited', 'overloaded', 'network', 'bad_output'])

/** Whether what ended an agent, by its name, may be gone the next time. */
export function isPassing(cause: string | null): boolean {
  return cause !== null && RETRYABLE.has(cause as ModelFault)
}

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000

export type Retry = { again: true; not_before: number } | { again: false }

/**
 * Whether and when a failed model call is made again. The delay doubles; what the provider asks for is honoured when
 * it is longer. Counted from the failure, so that a resumed run does not wait a second time.
 */
export function retryAfter(failure: Failure, max_attempts: number): Retry {
  if (failure.code === 'interrupted') return { again: true, not_before: failure.at }
  if (!RETRYABLE.has(failure.code) || failure.attempt >= max_attempts) return { again: false }
  const backoff = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failure.attempt - 1))
  return { again: true, not_before: failure.at + Math.max(backoff, failure.retry_after_ms ?? 0) }
}
