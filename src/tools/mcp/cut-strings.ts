import { countInWords } from '../../domain/index.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const LETTER_U = 0x75

/** Where in an escape sequence: nowhere, behind its backslash, or with so many hexadecimal digits to come. */
const NO_ESCAPE = 0
const AFTER_BACKSLASH = -1
const HEX_DIGITS = 4

/** What stands at the end of a string that was shortened. */
export const CUT_NOTE = /\[… [\d,]+ bytes left out …\]$/

/**
 * Shortens long strings in a stream of JSON texts while it passes: whatever a server answers, no more of one string
 * than this is ever held. Bytes in, bytes out. A line break ends a string, because JSON has none inside of one.
 */
export function createStringCutter(max_bytes: number): (chunk: Uint8Array) => Uint8Array[] {
  let inString = false
  let length = 0
  let dropped = 0
  let escaped = NO_ESCAPE

  return (chunk) => {
    const kept: Uint8Array[] = []
    let from = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] as number
      if (!inString) {
        inString = byte === QUOTE
        length = 0
        continue
      }
      if (byte === NEWLINE || (byte === QUOTE && escaped === NO_ESCAPE)) {
        if (dropped > 0) {
          kept.push(Buffer.from(`[… ${countInWords(dropped)} bytes left out …]`))
          from = i
        }
        inString = false
        dropped = 0
        escaped = NO_ESCAPE
        continue
      }
      // Only between two characters, so that what is left is still JSON.
      if (dropped === 0 && length >= max_bytes && escaped === NO_ESCAPE && (byte & 0xc0) !== 0x80) {
        kept.push(chunk.subarray(from, i))
        dropped = 1
      } else if (dropped > 0) dropped++
      if (escaped === AFTER_BACKSLASH) escaped = byte === LETTER_U ? HEX_DIGITS : NO_ESCAPE
      else if (escaped > NO_ESCAPE) escaped--
      else if (byte === BACKSLASH) escaped = AFTER_BACKSLASH
      length++
    }
    if (dropped === 0) kept.push(chunk.subarray(from))
    return kept
  }
}
