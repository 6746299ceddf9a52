import { setTimeout as sleep } from 'node:timers/promises'
import { paintFor } from '../style.js'
import { LiveScreen, type Size } from '../tree/screen.js'
import { withText } from './editor.js'
import { AGAIN_MS, completed, inputOf, pressed, type Wish } from './editor-input.js'
import { createKeyReader } from './keys.js'
import type { Key } from './keys-sequences.js'
import { inputLines, textColumns } from './picture.js'
import { createInputs } from './screen-inputs.js'

export { openPlainScreen } from './plain.js'

/** What the person did. */
export type ChatInput =
  /** Enter on something; the text as typed, may have several lines. Whoever takes it writes it above (`saidLines`). */
  | { kind: 'said'; text: string }
  /** Esc while an answer is under way. */
  | { kind: 'interrupt' }
  /** Ctrl-C twice within 2 s or Ctrl-D on an empty input, or the end of the input. May come again while one leaves. */
  | { kind: 'leave' }

/** Where the chat takes place. */
export interface ChatScreen {
  inputs(): AsyncIterable<ChatInput>
  /** Text that scrolls by above the input; parts of lines are fine. */
  write(text: string): void
  /** What stands between that and the input, drawn anew after `changed()` and once a second while `busy`. */
  status(lines: ((size: { columns: number; rows: number }) => string[]) | null): void
  changed(): void
  /** An answer is under way: Esc interrupts it, and the hint line says so. Typing goes on meanwhile. */
  busy(is: boolean): void
  /** The person has left: one more Ctrl-C, and they do not wait for anything. */
  leaving(): void
  /** Something that was said goes back into the input, before what is there. */
  takeBack(text: string): void
  /** What stands at the left of the hint line: model, mode, pinned agent, session. */
  label(text: string): void
  /** Whether something is being written that was not sent. */
  drafting(): boolean
  /** Leaves keyboard and terminal to a question, until `back`. What is written meanwhile is shown after it. */
  away(): void
  back(): void
  close(): void
}

export type Choice = { text: string; note?: string }

export type Completion = { from: number; to: number; choices: Choice[] }

export type Completer = (text: string, cursor: number) => Promise<Completion>

export type ChatScreenOptions = {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  env: Record<string, string | undefined>
  complete: Completer
  /** What was said before, oldest first. */
  history: string[]
}

/** So often it is drawn at most: typing must not feel slow. */
const FRAME_MS = 30
/** So long the keyboard waits for choices. */
const COMPLETE_MS = 1000

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
/** Asks a terminal whether it can tell more keys apart, and tells it to, and not to any more. */
const KEYS_ASK = '\u001b[?u'
const KEYS_ON = '\u001b[>1u'
const KEYS_OFF = '\u001b[<u'

/** The chat at a terminal: the input at the bottom, what happens above it. */
export function openChatScreen({ input, output, env, complete, history }: ChatScreenOptions): ChatScreen {
  const inputs = createInputs()
  const paint = paintFor(output, env)
  let state = inputOf(history)
  let status: ((size: Size) => string[]) | null = null
  let busy = false
  let leaving = false
  let gone = false
  let label = ''
  /** How many have asked for the terminal; what is written meanwhile waits. */
  let away = 0
  let held = ''
  let disambiguates = false
  let closed = false
  /** Keys that were pressed while choices are being looked for: they are for what comes of them. */
  let early: Key[] | null = null

  const picture = ({ columns, rows }: Size) => {
    const below = inputLines(state, { columns, rows }, { busy, leaving, label, paint })
    const room = rows - below.length
    const above = room > 0 ? (status?.({ columns, rows: room }) ?? []) : []
    return [...above.slice(0, room), ...below]
  }
  const live = new LiveScreen(output, picture, { frame_ms: FRAME_MS, taken: listen, given: unlisten })
  const keys = createKeyReader(pressKey)
  const redraw = () => {
    if (!closed) live.changed()
  }
  redraw()

  return {
    inputs: () => inputs.all(),
    write: (text) => {
      if (away > 0) held += text
      else live.write(text)
    },
    status: (lines) => {
      status = lines
      redraw()
    },
    changed: redraw,
    busy: (is) => {
      busy = is
      redraw()
    },
    leaving: () => {
      leaving = true
      redraw()
    },
    takeBack: (text) => {
      const { editor } = state
      const whole = editor.text === '' ? text : `${text}\n${editor.text}`
      state = { ...state, menu: null, search: null, editor: withText(editor, whole) }
      redraw()
    },
    label: (text) => {
      label = text
      redraw()
    },
    drafting: () => state.editor.text !== '' || state.menu !== null || state.search !== null || early !== null,
    away: () => {
      away++
      live.away()
    },
    back: () => {
      if (away === 0 || --away > 0) return
      live.back()
      if (held !== '') live.write(held)
      held = ''
    },
    close: () => {
      if (closed) return
      closed = true
      inputs.close()
      live.close()
      if (held !== '') output.write(held)
    },
  }

  /** The keyboard is ours: every key comes as it is pressed. */
  function listen(): string {
    input.setRawMode(true)
    input.on('data', keys.push)
    for (const event of ['end', 'close', 'error']) input.on(event, ended)
    input.resume()
    return `${PASTE_ON}${disambiguates ? KEYS_ON : KEYS_ASK}`
  }

  function unlisten(): string {
    keys.reset()
    input.off('data', keys.push)
    input.pause()
    // A terminal that is gone says so here: somebody must listen still.
    input.setRawMode(false)
    for (const event of ['end', 'close', 'error']) input.off(event, ended)
    return `${disambiguates ? KEYS_OFF : ''}${PASTE_OFF}`
  }

  /** Told in several ways; that is no hurry. */
  function ended(): void {
    if (!gone && !leaving) inputs.add({ kind: 'leave' })
    gone = true
  }

  function pressKey(key: Key): void {
    if (early) {
      early.push(key)
      return
    }
    if (key.kind === 'can_disambiguate') {
      if (!disambiguates) output.write(KEYS_ON)
      disambiguates = true
      return
    }
    const before = state.left_at
    const columns = textColumns(output.columns || 80)
    const pressing = pressed(state, key, { columns, busy, leaving, now: Date.now() })
    state = pressing.state
    if (state.left_at !== null && state.left_at !== before) forgetLater(state.left_at)
    if (pressing.wish) grant(pressing.wish)
    redraw()
  }

  function grant(wish: Wish): void {
    if (wish.kind === 'complete' || wish.kind === 'refresh') void askCompleter()
    else if (wish.kind === 'clear') live.clear()
    // As the terminal does it when it is not raw: to all that belong to the command.
    else if (wish.kind === 'suspend') process.kill(0, 'SIGTSTP')
    else inputs.add(wish)
  }

  async function askCompleter(): Promise<void> {
    const { text, cursor } = state.editor
    early = []
    const late = new AbortController()
    const completion = await Promise.race([
      complete(text, cursor).catch(() => null),
      sleep(COMPLETE_MS, null, { signal: late.signal }).catch(() => null),
    ])
    late.abort()
    state = completed(state, completion ?? { from: cursor, to: cursor, choices: [] })
    redraw()
    const keys = early
    early = null
    for (const key of keys) pressKey(key)
  }

  /** The hint goes when the time for a second Ctrl-C is over. */
  function forgetLater(left_at: number): void {
    const forget = () => {
      if (state.left_at !== left_at) return
      state = { ...state, left_at: null }
      redraw()
    }
    setTimeout(forget, AGAIN_MS).unref()
  }
}
