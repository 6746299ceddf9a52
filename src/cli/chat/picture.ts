import type { Paint } from '../style.js'
import { line } from '../style.js'
import type { Size } from '../tree/screen.js'
import { cut, fill, widthOf } from '../tree/width.js'
import type { Menu } from './complete-menu.js'
import type { Editor } from './editor.js'
import type { InputState } from './editor-input.js'
import { placeAfter } from './editor-places.js'
import { rowOfPlace, rowsOfText, shown, type TextRow } from './editor-rows.js'

export type PictureOptions = { busy: boolean; leaving?: boolean; label: string; paint: Paint }

const PROMPT = '> '
const INDENT = '  '
/** Not a colour: the cursor is seen where there are none. */
const INVERSE = '\u001b[7m'
const UPRIGHT = '\u001b[27m'

/** So many choices are in sight. */
const CHOICES = 8
/** Lower than this there is no room for what is only nice. */
const LOW = 10

/** The columns that the text has: the last one stays free, and the cursor may stand behind the text. */
export function textColumns(columns: number): number {
  return Math.max(2, columns - 1 - PROMPT.length - 1)
}

/** The input at the bottom of the screen: the text, what it may become, and a line of hints. */
export function inputLines(state: InputState, { columns, rows }: Size, options: PictureOptions): string[] {
  const { dim } = options.paint
  const width = Math.max(1, columns - 1)
  const low = rows < LOW
  const height = Math.max(1, Math.min(Math.floor(rows / 3), rows - 2))
  const text = textLines(state.editor, columns, height, options.paint)
  const room = Math.max(0, Math.min(CHOICES, rows - text.lines.length - (low ? 1 : 3)))
  const menu = state.menu === null ? [] : menuLines(state.menu, width, room, options.paint)
  const hint = dim(hintLine(state, width, options))
  const ruled = (hidden: number, arrow: string) =>
    low ? [] : [dim(rule(width, hidden > 0 ? `${arrow} ${hidden} more ` : ''))]
  const all = [...ruled(text.above, '↑'), ...text.lines, ...ruled(text.below, '↓'), ...menu, hint]
  return rows < 2 ? text.lines.slice(0, 1) : all
}

/** What was said, as lines that scroll by. */
export function saidLines(text: string, paint: Paint): string {
  const lines = text.split('\n').map((part, i) => `${i === 0 ? PROMPT : INDENT}${shown(part)}`)
  return `${lines.map(paint.bold).join('\n')}\n`
}

function textLines(editor: Editor, columns: number, height: number, { bold }: Paint) {
  const rows = rowsOfText(editor.text, textColumns(columns))
  const current = rowOfPlace(rows, editor.cursor)
  const first = Math.max(0, Math.min(current - Math.floor(height / 2), rows.length - height))
  const lines = rows.slice(first, first + height).map((row, i) => {
    const sign = first + i === 0 ? bold(PROMPT) : INDENT
    return sign + (first + i === current ? rowWithCursor(editor, row) : shown(editor.text.slice(row.from, row.to)))
  })
  return { lines, above: first, below: rows.length - first - lines.length }
}

function rowWithCursor({ text, cursor }: Editor, row: TextRow): string {
  const after = cursor < row.to ? placeAfter(text, cursor) : cursor
  const under = shown(text.slice(cursor, after)) || ' '
  // Of a tab only the first column.
  const cell = text[cursor] === '\t' ? ' ' : under
  const rest = under.slice(cell.length) + shown(text.slice(after, row.to))
  return `${shown(text.slice(row.from, cursor))}${INVERSE}${cell}${UPRIGHT}${rest}`
}

function menuLines({ choices, chosen }: Menu, width: number, room: number, { dim }: Paint): string[] {
  const first = Math.max(0, Math.min(chosen - Math.floor(room / 2), choices.length - room))
  const seen = choices.slice(first, first + room)
  const names = seen.map(({ text }) => line(text.trimEnd()))
  const widest = Math.max(0, ...names.map(widthOf))
  return seen.map(({ note = '' }, i) => {
    const name = cut(names[i] as string, width - INDENT.length)
    const noted =
      note === ''
        ? ''
        : cut(`${' '.repeat(Math.max(1, widest - widthOf(name) + 2))}${line(note)}`, width - 2 - widthOf(name))
    const marked = first + i === chosen ? `${INVERSE}${name}${UPRIGHT}` : name
    return `${INDENT}${marked}${dim(noted)}`
  })
}

function hintLine(state: InputState, width: number, { busy, leaving = false, label }: PictureOptions): string {
  if (state.search) {
    const none = state.search.missing ? ' (nothing)' : ''
    return cut(`search: ${line(state.search.words)}${none} · Enter takes it, Ctrl-R goes on, Esc gives up`, width)
  }
  const hint = hintOf(state, busy, leaving)
  const left = line(label)
  const room = width - widthOf(left) - 2
  if (left === '') return cut(hint, width)
  // What a key will do now is worth more than where one is.
  if (state.left_at !== null && room < widthOf(hint)) return cut(hint, width)
  if (room < 8) return cut(left, width)
  return `${fill(left, width - Math.min(room, widthOf(hint)))}${cut(hint, room)}`
}

function hintOf({ menu, left_at }: InputState, busy: boolean, leaving: boolean): string {
  if (leaving) return 'Ctrl-C leaves at once'
  if (left_at !== null) return busy ? 'Esc interrupts · Ctrl-C again leaves' : 'Ctrl-C again leaves'
  if (menu) return 'Tab next · Enter takes it · Esc closes'
  return busy ? 'Esc interrupts' : 'Enter sends · Alt-Enter new line · Tab completes'
}

function rule(width: number, note: string): string {
  const said = cut(note, Math.max(0, width - 2))
  return said === ''
    ? '─'.repeat(width)
    : `── ${said}${'─'.repeat(Math.max(0, width - 3 - widthOf(said)))}`.slice(0, width)
}
