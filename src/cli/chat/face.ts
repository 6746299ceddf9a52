import type { Person, Watching } from '../../index.js'
import { type Turn, terminalPerson } from '../person.js'
import { type Paint, paintFor } from '../style.js'
import type { Stage } from '../tree/stage.js'
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
  person(who: string): Person | undefined
  /** Whether a question of such work has the terminal: Ctrl-C is a no to it, and nothing else. */
  asksInBackground(): boolean
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
    asksInBackground: () => false,
    below: () => {},
    changed: () => {},
  }
}

export function terminalFace(screen: ChatScreen): Face {
  const turn: Turn = { before: Promise.resolve() }
  const quiet = createQuiet(process.stdin)
  let current: RunView | null = null
  let tree: Picture | null = null
  let below: Picture = () => []
  let asked_in_background = false
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
    const under = below(size)
    const room = { ...size, rows: Math.max(2, size.rows - under.length) }
    return [...(tree?.(room) ?? []), ...under]
  })
  const say = (text: string) => {
    if (current) current.line(text)
    else screen.write(`${text}\n`)
  }
  return {
    paint: paintFor(process.stdout, process.env),
    interactive: true,
    say,
    answer: say,
    view: () => {
      const view = new RunView(process.stdout, process.env, { live: true, stage })
      current = view
      const close = () => {
        view.close()
        if (current === view) current = null
      }
      const asking = {
        reached: async (question: { agent_id?: string; call_id?: string }, signal: AbortSignal) => {
          await view.reached(question, signal)
          await quiet(signal)
        },
        hold: () => view.hold(),
        release: () => view.release(),
      }
      const person = terminalPerson(asking, { turn })
      return { view, watching: { person, onDelta: (delta) => view.delta(delta) }, close }
    },
    person: (who) => {
      // What the answer shows meanwhile waits too: there is one terminal.
      const asking = {
        reached: (_: unknown, signal: AbortSignal) => quiet(signal),
        hold: () => {
          asked_in_background = true
          stage.away()
          return (text: string) => void process.stdout.write(`${text}\n`)
        },
        release: () => {
          asked_in_background = false
          stage.back()
        },
      }
      return terminalPerson(asking, { turn, who })
    },
    asksInBackground: () => asked_in_background,
    below: (lines) => {
      below = lines
    },
    changed: () => screen.changed(),
  }
}
