import { widthOf } from '../tree/width.js'
import { graphemesOf } from './editor-graphemes.js'

/** A row of the input on the screen: a line of the text, or as much of one as fits. */
export type TextRow = { from: number; to: number }

const TAB = '    '
const PLAIN = /^[\u0020-\u007e]*$/

let last: { text: string; columns: number; rows: TextRow[] } = { text: '', columns: 0, rows: [] }

/** The rows that a text takes in so many columns. There is always one. */
export function rowsOfText(text: string, columns: number): TextRow[] {
  if (last.text === text && last.columns === columns) return last.rows
  const rows: TextRow[] = []
  let from = 0
  for (const line of text.split('\n')) {
    for (const row of rowsOfLine(line, from, Math.max(2, columns))) rows.push(row)
    from += line.length + 1
  }
  last = { text, columns, rows }
  return rows
}

function rowsOfLine(line: string, start: number, columns: number): TextRow[] {
  const rows: TextRow[] = []
  let from = start
  let width = 0
  // Much of what is pasted is plain, and long.
  if (PLAIN.test(line)) {
    for (; start + line.length - from > columns; from += columns) rows.push({ from, to: from + columns })
    return [...rows, { from, to: start + line.length }]
  }
  for (const { segment, index } of graphemesOf(line)) {
    const more = columnsOf(segment)
    if (width + more > columns && start + index > from) {
      rows.push({ from, to: start + index })
      from = start + index
      width = 0
    }
    width += more
  }
  return [...rows, { from, to: start + line.length }]
}

/** Which row the place is in: at a soft break, the one that begins there. */
export function rowOfPlace(rows: TextRow[], at: number): number {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((rows[middle] as TextRow).from <= at) low = middle
    else high = middle - 1
  }
  return low
}

export function columnOfPlace(text: string, row: TextRow, at: number): number {
  return widthOf(shown(text.slice(row.from, at)))
}

/** The place in the row that is nearest to the column from the left. */
export function placeInRow(text: string, row: TextRow, column: number, is_last: boolean): number {
  let width = 0
  let place = row.from
  for (const { segment, index } of graphemesOf(text.slice(row.from, row.to))) {
    width += columnsOf(segment)
    if (width > column) return place
    const after = row.from + index + segment.length
    // The end of a row that was broken is the beginning of the next.
    if (after === row.to && !is_last && text[row.to] !== '\n') return place
    place = after
  }
  return place
}

const known = new Map<string, number>()

function columnsOf(grapheme: string): number {
  let columns = known.get(grapheme)
  if (columns === undefined) {
    columns = widthOf(shown(grapheme))
    if (known.size < 10_000) known.set(grapheme, columns)
  }
  return columns
}

/** What could move the cursor. Not what only hides: a part of a picture or of a word looks like it, and this is cut. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A part of the text that a person writes as a terminal can show it. */
export function shown(text: string): string {
  return text.replace(CONTROLS, '�').replaceAll('\t', TAB)
}
