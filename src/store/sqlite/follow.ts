import type { Followed } from '../follow.js'
import { Watchers } from '../watchers.js'
import type { Reader } from './read.js'

const PAGE = 200

/** How often other processes' appends are looked for, while somebody waits for them. */
const POLL_MS = 50

/** Appends of this process wake at once, those of others when a poll sees that the file has changed. */
export class Following implements Followed {
  readonly page_size = PAGE
  readonly #watchers = new Watchers()
  #poll: NodeJS.Timeout | null = null
  #seen = -1
  #closed = false

  constructor(readonly reader: Reader) {}

  page(run_id: string, after: number) {
    return this.#closed ? [] : this.reader.events({ run_id, after, limit: PAGE })
  }

  over(run_id: string): boolean {
    return this.#closed || this.reader.isClosed(run_id)
  }

  watch(run_id: string, wake: () => void): () => void {
    const unwatch = this.#watchers.add(run_id, wake)
    this.#poll ??= setInterval(() => this.#look(), POLL_MS)
    return () => {
      unwatch()
      if (this.#watchers.none) this.#stop()
    }
  }

  appended(run_id: string): void {
    this.#watchers.wake(run_id)
  }

  close(): void {
    this.#closed = true
    this.#watchers.wakeAll()
    this.#stop()
  }

  /** What was seen last is older than any page somebody waits on, so that no change can fall between the two. */
  #look(): void {
    const version = this.reader.dataVersion()
    if (version === this.#seen) return
    this.#seen = version
    this.#watchers.wakeAll()
  }

  #stop(): void {
    if (this.#poll) clearInterval(this.#poll)
    this.#poll = null
  }
}
