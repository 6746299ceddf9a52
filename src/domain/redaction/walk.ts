import { digitAt, LONGEST_GAP, symbolAt } from './alphabet.js'
import { DIGITS, type Needle, PLAIN, SYMBOLS, type View } from './forms.js'

/** How far a needle was followed, and where the first thing stands that is none of it. */
export type Walk = { start: number; offset: number; count: number; end: number; stop: number; ran_out: boolean }

const GAP = 1
const NEWLINE = 10
const TAB = 9
const SPACE = 32
const ZERO = 48

/** Follows a needle of which a gram was found: back to where it begins, and on to where it ends. */
export function follow(
  codes: Uint8Array,
  length: number,
  at: number,
  needle: Needle,
  offset: number,
  walk: Walk,
): void {
  walk.start = at
  walk.offset = offset
  if (needle.view === PLAIN) plain(codes, length, needle, walk)
  else encoded(codes, length, needle, walk)
  walk.ran_out = walk.stop >= length && walk.offset + walk.count < needle.codes.length
}

function plain(codes: Uint8Array, length: number, needle: Needle, walk: Walk): void {
  const wanted = needle.codes
  let { start, offset } = walk
  const most = Math.min(wanted.length, offset + length - start)
  let next = offset
  let end = start
  while (next < most && codes[end] === wanted[next]) {
    next++
    end++
  }
  if (next > offset) {
    while (offset > 0 && start > 0 && codes[start - 1] === wanted[offset - 1]) {
      start--
      offset--
    }
  }
  walk.start = start
  walk.offset = offset
  walk.count = next - offset
  walk.end = end
  walk.stop = end
}

/** The place of the code before this one; -1 when there is none. */
export function previous(codes: Uint8Array, at: number, view: View): number {
  if (view === PLAIN) return at - 1
  for (let i = at - 1; i >= 0 && i >= at - 1 - LONGEST_GAP; i--) {
    const code = view === DIGITS ? digitAt(codes, i) : symbolAt(codes, i)
    if (code > GAP) return i
    if (code < GAP) return -1
  }
  return -1
}

/** Gaps are passed over, and so is what stands around each line of a listing, a difference or a dump. */
function encoded(codes: Uint8Array, length: number, needle: Needle, walk: Walk): void {
  const { codes: wanted, view } = needle
  let next = walk.offset
  let gap = 0
  let end = walk.start
  let detour = -1
  let i = walk.start
  while (i < length && next < wanted.length) {
    const code = view === SYMBOLS ? symbolAt(codes, i) : digitAt(codes, i)
    if (code === wanted[next]) {
      next++
      i++
      end = i
      gap = 0
      detour = -1
    } else if (code === GAP && gap < LONGEST_GAP) {
      gap++
      i++
      if (codes[i - 1] !== NEWLINE) continue
      const numbered = lineNumberEnd(codes, length, i)
      if (numbered > i) i = numbered
      else if (codes[i] === 43 || codes[i] === 45) detour = i + 1
    } else if (detour > i) {
      i = detour
      detour = -1
    } else {
      // A zero at the very end may be that of `0x`.
      if (view === DIGITS && i + 1 === length && codes[i] === ZERO) i = length
      break
    }
  }
  walk.count = next - walk.offset
  walk.end = end
  walk.stop = i
  if (walk.count > 0) back(codes, needle, walk)
}

function back(codes: Uint8Array, { codes: wanted, view }: Needle, walk: Walk): void {
  while (walk.offset > 0) {
    const before = previous(codes, walk.start, view)
    if (before < 0) return
    if ((view === SYMBOLS ? symbolAt(codes, before) : digitAt(codes, before)) !== wanted[walk.offset - 1]) return
    walk.start = before
    walk.offset--
    walk.count++
  }
}

/** Past the number that a listing puts before a line, with a tab after it. */
function lineNumberEnd(codes: Uint8Array, length: number, at: number): number {
  let i = at
  while (i < length && i < at + 8 && codes[i] === SPACE) i++
  const first = i
  while (i < length && i < first + 8 && (codes[i] as number) >= ZERO && (codes[i] as number) <= 57) i++
  return i > first && i < length && codes[i] === TAB ? i + 1 : at
}
