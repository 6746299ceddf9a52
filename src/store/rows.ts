import { CorruptLogError, parseEvent, type StoredEvent } from '../domain/index.js'
import { blobDigest } from './digest.js'

/** An event as a store keeps it: the payload is text, the very text the digest was taken over. */
export type EventRow = {
  run_id: string
  agent_id: string
  seq: number
  position: number
  type: string
  version: number
  at: number
  data: string
  digest: string
}

export function eventOf(row: EventRow): StoredEvent {
  const { run_id, agent_id, seq, position, digest } = row
  const parsed = parseEvent(row.type, row.version, row.at, payload(row))
  if (!parsed.ok) throw new CorruptLogError(parsed.reason, { run_id, agent_id, seq }, parsed.message)
  return { ...parsed.event, run_id, agent_id, seq, position, digest }
}

function payload({ run_id, agent_id, seq, type, data }: EventRow): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw new CorruptLogError('bad_payload', { run_id, agent_id, seq }, `${type}: the payload is not JSON`)
  }
}

/** Bytes that no longer fit their name must not reach a model as if they were what an agent saw. */
export function checkedBlob(digest: string, bytes: Uint8Array): Uint8Array {
  const found = blobDigest(bytes)
  if (found === digest) return bytes
  throw new Error(
    `The stored blob ${digest} was changed: its bytes have the digest ${found}. Restore it from a backup.`,
  )
}
