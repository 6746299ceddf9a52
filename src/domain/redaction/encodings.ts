/** Encodings by hand: this room knows no Node, and needs the bits rather than the texts. */

export function utf8(text: string): number[] {
  const bytes: number[] = []
  for (const character of text) pushUtf8(bytes, character.codePointAt(0) ?? 0)
  return bytes
}

function pushUtf8(bytes: number[], code: number): void {
  if (code < 0x80) bytes.push(code)
  else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(code))
  else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(code >> 6), tail(code))
  else bytes.push(0xf0 | (code >> 18), tail(code >> 12), tail(code >> 6), tail(code))
}

function tail(bits: number): number {
  return 0x80 | (bits & 0x3f)
}

export function utf16(text: string): number[] {
  return [...text].flatMap((character) =>
    [...Array(character.length).keys()].flatMap((i) => [character.charCodeAt(i) & 0xff, character.charCodeAt(i) >> 8]),
  )
}

export function textOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

export const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
export const BASE64_URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The part of a base64 text that depends on these bytes alone, when `before` bytes (0 to 2) stand before them. */
export function base64Core(bytes: readonly number[], before: number): { symbols: number[]; ragged: boolean } {
  const symbols: number[] = []
  const bits = (before + bytes.length) * 8
  for (let at = Math.ceil((before * 8) / 6) * 6; at + 6 <= bits; at += 6) {
    const byte = (at >> 3) - before
    const pair = ((bytes[byte] ?? 0) << 8) | (bytes[byte + 1] ?? 0)
    symbols.push((pair >> (10 - (at & 7))) & 0x3f)
  }
  return { symbols, ragged: bits % 6 !== 0 }
}

export function hexText(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
  })
}

export function reversed(text: string): string {
  return [...text].reverse().join('')
}
