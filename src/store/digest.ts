import { hash } from 'node:crypto'

/**
 * The digest of an event, chained to the one before it in the agent's stream ('' for the first) and bound to that
 * stream. It is taken over the payload's text as it is stored, so that no reader has to bring JSON into a canonical
 * form to check it.
 */
export function eventDigest(
  previous: string,
  stream: { run_id: string; agent_id: string },
  event: { type: string; version: number; at: number },
  data: string,
): string {
  const { run_id, agent_id } = stream
  const { type, version, at } = event
  return hash('sha256', `${previous}\n${run_id}\n${agent_id}\n${type}\n${version}\n${at}\n${data}`)
}

/** The same for the control log, which is one stream, and of no run. */
export function controlDigest(
  previous: string,
  event: { type: string; version: number; at: number },
  data: string,
): string {
  return eventDigest(previous, { run_id: '', agent_id: '' }, event, data)
}

/** The name under which bytes are stored. */
export function blobDigest(bytes: Uint8Array | string): string {
  return hash('sha256', bytes)
}
