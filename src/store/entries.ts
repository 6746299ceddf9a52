import { type NewEvent, type Projection, project, type StoredEvent } from '../domain/index.js'
import { eventDigest } from './digest.js'
import type { Append } from './store.js'

/** One event of a batch on its way into the log. */
export type Entry = { event: NewEvent; text: string; projection: Projection; digest: string }

/** At once and not in the transaction: the events are what they were when they were handed over. */
export function entriesOf(batch: Append): Entry[] {
  return batch.events.map((event) => ({
    event,
    text: JSON.stringify(event.data),
    projection: project(event, batch.agent_id),
    digest: '',
  }))
}

/** Chains the entries to the digest before them; answers with that of the last. */
export function chainEntries(previous: string, batch: Append, entries: readonly Entry[]): string {
  let digest = previous
  for (const entry of entries) {
    digest = eventDigest(digest, batch, entry.event, entry.text)
    entry.digest = digest
  }
  return digest
}

export function storedEvent(batch: Append, { event, digest }: Entry, seq: number, position: number): StoredEvent {
  const { run_id, agent_id } = batch
  const { type, version, at, data } = event
  // Field by field: a spread of the event takes as long as a statement.
  return { type, version, at, data, run_id, agent_id, seq, position, digest } as StoredEvent
}
