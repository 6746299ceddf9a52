import { LONGEST_GAP, NORMAL, symbolAt } from './alphabet.js'
import { DIGITS, type Needle, PLAIN, SYMBOLS, type View } from './forms.js'
import { type Entry, GRAM, gramAt, indexNeedles, MULTIPLIER, STRIDE } from './grams.js'
import { follow, previous, type Walk } from './walk.js'

/** Where a secret stands, in places of what was scanned. */
export type Found = { start: number; end: number; secret: number }

/** A needle that an escape may have interrupted: to be tried again when the escapes are undone. */
export type Suspect = { needle: Needle; offset: number; at: number }

/** `open`: from where on the end of the text could be the beginning of a secret; -1 when it is none. */
export type Scanned = { found: Found[]; open: number; suspects: Suspect[] }

/** Places to look at, ascending; suspects of the layer before. */
export type Regions = { from: Int32Array; to: Int32Array; count: number; suspects: readonly Suspect[] }

/** Steps that comparing may take, per character and at least. Beyond, long beginnings of a secret count as the secret. */
const STEPS_PER_CODE = 16
const STEPS_AT_LEAST = 100_000
const LONG_BEGINNING = 64

/** An escape is at most this long. */
const ESCAPE_LENGTH = 12
const NEWLINE = 10

/**
 * One pass over a text that looks for all needles at once: every third place, four bytes are looked up in a table of
 * bits, and only where that says "perhaps" is anything compared. Time grows with the text and not with the number of
 * secrets.
 */
