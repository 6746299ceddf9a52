import { type Menu, moved, offered, refreshed, taken } from './complete-menu.js'
import { type Editor, editorOf, emptied, press, replace, withText } from './editor.js'
import { findBefore, goTo, said } from './history.js'
import type { Key } from './keys-sequences.js'
import type { ChatInput, Completion } from './screen.js'

/** The input with all that belongs to it: the text, the menu below it, a search in what was said before. */
export type InputState = Readonly<{
  editor: Editor
  menu: Menu | null
  search: Search | null
  /** When Ctrl-C was pressed on an empty input: once more soon after, and the person leaves. */
  left_at: number | null
}>

/** What was in the input before is in it again when the search is given up. */
type Search = Readonly<{ words: string; found: number | null; missing: boolean; before: Editor }>

/** What a key asks for beyond the input itself. */
export type Wish = ChatInput | { kind: 'complete' } | { kind: 'refresh' } | { kind: 'clear' } | { kind: 'suspend' }

/** `leaving`: the person has left, and waits until what is at work has stopped. */
export type Moment = { columns: number; busy: boolean; leaving?: boolean; now: number }

type Pressed = { state: InputState; wish: Wish | null }

/** So soon after the first a second Ctrl-C leaves. */
export const AGAIN_MS = 2000

export function inputOf(history: readonly string[]): InputState {
  return { editor: editorOf(history), menu: null, search: null, left_at: null }
}

export function pressed(state: InputState, key: Key, moment: Moment): Pressed {
  const name = key.kind === 'key' ? key.name : null
  const calm = { ...state, left_at: null }
  if (name === 'ctrl-c') return interrupted(state, moment)
  if (name === 'ctrl-z') return { state, wish: { kind: 'suspend' } }
  if (name === 'ctrl-l') return { state, wish: { kind: 'clear' } }
  if (state.search) return searching(calm, state.search, key, moment)
  if (state.menu) return choosing(calm, state.menu, key, moment)
  return writing(calm, key, moment)
}

/** The choices for what was in the input when they were asked for. */
export function completed(state: InputState, completion: Completion): InputState {
  if (state.menu) return { ...state, menu: refreshed(state.menu, completion) }
  const { editor, menu } = offered(state.editor, completion)
  return { ...state, editor, menu }
}

function writing(state: InputState, key: Key, { columns, busy }: Moment): Pressed {
  const { editor } = state
  const name = key.kind === 'key' ? key.name : null
  if (name === 'enter') return entered(state)
  if (name === 'tab') return { state, wish: { kind: 'complete' } }
  if (name === 'escape') return { state, wish: busy ? { kind: 'interrupt' } : null }
  if (name === 'ctrl-d' && editor.text === '') return { state, wish: { kind: 'leave' } }
  if (name === 'ctrl-r') return look({ words: '', found: null, missing: false, before: editor }, state, '')
  return { state: { ...state, editor: press(editor, key, columns) }, wish: null }
}

function entered(state: InputState): Pressed {
  const { editor } = state
  const [backslashes = ''] = /\\*$/.exec(editor.text.slice(0, editor.cursor)) ?? []
  // A backslash at the end of a line goes on with the next; two are a backslash.
  if (backslashes.length % 2 === 1) {
    const broken = replace(editor, editor.cursor - 1, editor.cursor, '\n')
    return { state: { ...state, editor: broken }, wish: null }
  }
  const { text } = editor
  if (text.trim() === '') return { state: { ...state, editor: emptied(editor) }, wish: null }
  const next = { ...editorOf([]), killed: editor.killed, history: said(editor.history, text) }
  return { state: { ...state, editor: next }, wish: { kind: 'said', text } }
}

/** Ctrl-C: out of what one is in, and twice on nothing out of the chat. It never ends an answer: that is what Esc is for. */
function interrupted(state: InputState, { leaving, now }: Moment): Pressed {
  const closed = { ...state, menu: null, search: null, left_at: null }
  if (leaving) return { state: closed, wish: { kind: 'leave' } }
  if (state.search) return { state: { ...closed, editor: state.search.before }, wish: null }
  if (state.menu) return { state: closed, wish: null }
  if (state.editor.text !== '') return { state: { ...closed, editor: emptied(state.editor) }, wish: null }
  const again = state.left_at !== null && now - state.left_at <= AGAIN_MS
  return again ? { state: closed, wish: { kind: 'leave' } } : { state: { ...closed, left_at: now }, wish: null }
}

const NEXT = new Set(['tab', 'down', 'ctrl-n'])
const PREVIOUS = new Set(['shift-tab', 'up', 'ctrl-p'])

function choosing(state: InputState, menu: Menu, key: Key, moment: Moment): Pressed {
  const name = key.kind === 'key' ? key.name : ''
  const take = name === 'enter' || (name === 'tab' && menu.choices.length === 1)
  if (take) return { state: { ...state, editor: taken(state.editor, menu), menu: null }, wish: null }
  if (NEXT.has(name)) return { state: { ...state, menu: moved(menu, 1) }, wish: null }
  if (PREVIOUS.has(name)) return { state: { ...state, menu: moved(menu, -1) }, wish: null }
  if (name === 'escape') return { state: { ...state, menu: null }, wish: null }
  const after = press(state.editor, key, moment.columns)
  const edited = after.text !== state.editor.text
  // The choices are those of the text before the key until there are others.
  const goes_on = edited && (key.kind === 'text' || name === 'backspace') && after.cursor > menu.from
  if (goes_on)
    return { state: { ...state, editor: after, menu: { ...menu, to: after.cursor } }, wish: { kind: 'refresh' } }
  return { state: { ...state, editor: after, menu: null }, wish: null }
}

function searching(state: InputState, search: Search, key: Key, moment: Moment): Pressed {
  const name = key.kind === 'key' ? key.name : ''
  if (key.kind === 'text' || key.kind === 'paste')
    return look({ ...search, found: null }, state, search.words + key.text.replace(/\s+/g, ' '))
  if (name === 'backspace') return look({ ...search, found: null }, state, [...search.words].slice(0, -1).join(''))
  if (name === 'ctrl-r') return look(search, state, search.words, search.found ?? undefined)
  if (name === 'escape' || name === 'ctrl-g')
    return { state: { ...state, editor: search.before, search: null }, wish: null }
  // Anything else takes what was found; Enter does no more than that, so that it is seen before it is sent.
  const done = { ...state, search: null }
  return name === 'enter' || name === 'tab' ? { state: done, wish: null } : writing(done, key, moment)
}

/** Shows the newest that has the words in it; where there is no older one the last that was found. */
function look(search: Search, state: InputState, words: string, before = Number.POSITIVE_INFINITY): Pressed {
  const { history } = search.before
  const found = words === '' ? null : findBefore(history, words, before)
  const next = { ...search, words, found: found ?? search.found, missing: words !== '' && found === null }
  const gone = next.found === null ? null : goTo(history, next.found, search.before.text)
  const editor = gone === null ? search.before : { ...withText(search.before, gone.text), history: gone.history }
  return { state: { ...state, editor, search: next }, wish: null }
}
