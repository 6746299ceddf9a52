import { graphemesOf, isBorder } from './editor-graphemes.js'

/** Places in a text between what a person takes for characters, words and lines. All are indices of the string. */

/** Where the character before the place begins; a line break is one. */
export function placeBefore(text: string, at: number): number {
  let before = Math.max(0, at - 1)
  for (const place of places(text, at)) {
    if (place >= at) break
    before = place
  }
  return before
}

/** Where the character at the place ends. */
export function placeAfter(text: string, at: number): number {
  for (const place of places(text, at)) if (place > at) return place
  return text.length
}

/** The place itself, or the next one after it where it is within a character. */
export function nearestPlace(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length))
  for (const place of places(text, at)) if (place >= at) return place
  return text.length
}

export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

const LETTER = /^[\p{L}\p{N}\p{M}_]$/u
const BLANK = /^\s$/

/** Where the word before the place begins: of letters and digits, or of whatever is not blank. */
export function wordBefore(text: string, at: number, kind: 'letters' | 'not_blank'): number {
  const inWord = (character: string) => (kind === 'letters' ? LETTER.test(character) : !BLANK.test(character))
  const end = backWhile(text, at, (character) => !inWord(character))
  return backWhile(text, end, inWord)
}

export function wordAfter(text: string, at: number): number {
  const [found] = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]+/u.exec(text.slice(at)) ?? []
  return found === undefined ? text.length : at + found.length
}

function backWhile(text: string, at: number, fits: (character: string) => boolean): number {
  let place = at
  while (place > 0) {
    const low = /[\udc00-\udfff]/.test(text[place - 1] as string)
    const from = low && place > 1 ? place - 2 : place - 1
    if (!fits(text.slice(from, place))) break
    place = from
  }
  return place
}

/** The borders of characters around a place, from one that is certain before it. */
function* places(text: string, at: number): Generator<number> {
  const line = lineStart(text, at)
  let from = Math.max(line, at - 1)
  while (from > line && !isBorder(text, from)) from--
  // One before the line's beginning is its line break.
  if (from === line && line > 0) yield line - 1
  const end = lineEnd(text, at)
  for (const { index } of graphemesOf(text.slice(from, end))) yield from + index
  yield end
  if (end < text.length) yield end + 1
}
