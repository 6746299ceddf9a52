import type { Store, StoredEvent } from '../../index.js'
import { breath } from './breath.js'

/** So many events are read at once, and so many are kept of all streams together. */
const PAGE = 500
const MOST_KEPT = 10_000

/** Streams of agents that were asked for lately: of a long one only what is new is read again. */
export class Streams {
  readonly #kept = new Map<string, readonly StoredEvent[]>()
  #events = 0

  async read(store: Store, run_id: string, agent_id: string): Promise<readonly StoredEvent[]> {
    const key = `${run_id} ${agent_id}`
    const events = [...(this.#kept.get(key) ?? [])]
    for (;;) {
      const page = await store.read({ run_id, agent_id, after: events.at(-1)?.position ?? 0, limit: PAGE })
      events.push(...page)
      if (page.length < PAGE) break
      await breath()
    }
    this.#forget(key)
    if (events.length <= MOST_KEPT) this.#keep(key, events)
    return events
  }

  #keep(key: string, events: readonly StoredEvent[]): void {
    this.#kept.set(key, events)
    this.#events += events.length
    // The ones that were asked for longest ago.
    for (const oldest of this.#kept.keys()) {
      if (this.#events <= MOST_KEPT) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    this.#events -= this.#kept.get(key)?.length ?? 0
    this.#kept.delete(key)
  }
}
