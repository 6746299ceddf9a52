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
  const check = new RunCheck()
  for (const row of rows) {
    const found = check.row(row)
    if (found) return found
  }
  return check.end(heads, last_position)
}

/** The same for rows that come one by one. */
export class RunCheck {
  readonly #ends = new Map<string, { seq: number; digest: string }>()
  #position = 0

  row(row: EventRow): Tampering | null {
    const end = this.#ends.get(row.agent_id) ?? { seq: 0, digest: '' }
    const message = misfit(row, this.#position, end)
    if (message) return { agent_id: row.agent_id, seq: row.seq, position: row.position, message }
    this.#ends.set(row.agent_id, { seq: row.seq, digest: row.digest })
    this.#position = row.position
    return null
  }

  end(heads: Iterable<Head>, last_position: number): Tampering | null {
    const position = this.#position
    for (const head of heads) {
      const end = this.#ends.get(head.agent_id) ?? { seq: 0, digest: '' }
      this.#ends.delete(head.agent_id)
      if (head.seq === end.seq && head.digest === end.digest) continue
      const message =
        head.seq === end.seq
          ? `the head of the stream does not fit its last event, ${end.seq}`
          : `the stream ends with event ${end.seq}, but its head says ${head.seq}`
      return { agent_id: head.agent_id, seq: head.seq, position, message }
    }
    for (const [agent_id, { seq }] of this.#ends) {
      return { agent_id, seq, position, message: 'the stream has events, but no head' }
    }
    if (position === last_position) return null
    const message = `the run ends at position ${position}, but its row says ${last_position}`
    return { agent_id: '', seq: 0, position: last_position, message }
  }
}

function misfit(row: EventRow, position: number, end: { seq: number; digest: string }): string | null {
  if (row.position !== position + 1) return `the event at position ${position + 1} is missing before it`
  if (row.seq !== end.seq + 1) return `event ${row.seq} of the stream follows event ${end.seq}`
  const digest = eventDigest(end.digest, row, row, row.data)
  return digest === row.digest ? null : `the digest is ${row.digest}, but the content makes it ${digest}`
}
