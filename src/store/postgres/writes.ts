import { storeClosed } from '../refusals.js'
import type { Appends } from './append.js'

/** Every write that is no append. */
export class Writes {
  #last: Promise<unknown> = Promise.resolve()
  readonly #taken = new Set<Promise<unknown>>()
  #closed = false

  constructor(readonly appends: Appends) {}

  /**
   * One after the other in the order in which they were asked for, each after the appends that were asked for before
   * it, and not after those that came later: a lease that is let go is let go after the last event under it.
   */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    return this.#take(() => this.#ordered(work))
  }

  /** Of one agent: after what is large and was asked for by it, too, which can take long and nobody else waits for. */
  inOrderOf<T>(agent: { run_id: string; agent_id: string }, work: () => Promise<T>): Promise<T> {
    const carried = this.appends.carried(agent)
    return carried ? this.#take(() => carried.then(() => this.#ordered(work))) : this.inOrder(work)
  }

  /** For one that needs no order, and must not come late: it waits for nobody. */
  atOnce<T>(work: () => Promise<T>): Promise<T> {
    return this.#take(work)
  }

  #ordered<T>(work: () => Promise<T>): Promise<T> {
    const done = Promise.all([this.#last, this.appends.settled()]).then(work)
    this.#last = done.catch(() => {})
    return done
  }

  async #take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw storeClosed()
    const done = work()
    this.#taken.add(done)
    try {
      return await done
    } finally {
      this.#taken.delete(done)
    }
  }

  /** Takes nothing more; answers when what was taken is settled. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#taken)
  }
}
