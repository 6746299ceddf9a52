/** Signs that nobody sees by themselves and that make one picture of several, or join letters of some scripts. */
const IN_PICTURES = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}#*0-9])\u{fe0f}/u
const BETWEEN_PICTURES =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\u{fe0f}?)\u{200d}(?=\p{Extended_Pictographic})/u
const BETWEEN_LETTERS = /(?<=[\p{L}\p{M}])(?<!\p{Script=Latin})[\u{200c}\u{200d}](?=[\p{L}\p{M}])/u
const SEEN = [IN_PICTURES, BETWEEN_PICTURES, BETWEEN_LETTERS].map(({ source }) => `(?!${source})`).join('')

/**
 * What nobody sees, and what turns a line into another one: control characters, marks that change the direction of
 * writing, invisible letters, half characters. In a terminal they are commands, in a prompt they are hidden words.
 */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2028}\u{2029}\u{fff9}-\u{fffb}]/u.source
// What is in front is looked at only where such a character is.
const UNSEEN = new RegExp(`(?=${HIDDEN})${SEEN}${HIDDEN}`, 'u')

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

/**
 * What a model, a file or a command wrote, so that what is shown is all of it: what nobody sees is shown as �. A line may
 * end as it does on Windows.
 */
export function printable(text: string): string {
  return text.replace(ALL_UNSEEN, (char, at: number) => {
    if (char === '\n' || char === '\t') return char
    return char === '\r' && text[at + 1] === '\n' ? '' : '�'
  })
}

/** The same on one line: a name with a line break in it must not look like two lines of ours. */
export function printableLine(text: string): string {
  return printable(text).replace(/\s*\n\s*/g, ' ⏎ ')
}

/** The same of every text in a value, wherever it is. */
export function printableAll<T>(value: T): T
export function printableAll(value: unknown): unknown {
  if (typeof value === 'string') return printable(value)
  if (Array.isArray(value)) return value.map((one) => printableAll(one))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [printable(name), printableAll(one)]))
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
