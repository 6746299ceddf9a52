/** How many columns of a terminal a text takes, and texts cut or filled to a number of them. */

const ASCII = /^[\u0020-\u007e]*$/
/** Takes no column of its own: it is drawn onto the character before it, or not at all. */
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}\u{1aff0}-\u{1b2fb}\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u

const known = new Map<string, number>()

function columnsOf(character: string): number {
  if (character <= '~') return 1
  let width = known.get(character)
  if (width === undefined) {
    // What is drawn as a picture is wide; terminals disagree about sequences, and too wide is the safe mistake.
    width = character === '\ufe0f' ? 1 : NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1
    if (known.size < 10_000) known.set(character, width)
  }
  return width
}

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

/** The text in at most so many columns; what was left out at its end is marked. */
export function cut(text: string, columns: number): string {
  // No text is shorter than half its columns, so the rest of a long one need not be looked at.
  if (columns <= 0) return ''
  if (text.length <= columns && ASCII.test(text)) return text
  let width = 0
  let kept = ''
  let fitting = ''
  for (const character of text) {
    width += columnsOf(character)
    if (width > columns) return `${fitting}…`
    kept += character
    if (width < columns) fitting = kept
  }
  return kept
}

/** The end of the text in at most so many columns. */
export function cutStart(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  if (columns <= 0) return ''
  let width = 1
  let kept = ''
  for (const character of [...text].reverse()) {
    width += columnsOf(character)
    if (width > columns) break
    kept = character + kept
  }
  return `…${kept}`
}

export function fill(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)))
}

export function fillStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - widthOf(text))) + text
}

/** The rows that a text takes on a screen of so many columns. */
export function wrap(text: string, columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let width = 0
  for (const character of text) {
    const more = columnsOf(character)
    if (width + more > columns && row !== '') {
      rows.push(row)
      row = ''
      width = 0
    }
    row += character
    width += more
  }
  return [...rows, row]
}
