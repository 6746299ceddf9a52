import { BASE64, BASE64_URL, base64Core, hexText, reversed, rot13, textOf, utf8, utf16 } from './encodings.js'

/** How a text is compared with a needle: byte by byte, as base64 symbols, as hexadecimal digits. */
export const PLAIN = 0
export const SYMBOLS = 1
export const DIGITS = 2
export type View = typeof PLAIN | typeof SYMBOLS | typeof DIGITS

/** One thing to look for. */
export type Needle = {
  secret: number
  view: View
  /** As text: bytes, symbols of the standard alphabet, digits in lower case. */
  codes: Uint8Array
  /** How many of the codes in a row count as the whole, wherever they begin. As many as there are: only the whole. */
  least: number
  /** The base64 symbol after it is partly made of it too. */
  ragged: boolean
  /** Digits may be set apart from each other. */
  apart: boolean
  /** Where the text under way was last found to be it. */
  covered_from: number
  covered: number
}

/** A line of a secret that counts by itself. */
const LEAST_LINE = 16
/** Above this, forms on top of forms are not looked for. */
const LONGEST_TWICE = 4096

/** Below how many codes only the whole counts. From there on half of it does: at least so many, and so many always. */
const PART: Record<View, { from: number; least: number; always: number }> = {
  [PLAIN]: { from: 32, least: 24, always: 64 },
  [SYMBOLS]: { from: 44, least: 32, always: 86 },
  [DIGITS]: { from: 64, least: 48, always: 128 },
}

/** No needle is shorter: see how the scan looks for them. */
export const SHORTEST_NEEDLE = 6

/**
 * Everything that a secret can look like in a text whose escapes have been undone. `undone`: the secret itself, where
 * it has something in it that will be taken for an escape.
 */
export function needlesOf(secret: number, value: string, undone: readonly Uint8Array[]): Needle[] {
  const needles: Needle[] = []
  const add = (view: View, codes: readonly number[], parts: boolean, ragged = false) => {
    if (codes.length < SHORTEST_NEEDLE) return
    const { from, least, always } = PART[view]
    const half = Math.min(always, Math.max(least, Math.ceil(codes.length / 2)))
    const enough = parts && codes.length >= from ? half : codes.length
    needles.push({
      secret,
      view,
      codes: Uint8Array.from(codes),
      least: enough,
      ragged,
      apart: parts && view === DIGITS,
      covered_from: 0,
      covered: 0,
    })
  }
  const addBytes = (bytes: readonly number[], parts = false) => {
    for (const shift of [0, 1, 2]) {
      const { symbols, ragged } = base64Core(bytes, shift)
      add(SYMBOLS, utf8(symbols.map((symbol) => BASE64[symbol]).join('')), parts, ragged)
    }
    add(DIGITS, utf8(hexText(bytes)), parts)
  }
  for (const text of spellings(value)) {
    add(PLAIN, utf8(text), true)
    add(PLAIN, utf8(reversed(text)), false)
    if (rot13(text) !== text) add(PLAIN, utf8(rot13(text)), false)
    addBytes(utf8(text), true)
    addBytes(utf16(text))
    for (const inside of escaped(text)) addBytes(utf8(inside))
    if (text.length <= LONGEST_TWICE) for (const inside of encoded(utf8(text))) addBytes(utf8(inside))
  }
  for (const bytes of undone) add(PLAIN, [...bytes], true)
  for (const line of linesOf(value)) {
    add(PLAIN, utf8(line), true)
    addBytes(utf8(line))
  }
  return needles
}

/** The same value with the line ends of other systems, and without the escapes that made one line of it. */
function spellings(value: string): Set<string> {
  const all = new Set([value])
  if (value.includes('\\n')) all.add(value.replaceAll('\\n', '\n').trim())
  for (const text of [...all]) if (/[^\r]\n/.test(text)) all.add(text.replace(/\r?\n/g, '\r\n'))
  return all
}

function linesOf(value: string): Set<string> {
  const lines = [...spellings(value)].flatMap((text) => text.split(/\r?\n/)).map((line) => line.trim())
  if (lines.length === 1) return new Set()
  return new Set(lines.filter((line) => line.length >= LEAST_LINE && !line.startsWith('-----') && line !== value))
}

/** Escaped forms that are encoded as they are: a JSON text or a form's field in base64. */
function escaped(text: string): Set<string> {
  const json = JSON.stringify(text).slice(1, -1)
  const forms = new Set([json, encodeURIComponent(text.replace(/\p{Surrogate}/gu, ''))])
  forms.delete(text)
  return forms
}

/** Encoded forms that are encoded once more. */
function encoded(bytes: readonly number[]): Set<string> {
  const forms = new Set([hexText(bytes), hexText(bytes).toUpperCase()])
  for (const shift of [0, 1, 2]) {
    const { symbols } = base64Core(bytes, shift)
    for (const alphabet of [BASE64, BASE64_URL]) forms.add(symbols.map((symbol) => alphabet[symbol]).join(''))
  }
  return forms
}

/** How digits are set apart: so many together, and what stands between. */
const LAYOUTS: readonly [number, string][] = [
  ...[' ', '  ', ':', '-', ',', ', ', '\\x', ',0x', ', 0x', ' 0x', '%', '=', '\n'].map((apart): [number, string] => [
    2,
    apart,
  ]),
  [4, ' '],
  [8, ' '],
]

/** How a needle of digits may begin in a text: in both cases, with nothing or something between the digits. */
export function layoutsOf(needle: Needle): string[] {
  const lower = textOf(needle.codes.subarray(0, 16))
  const cases = [lower, lower.toUpperCase()]
  if (!needle.apart) return cases
  return cases.flatMap((digits) => [digits, ...LAYOUTS.map(([size, between]) => inGroups(digits, size).join(between))])
}

function inGroups(digits: string, size: number): string[] {
  return Array.from({ length: Math.ceil(digits.length / size) }, (_, i) => digits.slice(i * size, (i + 1) * size))
}
