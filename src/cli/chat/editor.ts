import { lineEnd, lineStart, nearestPlace, placeAfter, placeBefore, wordAfter, wordBefore } from './editor-places.js'
import { columnOfPlace, placeInRow, rowOfPlace, rowsOfText, type TextRow } from './editor-rows.js'
import { type History, historyOf, step } from './history.js'
import type { Key } from './keys-sequences.js'

type Moment = Readonly<{ text: string; cursor: number }>

/** A text that is being written. The cursor stands before the character at its index, never within one. */
export type Editor = Moment &
  Readonly<{
    /** The column that Up and Down keep to, also across shorter rows. */
    goal: number | null
    killed: string
    /** What was done last: letters in a row are undone together, and kills in a row come back together. */
    last: 'typed' | 'killed' | null
    past: readonly Moment[]
    history: History
  }>

/** So many changes can be undone, fewer where the text is so long that keeping them would take much room. */
const MOMENTS = 200
const MOMENTS_LENGTH = 4_000_000

export function editorOf(history: readonly string[]): Editor {
  return { text: '', cursor: 0, goal: null, killed: '', last: null, past: [], history: historyOf(history) }
}

/** The editor after a key; the same where the key means nothing to it. Rows are as wide as the screen has them. */
export function press(editor: Editor, key: Key, columns: number): Editor {
  if (key.kind === 'text') return type(editor, key.text)
  if (key.kind === 'paste') return insert(editor, key.text)
  if (key.kind !== 'key') return editor
  return KEYS[key.name]?.(editor, columns) ?? editor
}

function insert(editor: Editor, text: string): Editor {
  return replace(editor, editor.cursor, editor.cursor, text)
}

export function replace(editor: Editor, from: number, to: number, by: string): Editor {
  if (from === to && by === '') return { ...editor, last: null, goal: null }
  const text = editor.text.slice(0, from) + by + editor.text.slice(to)
  // Two that were apart may be one character now.
  const cursor = nearestPlace(text, from + by.length)
  const kept = Math.max(1, Math.min(MOMENTS, Math.floor(MOMENTS_LENGTH / (text.length + 1))))
  const past = [...editor.past, { text: editor.text, cursor: editor.cursor }].slice(-kept)
  return { ...editor, text, cursor, past, last: null, goal: null }
}

/** Everything at once, as from the history: it can be undone. */
export function withText(editor: Editor, text: string): Editor {
  return replace(editor, 0, editor.text.length, text)
}

export function emptied(editor: Editor): Editor {
  return editor.text === '' ? editor : withText(editor, '')
}

function type(editor: Editor, text: string): Editor {
  const typed = insert(editor, text)
  const word = editor.last === 'typed' && !/\s/.test(text)
  return { ...typed, past: word ? editor.past : typed.past, last: 'typed' }
}

function move(editor: Editor, cursor: number): Editor {
  return { ...editor, cursor: nearestPlace(editor.text, cursor), last: null, goal: null }
}

function kill(editor: Editor, from: number, to: number): Editor {
  if (from === to) return { ...editor, goal: null }
  const killed = editor.text.slice(from, to)
  const before = editor.last === 'killed' ? editor.killed : ''
  const all = from < editor.cursor ? killed + before : before + killed
  return { ...replace(editor, from, to, ''), killed: all, last: 'killed' }
}

function undo(editor: Editor): Editor {
  const then = editor.past.at(-1)
  if (then === undefined) return editor
  return { ...editor, ...then, past: editor.past.slice(0, -1), last: null, goal: null }
}

/** Up and Down go to the next row, and beyond the first and the last into the history. */
function vertical(editor: Editor, by: -1 | 1, columns: number): Editor {
  const rows = rowsOfText(editor.text, columns)
  const at = rowOfPlace(rows, editor.cursor)
  const target = rows[at + by]
  if (target === undefined) return recall(editor, by)
  const goal = editor.goal ?? columnOfPlace(editor.text, rows[at] as TextRow, editor.cursor)
  const cursor = placeInRow(editor.text, target, goal, at + by === rows.length - 1)
  return { ...editor, cursor, goal, last: null }
}

function recall(editor: Editor, by: -1 | 1): Editor {
  const gone = step(editor.history, by, editor.text)
  if (gone === null) return move(editor, by === -1 ? 0 : editor.text.length)
  return { ...withText(editor, gone.text), history: gone.history }
}

const before = (editor: Editor) => placeBefore(editor.text, editor.cursor)
const after = (editor: Editor) => placeAfter(editor.text, editor.cursor)
const start = (editor: Editor) => lineStart(editor.text, editor.cursor)
const end = (editor: Editor) => lineEnd(editor.text, editor.cursor)
const wordStart = (editor: Editor) => wordBefore(editor.text, editor.cursor, 'letters')
const wordEnd = (editor: Editor) => wordAfter(editor.text, editor.cursor)

const newLine = (editor: Editor) => insert(editor, '\n')
const left = (editor: Editor) => move(editor, before(editor))
const right = (editor: Editor) => move(editor, after(editor))
const toStart = (editor: Editor) => move(editor, start(editor))
const toEnd = (editor: Editor) => move(editor, end(editor))
const toWordStart = (editor: Editor) => move(editor, wordStart(editor))
const toWordEnd = (editor: Editor) => move(editor, wordEnd(editor))
const eraseBefore = (editor: Editor) => replace(editor, before(editor), editor.cursor, '')
const eraseAfter = (editor: Editor) => replace(editor, editor.cursor, after(editor), '')
const killWordBefore = (editor: Editor) => kill(editor, wordStart(editor), editor.cursor)
const killWordAfter = (editor: Editor) => kill(editor, editor.cursor, wordEnd(editor))
const up = (editor: Editor, columns: number) => vertical(editor, -1, columns)
const down = (editor: Editor, columns: number) => vertical(editor, 1, columns)

const KEYS: Record<string, (editor: Editor, columns: number) => Editor> = {
  ...{ 'alt-enter': newLine, 'shift-enter': newLine, 'ctrl-enter': newLine, 'ctrl-j': newLine },
  ...{ left, right, up, down, 'ctrl-b': left, 'ctrl-f': right, 'ctrl-p': up, 'ctrl-n': down },
  ...{ home: toStart, end: toEnd, 'ctrl-a': toStart, 'ctrl-e': toEnd },
  ...{ 'alt-b': toWordStart, 'ctrl-left': toWordStart, 'alt-left': toWordStart },
  ...{ 'alt-f': toWordEnd, 'ctrl-right': toWordEnd, 'alt-right': toWordEnd },
  ...{ backspace: eraseBefore, 'shift-backspace': eraseBefore, delete: eraseAfter, 'ctrl-d': eraseAfter },
  ...{ 'alt-backspace': killWordBefore, 'ctrl-backspace': killWordBefore },
  ...{ 'alt-d': killWordAfter, 'ctrl-delete': killWordAfter },
  'ctrl-w': (editor) => kill(editor, wordBefore(editor.text, editor.cursor, 'not_blank'), editor.cursor),
  // At the end of a line, or its beginning, the line break itself.
  'ctrl-k': (editor) => kill(editor, editor.cursor, end(editor) === editor.cursor ? after(editor) : end(editor)),
  'ctrl-u': (editor) => kill(editor, start(editor) === editor.cursor ? before(editor) : start(editor), editor.cursor),
  'ctrl-y': (editor) => insert(editor, editor.killed),
  ...{ 'ctrl-_': undo, 'ctrl--': undo, 'ctrl-/': undo },
}
