import { grantInWords, type Person, type PersonAnswer, type Question } from '../index.js'
import { approve, type PlanEditing } from './plan/approving.js'
import { choose } from './question/choose.js'
import { indented } from './question/indented.js'
import type { Desk } from './question/prompt.js'
import { withdrawn } from './question/withdrawn.js'
import { write } from './question/write.js'
import { line, paintFor, printable } from './style.js'
import type { RunView } from './view.js'

type Say = (text: string) => void

/** What is on the terminal, as far as a question has to do with it. */
export type Asking = Pick<RunView, 'reached' | 'hold' | 'release'>

/** The question before, whoever asked it: agents and runs that work side by side may ask at once. */
export type Turn = { before: Promise<unknown> }

type PersonOptions = Partial<Pick<Desk, 'output' | 'leave'>> & {
  /** Shared by all that ask at this terminal. Default: nobody else does. */
  turn?: Turn
  /** Who asks, where there is more than one run. */
  who?: () => string
  /** Default: plans cannot be edited here. */
  editing?: PlanEditing
}

/** The person at this terminal. Esc means no, and so does Enter where nothing was chosen. */
export function terminalPerson(view: Asking, options: PersonOptions = {}): Person {
  const turn = options.turn ?? { before: Promise.resolve() }
  const who = () => (options.who === undefined ? '' : `${options.who()} `)
  const { output = process.stderr, leave } = options
  const desk: Desk = { input: process.stdin, output, ...(leave ? { leave } : {}) }
  return {
    permit: (question, signal) => inTurn(question, signal, (say) => permit(question, signal, say)),
    answer: (question, signal) => inTurn({}, signal, (say) => answer(question, signal, say)),
    approve: (proposal, signal) =>
      inTurn({ approval: proposal.step }, signal, (say) => {
        const { editing } = options
        return approve(proposal, {
          desk,
          say,
          signal,
          paint: paintFor(output, process.env),
          ...(editing ? { editing } : {}),
        })
      }),
  }

  /** One question at a time: there is one keyboard. */
  function inTurn<T>(
    about: Parameters<Asking['reached']>[0],
    signal: AbortSignal,
    ask: (say: Say) => Promise<T>,
  ): Promise<T | null> {
    const answered = turn.before.then(async () => {
      await view.reached(about, signal)
      if (signal.aborted) return null
      const say = view.hold()
      try {
        return await ask(say)
      } finally {
        view.release()
      }
    })
    turn.before = answered.catch(() => {})
    return answered
  }

  async function permit(question: Question, signal: AbortSignal, say: Say): Promise<PersonAnswer | null> {
    const { grant } = question
    say('')
    if (question.detail !== null)
      say(indented(question.detail, question.call.commands === undefined ? DETAIL_LINES : undefined))
    say(`? ${who()}${asker(question)}${question.tool}: ${line(question.summary)} (${line(question.reason)})`)
    const options = [
      { value: 'no', label: 'No' },
      { value: 'why', label: 'No, and say why' },
      { value: 'once', label: 'Yes, this once' },
      ...(grant
        ? [{ value: 'run', label: `Yes, and ${printable(grantInWords(grant))} for the rest of this run` }]
        : []),
    ]
    const labels = options.map(({ label }) => label)
    const ended = await choose(desk, signal, { labels, chosen: 0, escape: 'means no' })
    if (ended.kind === 'stopped') return withdrawn(signal, say)
    const choice = ended.kind === 'answer' ? options[ended.value] : options[0]
    const by = 'person'
    if (choice?.value === 'why') {
      say('? Why not, or what instead?')
      const why = await write(desk, signal, { calm: true })
      if (why.kind === 'stopped') return withdrawn(signal, say)
      const note = why.kind === 'answer' ? why.value : null
      say(`  → No${note === null ? '' : `: ${line(note)}`}`)
      return { answer: 'deny', grant: null, by, note }
    }
    say(`  → ${choice?.label}`)
    if (choice?.value === 'once') return { answer: 'allow', grant: null, by, note: null }
    if (choice?.value === 'run') return { answer: 'allow', grant, by, note: null }
    return { answer: 'deny', grant: null, by, note: null }
  }

  async function answer(
    question: { text: string; options: string[] },
    signal: AbortSignal,
    say: Say,
  ): Promise<string | null> {
    const { text, options } = question
    say('')
    say(`? ${who()}${printable(text)}`)
    const labels = options.map(line)
    const chosen =
      options.length > 0 ? await choose(desk, signal, { labels, chosen: null, escape: 'answers nothing' }) : null
    const ended = chosen ?? (await write(desk, signal, { calm: false }))
    if (ended.kind === 'stopped') return withdrawn(signal, say)
    const given = ended.kind === 'no' ? null : typeof ended.value === 'number' ? options[ended.value] : ended.value
    say(`  → ${given === null || given === undefined ? 'no answer' : line(given)}`)
    return given ?? null
  }
}

/** The person has one task in mind, but several agents may work on it. */
function asker({ agent_id }: Question): string {
  return agent_id === undefined || agent_id === 'root' ? '' : `${agent_id} `
}

/** So much of a change is shown before the question; a command is always shown whole. */
const DETAIL_LINES = 40
