import type { Person, PersonAnswer, Question, Rule } from '../index.js'
import { line, printable } from './style.js'
import type { RunView } from './view.js'

type Say = (text: string) => void

/** What is on the terminal, as far as a question has to do with it. */
export type Asking = Pick<RunView, 'reached' | 'hold' | 'release'>

/** The question before, whoever asked it: agents and runs that work side by side may ask at once. */
export type Turn = { before: Promise<unknown> }

type PersonOptions = {
  /** Shared by all that ask at this terminal. Default: nobody else does. */
  turn?: Turn
  /** Who asks, where there is more than one run. */
  who?: string
}

/** The person at this terminal. Esc means no; Ctrl-C means the same as ever. */
export function terminalPerson(view: Asking, options: PersonOptions = {}): Person {
  const turn = options.turn ?? { before: Promise.resolve() }
  const who = options.who === undefined ? '' : `${options.who} `
  return {
    permit: (question, signal) => inTurn(question, signal, (asking, say) => permit(question, asking, say)),
    answer: (question, signal) => inTurn({}, signal, (asking, say) => answer(question, asking, say)),
  }

  /** One question at a time: there is one keyboard. */
  function inTurn<T>(
    about: { agent_id?: string; call_id?: string },
    signal: AbortSignal,
    ask: (asking: AbortSignal, say: Say) => Promise<T>,
  ): Promise<T | null> {
    const answered = turn.before.then(async () => {
      await view.reached(about, signal)
      if (signal.aborted) return null
      const say = view.hold()
      try {
        return await prompting(signal, (asking) => ask(asking, say))
      } finally {
        view.release()
      }
    })
    turn.before = answered.catch(() => {})
    return answered
  }

  async function permit(question: Question, signal: AbortSignal, say: Say): Promise<PersonAnswer> {
    const { select, text, isCancel } = await import('@clack/prompts')
    const grant = grantFor(question)
    say('')
    if (question.detail !== null) say(indented(question.detail, question.call.commands === undefined))
    const choice = await select({
      message: `${who}${asker(question)}${question.tool}: ${line(question.summary)} (${line(question.reason)})`,
      options: [
        { value: 'once', label: 'Yes, this once' },
        ...(grant ? [{ value: 'run', label: `Yes, and ${describeGrant(grant)} for the rest of this run` }] : []),
        { value: 'no', label: 'No' },
        { value: 'why', label: 'No, and say why' },
      ],
      output: process.stderr,
      signal,
    })
    const by = 'person'
    if (choice === 'once') return { answer: 'allow', grant: null, by, note: null }
    if (choice === 'run') return { answer: 'allow', grant, by, note: null }
    if (choice !== 'why') return { answer: 'deny', grant: null, by, note: null }
    const note = await text({ message: 'Why not, or what instead?', output: process.stderr, signal })
    return { answer: 'deny', grant: null, by, note: isCancel(note) ? null : note }
  }

  async function answer(
    question: { text: string; options: string[] },
    signal: AbortSignal,
    say: Say,
  ): Promise<string | null> {
    const { select, text, isCancel } = await import('@clack/prompts')
    say('')
    const message = `${who}${printable(question.text)}`
    const answer =
      question.options.length > 0
        ? await select({
            message,
            options: question.options.map((option) => ({ value: option, label: printable(option) })),
            output: process.stderr,
            signal,
          })
        : await text({ message, output: process.stderr, signal })
    return isCancel(answer) ? null : String(answer)
  }
}

/** The person has one task in mind, but several agents may work on it. */
function asker({ agent_id }: Question): string {
  return agent_id === undefined || agent_id === 'root' ? '' : `${agent_id} `
}

/**
 * A prompt reads keys raw, so that Ctrl-C is no signal any more; it is made one again. Ctrl-D, which would end the input
 * and leave the question open for ever, means no. Each prompt has a signal of its own: it leaves listeners behind.
 */
async function prompting<T>(signal: AbortSignal, prompt: (asking: AbortSignal) => Promise<T>): Promise<T> {
  const asking = new AbortController()
  const stop = () => asking.abort()
  const listen = (keys: Buffer | string) => {
    if (keys.includes('\u0003')) process.emit('SIGINT')
    if (keys.includes('\u0004')) stop()
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  process.stdin.on('data', listen)
  try {
    return await prompt(asking.signal)
  } finally {
    process.stdin.off('data', listen)
    signal.removeEventListener('abort', stop)
  }
}

/** So much of a change is shown before the question; a command is always shown whole. */
const DETAIL_LINES = 40

/** Every line of it with a bar in front, so that nothing in it can pass for something that Retinue says. */
function indented(detail: string, may_cut: boolean): string {
  const width = Math.max(20, (process.stderr.columns ?? 80) - 6)
  const lines = printable(detail)
    .split('\n')
    .flatMap((text) => text.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [''])
  const most = may_cut ? DETAIL_LINES : lines.length
  const shown = lines.slice(0, most).map((text) => `  │ ${text}`)
  return [...shown, ...(lines.length > most ? [`  … and ${lines.length - most} more lines`] : [])].join('\n')
}

/** What a standing yes would cover: this tool on any path, or commands that begin with the same two words. */
function grantFor({ tool, call, grantable }: Question): Rule | null {
  if (!grantable) return null
  if (call.commands === undefined) return { decision: 'allow', tool, pattern: null }
  const all = call.commands ?? []
  const alone = all.filter((part) => part.kind === 'write' || !part.rides)
  const parts = alone.length > 0 ? alone : all
  const [part] = parts
  // A yes to several commands, to a file that is written or to what cannot be seen is a yes to this once.
  if (parts.length !== 1 || part?.kind !== 'command' || part.hides || part.spelled.length > 0) return null
  const shown = part.words.slice(0, 2)
  // In a rule a star stands for more than itself, and a blank ends a word.
  if (!shown.every((word) => typeof word === 'string' && /^[^\s*]+$/.test(word))) return null
  return { decision: 'allow', tool, pattern: part.words.length > 2 ? `${shown.join(' ')} *` : shown.join(' ') }
}

function describeGrant({ tool, pattern }: Rule): string {
  return pattern === null ? `every ${tool}` : `every \`${printable(pattern)}\``
}
