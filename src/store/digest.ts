import { hash } from 'node:crypto'

/**
 * The digest of an event, chained to the one before it in the agent's stream ('' for the first). It is taken over
 * the payload's text as it is stored, so that no reader has to bring JSON into a canonical form to check it.
 */
export function eventDigest(previous: string, type: string, version: number, at: number, data: string): string {
  return hash('sha256', `${previous}\n${type}\n${version}\n${at}\n${data}`)
}

/** The name under which bytes are stored. */
export function blobDigest(bytes: Uint8Array | string): string {
  return hash('sha256', bytes)
}
