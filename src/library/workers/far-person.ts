import type { Person } from '../../runtime/index.js'

/** Whoever sits in front of a run elsewhere: the answers come through the log. */
export const FAR_PERSON: Person = {
  permit: (_, signal) => untilAborted(signal),
  answer: (_, signal) => untilAborted(signal),
  approve: (_, signal) => untilAborted(signal),
}

function untilAborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null)
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }))
}
