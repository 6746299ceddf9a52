import { performance } from 'node:perf_hooks'
import type { Clock } from './host.js'

/** The longest time a Node timer can wait; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

export function createClock(): Clock {
  const base = Date.now() - performance.now()
  return {
    now: () => Math.floor(base + performance.now()),
    async sleep(ms, signal) {
      const until = performance.now() + ms
      // A timer may fire a little early, and cannot wait longer than LONGEST_TIMER_MS.
      for (let left = ms; left > 0 && !signal?.aborted; left = until - performance.now()) await wait(left, signal)
    },
  }
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(Math.ceil(ms), LONGEST_TIMER_MS))
    signal?.addEventListener('abort', done)
  })
}