export function createScan(needles: readonly Needle[], isEscape: Uint8Array) {
  const { bits, shift, entries, beginnings } = indexNeedles(needles)
  const walk: Walk = { start: 0, offset: 0, count: 0, end: 0, stop: 0, ran_out: false }
  const touched: Needle[] = []
  const joined = new Uint8Array(2 * GRAM - 2)
  let found: Found[] = []
  let suspects: Suspect[] = []
  let open = -1
  let steps = 0
  let steps_allowed = 0

  function compare(codes: Uint8Array, length: number, at: number, candidates: readonly Entry[]): void {
    for (const { needle, offset, ahead } of candidates) tryOne(codes, length, at + ahead, needle, offset)
  }

  function tryOne(codes: Uint8Array, length: number, at: number, needle: Needle, offset: number): void {
    // Places inside one that was found add nothing but time.
    if (at >= needle.covered_from && at < needle.covered) return
    follow(codes, length, at, needle, offset, walk)
    steps += walk.count + 1
    const whole = needle.least === needle.codes.length
    if (walk.ran_out && (!whole || walk.offset === 0)) opensAt(walk.start)
    const least = steps > steps_allowed ? Math.min(needle.least, LONG_BEGINNING) : needle.least
    if (walk.count < least) {
      if (mayBeEscaped(codes, length, walk, isEscape)) suspects.push({ needle, offset, at })
      return
    }
    const end = needle.view === SYMBOLS ? raggedEnd(codes, length, walk, needle) : walk.end
    if (needle.covered === 0) touched.push(needle)
    needle.covered_from = walk.start
    needle.covered = walk.end
    found.push({ start: walk.start, end, secret: needle.secret })
    if (needle.view === SYMBOLS && end === length) opensAt(walk.start)
  }

  function opensAt(at: number): void {
    if (open < 0 || at < open) open = at
  }

  function scanPart(codes: Uint8Array, length: number, from: number, to: number): void {
    for (let i = from; i + GRAM <= to; i += STRIDE) {
      const gram =
        ((NORMAL[codes[i] as number] as number) << 24) |
        ((NORMAL[codes[i + 1] as number] as number) << 16) |
        ((NORMAL[codes[i + 2] as number] as number) << 8) |
        (NORMAL[codes[i + 3] as number] as number)
      const hash = Math.imul(gram, MULTIPLIER) >>> shift
      if (((bits[hash >>> 5] as number) & (1 << (hash & 31))) === 0) continue
      const candidates = entries.get(gram)
      if (candidates) compare(codes, length, i, candidates)
    }
    const part = codes.subarray(from, to)
    for (let i = part.indexOf(NEWLINE); i >= 0; i = part.indexOf(NEWLINE, i + 1)) scanBreak(codes, length, from + i)
  }

  /** A needle that is broken in two so close to its beginning that neither part has three grams. */
  function scanBreak(codes: Uint8Array, length: number, at: number): void {
    const places: number[] = []
    for (let i = previous(codes, at, SYMBOLS); i >= 0 && places.length < GRAM - 1; i = previous(codes, i, SYMBOLS)) {
      places.unshift(i)
    }
    const before = places.length
    if (before === 0) return
    for (let i = at + 1; i < length && i <= at + LONGEST_GAP && places.length < before + GRAM - 1; i++) {
      const code = symbolAt(codes, i)
      if (code > 1) places.push(i)
      else if (code === 0) break
    }
    for (let i = 0; i < places.length; i++) joined[i] = codes[places[i] as number] as number
    for (let first = 0; first < before && first + GRAM <= places.length; first++) {
      const candidates = entries.get(gramAt(joined, first))
      if (candidates) compare(codes, length, places[first] as number, candidates)
    }
  }

  /** What the last few bytes could go on to: those that no look was made at, and beginnings of grams. */
  function scanEnd(codes: Uint8Array, length: number, view: View): void {
    const tail: number[] = []
    const most = view === DIGITS ? 4 * GRAM : GRAM + STRIDE
    for (let at = previous(codes, length, view); at >= 0 && tail.length < most; at = previous(codes, at, view)) {
      tail.unshift(at)
    }
    tail.forEach((at, first) => {
      const some = tail.slice(first, first + GRAM)
      const gram = some.reduce((sum, place) => (sum << 8) | (NORMAL[codes[place] as number] as number), 0)
      if (some.length === GRAM) compare(codes, length, at, entries.get(gram) ?? [])
      else if (beginnings[some.length]?.has(gram)) opensAt(at)
    })
  }

  function start(length: number): void {
    found = []
    suspects = []
    open = -1
    steps = 0
    steps_allowed = STEPS_AT_LEAST + length * STEPS_PER_CODE
    for (const needle of touched) needle.covered = 0
    touched.length = 0
  }

  /** `regions`: only there. `may_go_on`: the text may have an end that is not here yet. */
  return (codes: Uint8Array, length: number, regions: Regions | null, may_go_on: boolean): Scanned => {
    start(length)
    if (regions === null) scanPart(codes, length, 0, length)
    else {
      for (let i = 0; i < regions.count; i++) {
        scanPart(codes, length, regions.from[i] as number, Math.min(length, regions.to[i] as number))
      }
      for (const { at, needle, offset } of regions.suspects) {
        if (at < length) tryOne(codes, length, at, needle, offset)
      }
    }
    if (may_go_on) {
      for (const view of [PLAIN, SYMBOLS, DIGITS] as const) scanEnd(codes, length, view)
      // A zero at the very end may be that of `0x`.
      if (codes[length - 1] === 48) scanEnd(codes, length - 1, DIGITS)
    }
    return { found, open: may_go_on ? open : -1, suspects }
  }
}

function mayBeEscaped(codes: Uint8Array, length: number, walk: Walk, isEscape: Uint8Array): boolean {
  const last = Math.min(length - 1, walk.stop)
  for (let i = Math.max(0, walk.start - ESCAPE_LENGTH); i <= last; i++) {
    if (isEscape[codes[i] as number] === 1) return true
  }
  return false
}

/** Where base64 ends with a symbol that is only partly made of the secret, and with padding. */
function raggedEnd(codes: Uint8Array, length: number, walk: Walk, needle: Needle): number {
  let { end } = walk
  if (walk.offset + walk.count < needle.codes.length) return end
  if (needle.ragged && end < length && symbolAt(codes, end) > 1) end++
  for (let n = 0; n < 2 && end < length && codes[end] === 61; n++) end++
  return end
}
