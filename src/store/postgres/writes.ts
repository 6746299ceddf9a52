import { storeClosed } from '../refusals.js'
import type { Appends } from './append.js'

/**
 * Every write that is no append, one after the other in the order in which they were asked for, each after the appends
 * that were asked for before it: a lease that is let go is let go after the last event under it.
 */
export class Writes {
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(readonly appends: Appends) {}

  add<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(storeClosed())
    const before = this.appends.settled()
    const done = this.#last.then(() => before).then(work)
    this.#last = done.catch(() => {})
    return done
  }

  /** Takes nothing more; answers when what was taken is settled. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
  }
}
