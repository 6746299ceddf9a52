import type { Store, StoredEvent } from '../../index.js'

export type EventQuery = { run_id: string; agent_id?: string; after: number; limit: number }

/** Events after a position, and whether there are more. */
export async function page(store: Store, query: EventQuery): Promise<{ events: StoredEvent[]; more: boolean }> {
  const read = await store.read({ ...query, limit: query.limit + 1 })
  return { events: read.slice(0, query.limit), more: read.length > query.limit }
}
