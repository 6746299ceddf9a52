import { NORMAL } from './alphabet.js'
import { DIGITS, layoutsOf, type Needle } from './forms.js'

/** Codes in a row that a look-up is made with. */
export const GRAM = 4
/** From one look-up to the next. A needle of six codes has three grams, and one of them is looked at. */
export const STRIDE = 3
/** Parts of long needles are indexed this far apart; with the stride of the text, every 21 codes both meet. */
const PART_STRIDE = 7

/** A needle, at which of its codes the gram stands that leads to it, and how far after the gram that code comes. */
export type Entry = { needle: Needle; offset: number; ahead: number }

/** All needles, found by four bytes in a row: a bit for "perhaps", then the list. */
export type Grams = {
  bits: Uint32Array
  shift: number
  entries: ReadonlyMap<number, readonly Entry[]>
  /** Beginnings of grams of one, two and three bytes: what the end of a piece of text could go on to. */
  beginnings: ReadonlySet<number>[]
}

export const MULTIPLIER = 0x9e3779b1

export function indexNeedles(needles: readonly Needle[]): Grams {
  const entries = new Map<number, Entry[]>()
  const beginnings = [0, 1, 2, 3].map(() => new Set<number>())
  const add = (gram: number, entry: Entry) => {
    const list = entries.get(gram)
    if (!list) entries.set(gram, [entry])
    else if (mayJoin(list, entry)) list.push(entry)
    for (let n = 1; n < GRAM; n++) beginnings[n]?.add(gram >>> (32 - 8 * n))
  }
  for (const needle of needles) {
    const { codes, least } = needle
    const last = codes.length - GRAM
    for (let offset = 0; offset < STRIDE; offset++) add(gramAt(codes, offset), { needle, offset, ahead: 0 })
    const until = least < codes.length ? last : 0
    for (let offset = PART_STRIDE; offset <= until; offset += PART_STRIDE) {
      add(gramAt(codes, offset), { needle, offset, ahead: 0 })
    }
    if (needle.view === DIGITS) for (const text of layoutsOf(needle)) addLayout(needle, text, add)
  }
  // Sparse, so that nearly every place without a secret is passed by with one look.
  const log2 = Math.min(22, Math.max(15, Math.ceil(Math.log2(entries.size * 32 + 1))))
  const bits = new Uint32Array(2 ** (log2 - 5))
  const shift = 32 - log2
  for (const gram of entries.keys()) {
    const hash = Math.imul(gram, MULTIPLIER) >>> shift
    bits[hash >>> 5] = (bits[hash >>> 5] as number) | (1 << (hash & 31))
  }
  return { bits, shift, entries, beginnings }
}

/** Where a needle repeats itself, its beginning counts at every place, its other parts at a few. */
function mayJoin(list: readonly Entry[], { needle, offset, ahead }: Entry): boolean {
  const same = list.filter((other) => other.needle === needle)
  if (same.some((other) => other.offset === offset && other.ahead === ahead)) return false
  return offset < STRIDE || same.length < STRIDE
}

function addLayout(needle: Needle, text: string, add: (gram: number, entry: Entry) => void): void {
  const codes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  let offset = 0
  for (let at = 0; at < STRIDE; at++) {
    let ahead = 0
    while (at + ahead < codes.length && ((codes[at + ahead] as number) | 32) !== needle.codes[offset]) ahead++
    add(gramAt(codes, at), { needle, offset, ahead })
    if (ahead === 0) offset++
  }
}

export function gramAt(codes: Uint8Array, at: number): number {
  return (
    ((NORMAL[codes[at] as number] as number) << 24) |
    ((NORMAL[codes[at + 1] as number] as number) << 16) |
    ((NORMAL[codes[at + 2] as number] as number) << 8) |
    (NORMAL[codes[at + 3] as number] as number)
  )
}
