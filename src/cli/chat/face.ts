import type { Person, Watching } from '../../index.js'
import { type Turn, terminalPerson } from '../person.js'
import { type Paint, paintFor } from '../style.js'
import type { Stage } from '../tree/stage.js'
import { cut } from '../tree/width.js'
import { RunView } from '../view.js'
import { createQuiet } from './quiet.js'
import type { ChatScreen } from './screen.js'

type Picture = (size: { columns: number; rows: number }) => string[]

/** What the person sees of the chat: lines of ours, answers as they are written, what waits and what works. */
export interface Face {
  readonly paint: Paint
  /** Whether somebody sits there: a script is answered in order, and nobody asks it anything. */
  readonly interactive: boolean
  /** A line, or several; never in the midst of what a model is writing. */
  say(text: string): void
  /** What an answer came to, where it was not written while it was made. */
  answer(text: string): void
  /** Shows a run from its beginning. */
  view(): { view: RunView; watching: Watching; close: () => void }
  /** Whoever answers the questions of work in the background. */
  person(who: () => string): Person | undefined
  /** What is done where somebody leaves from a question. */
  onLeave(leave: () => void): void
  /** What stands between the answer and the input. */
  below(lines: Picture): void
  changed(): void
}

/** Where there is no terminal: answers and what commands say on stdout, what happens on stderr. */
export function plainFace(screen: ChatScreen): Face {
  return {
    paint: paintFor(process.stdout, process.env),
    interactive: false,
    say: (text) => screen.write(`${text}\n`),
    answer: (text) => screen.write(`${text}\n`),
    view: () => {
      const view = new RunView(process.stderr, process.env)
      return { view, watching: {}, close: () => view.close() }
    },
    person: () => undefined,
    onLeave: () => {},
    below: () => {},
    changed: () => {},
  }
}

export function terminalFace(screen: ChatScreen, words_from_log: boolean): Face {
  const turn: Turn = { before: Promise.resolve() }
  const quiet = createQuiet(process.stdin, { drafting: () => screen.drafting() })
  let current: RunView | null = null
  let tree: Picture | null = null
  let below: Picture = () => []
  /** Who has a question and lets the person finish what they write. */
  let waits: string | null = null
  let leave = () => {}
  const paint = paintFor(process.stdout, process.env)
  const stage: Stage = {
    write: (text) => screen.write(text),
    picture: (lines) => {
      tree = lines
      screen.changed()
    },
    changed: () => screen.changed(),
    away: () => screen.away(),
    back: () => screen.back(),
  }
  screen.status((size) => {
    const under = [...below(size), ...waiting(size.columns)]
    const room = { ...size, rows: Math.max(2, size.rows - under.length) }
    return [...(tree?.(room) ?? []), ...under]
  })
  const say = (text: string) => {
    if (current) current.line(text)
    else screen.write(`${text}\n`)
  }
  const untilQuiet = async (who: string, signal: AbortSignal) => {
    waits = who
    screen.changed()
    await quiet(signal)
    waits = null
    screen.changed()
  }
  const asked = { turn, output: process.stdout, leave: () => leave() }
  return {
    paint,
    interactive: true,
    say,
    answer: say,
    view: () => {
      const view = new RunView(process.stdout, process.env, { live: true, stage, words_from_log })
      current = view
      const close = () => {
        view.close()
        if (current === view) current = null
      }
      const asking = {
        reached: async (question: Parameters<RunView['reached']>[0], signal: AbortSignal) => {
          await view.reached(question, signal)
          await untilQuiet('the answer', signal)
        },
        hold: () => view.hold(),
        release: () => view.release(),
      }
      const person = terminalPerson(asking, asked)
      return { view, watching: { person, onDelta: (delta) => view.delta(delta) }, close }
    },
    person: (who) => {
      // What the answer shows meanwhile waits too: there is one terminal.
      const asking = {
        reached: (_: unknown, signal: AbortSignal) => untilQuiet(who(), signal),
        hold: () => {
          stage.away()
          return (text: string) => void process.stdout.write(`${text}\n`)
        },
        release: () => stage.back(),
      }
      return terminalPerson(asking, { ...asked, who })
    },
    onLeave: (given) => {
      leave = given
    },
    below: (lines) => {
      below = lines
    },
    changed: () => screen.changed(),
  }

  function waiting(columns: number): string[] {
    if (waits === null) return []
    const text = `${waits} waits for your yes or no: you are asked when the input is empty and nobody types`
    return [paint.yellow(cut(text, Math.max(1, columns - 1)))]
  }
}
