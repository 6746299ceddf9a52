import { BASE64 } from './encodings.js'

const GAP = 1
const NEITHER = 0

/** One byte for several that mean the same: both alphabets of base64 are one. */
export const NORMAL = Uint8Array.from({ length: 256 }, (_, code) => (code === 45 ? 43 : code === 95 ? 47 : code))

const SYMBOLS = table((character) => {
  if (BASE64.includes(character) || character === '-' || character === '_') return 2
  return '\t\n\r "\'\\,>'.includes(character) ? GAP : NEITHER
})

const DIGITS = table((character) => {
  if (/[0-9a-fA-F]/.test(character)) return 2
  return '\t\n\r "\'\\,:;-_%=.|&#$[]{}()xX'.includes(character) ? GAP : NEITHER
})

function table(kind: (character: string) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (code < 128 ? kind(String.fromCharCode(code)) : NEITHER))
}

/** The base64 symbol at a place, in the standard alphabet; 1 for a gap, 0 for the end of the text in base64. */
export function symbolAt(codes: Uint8Array, at: number): number {
  const code = codes[at] as number
  const kind = SYMBOLS[code] as number
  return kind === 2 ? (NORMAL[code] as number) : kind
}

/** The digit at a place, in lower case; 1 for a gap (the zero of `0x` is in one), 0 for the end of the digits. */
export function digitAt(codes: Uint8Array, at: number): number {
  const code = codes[at] as number
  if (code === 48 && ((codes[at + 1] as number) | 32) === 120) return GAP
  const kind = DIGITS[code] as number
  return kind === 2 ? code | 32 : kind
}

/** How many characters that are none of its own an encoded text may have between two of them. */
export const LONGEST_GAP = 48
