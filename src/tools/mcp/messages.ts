import { createStringCutter } from './cut-strings.js'

export type MessageBounds = {
  /** A message that is longer ends the connection. */
  max_message_bytes: number
  /** A string in a message that is longer is cut. */
  max_string_bytes: number
}

const NEWLINE = 0x0a

/**
 * Takes the messages out of what a server writes: one JSON text a line. False when a line has become too long; then
 * nothing more may come.
 */
export function createMessageReader(
  bounds: MessageBounds,
  onMessage: (json: unknown) => void,
  onNoise: (line: string) => void,
): (chunk: Uint8Array) => boolean {
  const cut = createStringCutter(bounds.max_string_bytes)
  let decoder = new TextDecoder()
  let line = ''
  let bytes = 0

  const take = () => {
    const text = (line + decoder.decode()).trim()
    line = ''
    decoder = new TextDecoder()
    if (text === '') return
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      onNoise(text)
      return
    }
    // Some servers send several messages as one list.
    for (const message of Array.isArray(json) ? json : [json]) onMessage(message)
  }

  return (chunk) => {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, from)
      const to = end < 0 ? chunk.length : end + 1
      bytes += to - from
      if (bytes > bounds.max_message_bytes) return false
      for (const part of cut(chunk.subarray(from, to))) line += decoder.decode(part, { stream: true })
      from = to
      if (end < 0) continue
      bytes = 0
      take()
    }
    return true
  }
}
