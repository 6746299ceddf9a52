import { type ControlEvent, CorruptLogError, type NewControlEvent, parseControlEvent } from '../domain/index.js'
import { controlDigest } from './digest.js'

/** An event on its way into the control log: the payload is text, the very text the digest is taken over. */
export type ControlDraft = { type: string; version: number; at: number; data: string }

/** The same as a store keeps it. */
export type ControlRow = ControlDraft & { position: number; digest: string }

/** The last row of the control log; position 0 and no digest where there is none. */
export type ControlHead = { position: number; digest: string }

export const NO_CONTROL: ControlHead = { position: 0, digest: '' }

/**
 * At once and not in the transaction: the events are what they were when they were handed over. One that could not be
 * read again is thrown out at the door, because only a bug makes one.
 */
export function controlDrafts(events: readonly NewControlEvent[]): ControlDraft[] {
  return events.map(({ type, version, at, data }) => {
    const text = JSON.stringify(data)
    if (parseControlEvent(type, version, at, JSON.parse(text))) return { type, version, at, data: text }
    throw new Error(
      `${type} of version ${version} is not known to the control log, or its payload is not what one has.`,
    )
  })
}

/** Puts drafts after what is there, each chained to the one before it. */
export function controlRows(head: ControlHead, drafts: readonly ControlDraft[]): ControlRow[] {
  let { digest } = head
  return drafts.map((draft, i) => {
    digest = controlDigest(digest, draft, draft.data)
    return { ...draft, position: head.position + i + 1, digest }
  })
}

export function controlEventOf({ type, version, at, data, position, digest }: ControlRow): ControlEvent {
  const event = parseControlEvent(type, version, at, payload(position, type, data))
  if (event) return { ...event, position, digest }
  throw new CorruptLogError(
    'bad_payload',
    { position },
    `${type} of version ${version} is not known, or its payload is not what one has`,
  )
}

function payload(position: number, type: string, data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw new CorruptLogError('bad_payload', { position }, `${type}: the payload is not JSON`)
  }
}

type ControlTampering = { position: number; message: string }

/**
 * Recomputes the chain from the stored text and names the first row that does not fit, then a head that does not fit
 * the last row: without it nobody would miss a cut end. Rows come in the order of their positions.
 */
export function findControlTampering(rows: Iterable<ControlRow>, head: ControlHead | null): ControlTampering | null {
  const check = new ControlCheck()
  for (const row of rows) {
    const found = check.row(row)
    if (found) return found
  }
  return check.end(head)
}

/** The same for rows that come one by one. */
export class ControlCheck {
  #end = NO_CONTROL

  row({ position, digest, ...draft }: ControlRow): ControlTampering | null {
    if (position !== this.#end.position + 1) {
      return { position, message: `the event at position ${this.#end.position + 1} is missing before it` }
    }
    const made = controlDigest(this.#end.digest, draft, draft.data)
    if (made !== digest) return { position, message: `the digest is ${digest}, but the content makes it ${made}` }
    this.#end = { position, digest }
    return null
  }

  end(head: ControlHead | null): ControlTampering | null {
    const end = this.#end
    if (!head) return { position: end.position, message: 'the control log has no head' }
    if (head.position !== end.position) {
      const message = `the control log ends at position ${end.position}, but its head says ${head.position}`
      return { position: head.position, message }
    }
    if (head.digest === end.digest) return null
    return { position: end.position, message: 'the head of the control log does not fit its last event' }
  }
}
