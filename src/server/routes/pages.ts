import type { Store, StoredEvent } from '../../index.js'

export type EventQuery = { run_id: string; agent_id?: string; after: number; limit: number }

/** An answer has no more characters of events than this once it has one, and so many events are read at once. */
const MOST_CHARS = 4_000_000
const READ_AT_ONCE = 50

/** Events after a position, as they are shown, and whether there are more. */
export async function page<T>(
  store: Store,
  query: EventQuery,
  show: (event: StoredEvent) => T,
): Promise<{ events: T[]; more: boolean }> {
  const events: T[] = []
  let { after } = query
  for (let chars = 0; ; ) {
    const limit = Math.min(READ_AT_ONCE, query.limit - events.length + 1)
    const read = await store.read({ ...query, after, limit })
    for (const event of read) {
      const shown = show(event)
      chars += JSON.stringify(shown).length
      if (events.length === query.limit || (events.length > 0 && chars > MOST_CHARS)) return { events, more: true }
      events.push(shown)
      after = event.position
    }
    if (read.length < limit) return { events, more: false }
  }
}
