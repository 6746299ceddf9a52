import type { StoredEvent } from '../../domain/index.js'
import type { Followed } from '../follow.js'
import { Watchers } from '../watchers.js'
import type { Listener } from './listen.js'
import type { Reader } from './read.js'

const PAGE = 200

/** How often those who wait look without having been told, for a notification may be lost with its connection. */
const POLL_MS = 2000

/** Appends of this process wake at once, those of others by a notification. */
export class Following implements Followed {
  readonly page_size = PAGE
  readonly #watchers = new Watchers()
  #poll: NodeJS.Timeout | null = null
  #closed = false

  constructor(
    readonly reader: Reader,
    readonly listener: Listener,
  ) {}

  async page(run_id: string, after: number): Promise<StoredEvent[]> {
    return this.#unlessClosed([], () => this.reader.events({ run_id, after, limit: PAGE }))
  }

  async over(run_id: string): Promise<boolean> {
    return this.#unlessClosed(true, () => this.reader.isClosed(run_id))
  }

  watch(run_id: string, wake: () => void): () => void {
    const unwatch = this.#watchers.add(run_id, wake)
    if (!this.#closed) {
      this.#poll ??= setInterval(() => this.#watchers.wakeAll(), POLL_MS)
      this.listener.listen({
        told: (run_ids) => this.told(run_ids),
        // What was committed before it listened was told to nobody.
        listening: () => this.#watchers.wakeAll(),
      })
    }
    return () => {
      unwatch()
      if (this.#watchers.none) this.#stop()
    }
  }

  /** null: any run may have something new. */
  told(run_ids: readonly string[] | null): void {
    if (run_ids === null) this.#watchers.wakeAll()
    else for (const run_id of run_ids) this.#watchers.wake(run_id)
  }

  close(): void {
    this.#closed = true
    this.#watchers.wakeAll()
    this.#stop()
  }

  async #unlessClosed<T>(end: T, read: () => Promise<T>): Promise<T> {
    if (this.#closed) return end
    try {
      return await read()
    } catch (error) {
      if (this.#closed) return end
      throw error
    }
  }

  #stop(): void {
    if (this.#poll) clearInterval(this.#poll)
    this.#poll = null
  }
}
