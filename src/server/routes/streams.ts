import { setImmediate } from 'node:timers/promises'
import type { Store, StoredEvent } from '../../index.js'

/** So many events are read at once, and so many characters are kept of all streams together. */
const PAGE = 100
const MOST_KEPT_CHARS = 16_000_000

type Stream = { events: readonly StoredEvent[]; chars: number }

/** Streams of agents that were asked for lately: of a long one only what is new is read again. */
export class Streams {
  readonly #kept = new Map<string, Stream>()
  #chars = 0

  async read(store: Store, run_id: string, agent_id: string): Promise<readonly StoredEvent[]> {
    const key = `${run_id} ${agent_id}`
    const before = this.#kept.get(key)
    const events = [...(before?.events ?? [])]
    let chars = before?.chars ?? 0
    for (;;) {
      const page = await store.read({ run_id, agent_id, after_seq: events.at(-1)?.seq ?? 0, limit: PAGE })
      events.push(...page)
      chars += JSON.stringify(page).length
      if (page.length < PAGE) break
      await setImmediate()
    }
    this.#forget(key)
    if (chars <= MOST_KEPT_CHARS) this.#keep(key, { events, chars })
    return events
  }

  #keep(key: string, stream: Stream): void {
    this.#kept.set(key, stream)
    this.#chars += stream.chars
    // The ones that were asked for longest ago.
    for (const oldest of this.#kept.keys()) {
      if (this.#chars <= MOST_KEPT_CHARS) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    this.#chars -= this.#kept.get(key)?.chars ?? 0
    this.#kept.delete(key)
  }
}
