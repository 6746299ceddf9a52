import { type StoredEvent, summarize } from './events.js'

/**
 * An event as it is sent to those who watch a run from afar: what it says in a line, and its long texts cut short. It is
 * an event all the same, so that whatever is made of a log can be made of these. `cut`: the log has more of it.
 */
export type WatchedEvent = StoredEvent & { summary: string; cut: boolean }

/** So much of a text is sent. */
const MOST_CHARS = 1_000
/** So many of a list. */
const MOST_ENTRIES = 200

export function watched(event: StoredEvent): WatchedEvent {
  const shortener = { cut: false }
  const data = shortened(event.data, shortener)
  return { ...event, data, summary: summarize(event), cut: shortener.cut } as WatchedEvent
}

function shortened(value: unknown, shortener: { cut: boolean }): unknown {
  if (typeof value === 'string') {
    if (value.length <= MOST_CHARS) return value
    shortener.cut = true
    return `${value.slice(0, MOST_CHARS)}…`
  }
  if (Array.isArray(value)) {
    if (value.length > MOST_ENTRIES) shortener.cut = true
    return value.slice(0, MOST_ENTRIES).map((entry) => shortened(entry, shortener))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shortened(entry, shortener)]))
}
