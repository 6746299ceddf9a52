/**
 * What nobody sees, and what turns a line into another one: control characters, marks that change the direction of
 * writing, invisible letters, half characters. In a terminal they are commands, in a prompt they are hidden words.
 */
const UNSEEN =
  /[\p{Cc}\p{Cs}\u{200b}\u{200e}\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffb}\u{e0000}-\u{e007f}]/u

const ALL_UNSEEN = new RegExp(UNSEEN.source, 'gu')

export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text)
}

/** In one line, with nothing in it that a terminal would take for a command. */
export function plainLine(text: string, longest = Number.POSITIVE_INFINITY): string {
  return shortened(text.replace(ALL_UNSEEN, ' ').replace(/\s+/g, ' ').trim(), longest)
}

/** The same for a text of several lines. */
export function plainText(text: string): string {
  return text.replace(ALL_UNSEEN, (char) => (char === '\n' ? char : ' '))
}

/** A value from outside in a message: in quotes, short, and with what is not seen written out. */
export function quoted(value: unknown): string {
  if (typeof value !== 'string') return kindOf(value)
  const text = JSON.stringify(shortened(value, 60))
  return text.replace(ALL_UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
}

/** What somebody wrote where something else should be. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return 'a text'
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a ${typeof value}`
}

/** Of so many code points at most. */
function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text
  const characters = [...text.slice(0, longest * 2 + 2)]
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : text
}

/** As people count: characters outside the first plane are one each. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
