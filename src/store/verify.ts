import { eventDigest } from './digest.js'
import type { EventRow } from './rows.js'
import type { Tampering } from './store.js'

export type Head = { agent_id: string; seq: number; digest: string }

/**
 * Recomputes every chain of a run from the stored text and names the first row, by position, that does not fit, then
 * a head that does not fit the last row of its stream. Rows come in the order of their positions.
 */
export function findTampering(
  rows: Iterable<EventRow>,
  heads: Iterable<Head>,
  last_position: number,
): Tampering | null {
  const ends = new Map<string, { seq: number; digest: string }>()
  let position = 0
  for (const row of rows) {
    const end = ends.get(row.agent_id) ?? { seq: 0, digest: '' }
    const message = misfit(row, position, end)
    if (message) return { agent_id: row.agent_id, seq: row.seq, position: row.position, message }
    ends.set(row.agent_id, { seq: row.seq, digest: row.digest })
    position = row.position
  }
  for (const head of heads) {
    const end = ends.get(head.agent_id) ?? { seq: 0, digest: '' }
    ends.delete(head.agent_id)
    if (head.seq === end.seq && head.digest === end.digest) continue
    const message =
      head.seq === end.seq
        ? `the head of the stream does not fit its last event, ${end.seq}`
        : `the stream ends with event ${end.seq}, but its head says ${head.seq}`
    return { agent_id: head.agent_id, seq: head.seq, position, message }
  }
  for (const [agent_id, { seq }] of ends) {
    return { agent_id, seq, position, message: 'the stream has events, but no head' }
  }
  if (position === last_position) return null
  const message = `the run ends at position ${position}, but its row says ${last_position}`
  return { agent_id: '', seq: 0, position: last_position, message }
}

function misfit(row: EventRow, position: number, end: { seq: number; digest: string }): string | null {
  if (row.position !== position + 1) return `the event at position ${position + 1} is missing before it`
  if (row.seq !== end.seq + 1) return `event ${row.seq} of the stream follows event ${end.seq}`
  const digest = eventDigest(end.digest, row, row, row.data)
  return digest === row.digest ? null : `the digest is ${row.digest}, but the content makes it ${digest}`
}
