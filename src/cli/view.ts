import {
  type Delta,
  emptyTree,
  growTree,
  keptWorkInWords,
  landingInWords,
  landingLeftOutInWords,
  leftOutInWords,
  PlanProgress,
  PROGRAM,
  type RunResult,
  type StoredEvent,
  totalsOf,
  waitsForPerson,
  worktreeOf,
} from '../index.js'
import { eventLine } from './event-lines.js'
import { byYou, cost, duration, line, type Paint, paintFor, plural, printable } from './style.js'
import { treeLines } from './tree/lines.js'
import { LiveScreen, type Screen, type Size } from './tree/screen.js'
import { onStage, type Stage, type TreeScreen } from './tree/stage.js'

type ViewStream = Screen & { isTTY?: boolean }

type ViewOptions = {
  /** The run is worked on by another process. */
  elsewhere?: boolean
  /** Somebody looks at it as it goes on: sub-agents are shown as a tree at the bottom. Needs a terminal. */
  live?: boolean
  /** All of it happened before: only what it came to is shown. */
  past?: boolean
  /** Words of the root agent's model may get lost on their way: what is missing of them when the log has them is shown. */
  words_from_log?: boolean
  /** A live screen that is shared with others, instead of one of its own. */
  stage?: Stage
}

/** What a question is about: a call, or a plan (`approval` null) or one of its steps. */
type Questioned = { agent_id?: string; call_id?: string; approval?: string | null }

type Words = Extract<Delta, { type: 'text' | 'reasoning' }>

/** So much of what a sub-agent's model is writing is kept to show its end. */
const SPEECH = 160

/** So many sub-agents are named at the end for what they left out. */
const LEFT_OUT = 5

/**
 * A run as a person sees it while it goes on: one line for each thing that happens, from the log, the words of the root
 * agent's model as it writes them, and the tree of agents as soon as there is more than one.
 */
export class RunView {
  readonly #paint: Paint
  readonly #elsewhere: boolean
  readonly #past: boolean
  readonly #words_from_log: boolean
  readonly #screen: TreeScreen | null
  readonly #tree = emptyTree()
  readonly #progress = new PlanProgress(line)
  readonly #speech = new Map<string, string>()
  #midLine = false
  #interrupted = false
  /** When the last event was. */
  #seenAt = 0
  /** What is to be written when nobody is being asked any more. */
  #held: string | null = null
  /** The request of the root agent that was seen last. */
  #asked: string | null = null
  /** Words of the root agent that were here before the event of their request: they are faster than the log. */
  #early: Words[] = []
  /** What of the words that it is asked for was shown, and the requests of which all was. */
  #heard = ''
  readonly #whole = new Set<string>()
  /** Whoever waits for an event: one question is asked at a time. */
  #look = () => {}

  constructor(
    private readonly out: ViewStream,
    env: Record<string, string | undefined>,
    options: ViewOptions = {},
  ) {
    this.#paint = paintFor(out, env)
    this.#elsewhere = options.elsewhere === true
    this.#past = options.past === true
    this.#words_from_log = options.words_from_log === true
    const live = options.live === true && out.isTTY === true && env.TERM !== 'dumb'
    const lines = (size: Size) => this.#lines(size)
    this.#screen = options.stage ? onStage(options.stage, lines) : live ? new LiveScreen(out, lines) : null
  }

  delta(delta: Delta): void {
    if (delta.type !== 'text') return
    if (this.#isSubAgent(delta.agent_id)) {
      const text = printable(delta.text)
      // Several at once would mix: in the tree each has a line of its own.
      this.#speech.set(delta.agent_id, `${this.#speech.get(delta.agent_id) ?? ''}${text}`.slice(-SPEECH))
      this.#refresh()
      return
    }
    // All of it was shown from the log.
    if (this.#whole.has(delta.request_id)) return
    if (delta.request_id === this.#asked) this.#hear(delta.text)
    else this.#early.push(delta)
  }

  #hear(text: string): void {
    this.#heard += text
    this.#words(text)
  }

  event(event: StoredEvent): void {
    growTree(this.#tree, event)
    this.#progress.grow(event)
    this.#seenAt = event.at
    if (this.#past) return
    if (event.type === 'model.responded' || event.type === 'model.failed') this.#speech.delete(event.agent_id)
    const sub_agent = this.#isSubAgent(event.agent_id)
    const in_tree = this.#screen !== null
    const progress = this.#progress
    const text = eventLine(event, { paint: this.#paint, elsewhere: this.#elsewhere, sub_agent, in_tree, progress })
    if (text !== null) this.line(text)
    if (event.type === 'model.requested' && !sub_agent) {
      this.#asked = event.data.request_id
      this.#heard = ''
      this.#catchUp((delta) => delta.request_id === this.#asked)
    }
    if (this.#words_from_log && event.type === 'model.responded' && !sub_agent && event.data.purpose !== 'summary') {
      const said = event.data.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      if (said.startsWith(this.#heard)) this.#words(said.slice(this.#heard.length))
      this.#whole.add(event.data.request_id)
    }
    this.#look()
    this.#refresh()
  }

  /**
   * Resolves when the event of the question that an agent asks has been shown, and with it all that came before. Whoever
   * asks writes to the terminal at once, and would be ahead of the log.
   */
  reached(question: Questioned, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (signal.aborted || this.#isAsked(question)) resolve()
      }
      signal.addEventListener('abort', this.#look, { once: true })
      this.#look()
    })
  }

  /** The root agent is a program: nobody saw its answer as it was written. */
  get isOfProgram(): boolean {
    return this.#tree.root?.model.startsWith(`${PROGRAM}/`) === true
  }

  line(text: string): void {
    this.#endLine()
    this.#write(`${text}\n`)
  }

  /** Leaves the terminal to a question; what happens meanwhile is shown after it. The function writes lines of its own. */
  hold(): (text: string) => void {
    this.#endLine()
    this.#screen?.away()
    this.#held ??= ''
    return (text) => void this.out.write(`${text}\n`)
  }

  release(): void {
    const held = this.#held ?? ''
    this.#held = null
    this.#screen?.back()
    if (held !== '') this.#write(held)
    this.#refresh()
  }

  /** The process that worked on it is gone: what it did last is not being done any more. */
  interrupted(): void {
    this.#interrupted = true
    this.close()
  }

  /** There is nothing more to come: the tree as it is now stays as ordinary lines. */
  close(): void {
    if (this.#held !== null) this.release()
    // Of a run that was left before its last events were seen.
    if (this.#early.length > 0) this.#endLine()
    this.#catchUp(() => true)
    this.#endLine()
    if (!this.#screen?.close()) return
    for (const text of this.#lines({ columns: this.out.columns || 80, rows: this.out.rows || 24 })) this.line(text)
  }

  /** The last lines: what it came to, what it cost, and where to look. `word`: how it ended, if not as its outcome says. */
  ending(result: RunResult, word?: string): void {
    this.close()
    const { dim, green, red, yellow, bold } = this.#paint
    const { outcome, usage, sub_agents = 0 } = result
    // Tokens and cost of a result are those of all agents, turns and calls its own.
    const { turns, tool_calls } = sub_agents > 0 ? totalsOf(this.#tree).figures : result
    const mild = outcome === 'budget_exceeded' || word !== undefined
    const colour = outcome === 'completed' ? green : mild ? yellow : red
    const tokens = usage.input_tokens + usage.output_tokens
    const figures = [
      plural(turns, 'turn'),
      plural(tool_calls, 'tool call'),
      ...(sub_agents > 0 ? [plural(sub_agents, 'sub-agent')] : []),
      plural(tokens, 'token'),
      cost(result.cost_usd),
      duration(result.duration_ms),
    ]
    this.line(`${colour(bold(word ?? outcome))} ${dim(`· ${figures.join(' · ')} · retinue show ${result.run_id}`)}`)
    if (result.reason && word === undefined) this.line(`  ${printable(byYou(result.reason))}`)
    const [landed, then] = result.landing ? landingInWords(result.landing, result.run_id) : []
    if (landed !== undefined) this.line(`  ${line(landed)}`)
    else if (changedNothing(result)) this.line('  nothing was changed')
    if (then !== undefined) this.line(`  ${bold(line(then))}`)
    for (const text of keptWorkInWords(result, result.run_id)) this.line(`  ${line(text)}`)
    for (const text of this.#leftOut(result)) this.line(`  ${line(text)}`)
  }

  /** What no commit has and nobody would look for. */
  #leftOut({ landing, run_id }: RunResult): string[] {
    const own = landing ? landingLeftOutInWords(landing, run_id) : null
    const others = [...this.#tree.agents.values()].filter(({ left_out }) => left_out.length > 0)
    return [
      ...(own === null ? [] : [own]),
      ...others
        .slice(0, LEFT_OUT)
        .map(
          ({ id, left_out, worktree }) =>
            `${id} left out ${leftOutInWords(left_out, worktree?.path ?? worktreeOf(`retinue/${run_id}/${id}`))}`,
        ),
      ...(others.length > LEFT_OUT ? [`and ${others.length - LEFT_OUT} more: retinue worktrees`] : []),
    ]
  }

  #words(said: string): void {
    const text = printable(said)
    this.#write(text)
    if (text !== '') this.#midLine = !text.endsWith('\n')
  }

  #catchUp(fits: (words: Words) => boolean): void {
    const early = this.#early.filter((delta) => !this.#isSubAgent(delta.agent_id))
    this.#early = early.filter((delta) => !fits(delta))
    for (const delta of early) if (fits(delta)) this.#hear(delta.text)
  }

  #isAsked({ agent_id = this.#tree.root?.id, call_id, approval }: Questioned): boolean {
    if (approval !== undefined) return this.#progress.isAsked(approval)
    if (call_id === undefined) return [...this.#tree.agents.values()].some(waitsForPerson)
    return this.#tree.agents.get(agent_id ?? '')?.calls.get(call_id)?.waits_for === 'person'
  }

  #endLine(): void {
    if (this.#midLine) this.#write('\n')
    this.#midLine = false
  }

  #write(text: string): void {
    if (this.#held !== null) this.#held += text
    else if (this.#screen) this.#screen.write(text)
    else this.out.write(text)
  }

  #refresh(): void {
    const grown = this.#tree.agents.size > 1 || this.#progress.total() !== null
    if (grown && this.#held === null) this.#screen?.changed()
  }

  #isSubAgent(id: string): boolean {
    return this.#tree.root !== null && id !== this.#tree.root.id
  }

  #lines(size: Size): string[] {
    const interrupted = this.#interrupted
    const now = interrupted ? this.#seenAt : Date.now()
    const progress = this.#progress
    return treeLines(this.#tree, { ...size, now, paint: this.#paint, speech: this.#speech, interrupted, progress })
  }
}

/** Of a run that worked in a tree of its own; where it did not complete, that is what there is to say. */
function changedNothing({ outcome, landing }: RunResult): boolean {
  return (
    outcome === 'completed' && landing !== undefined && landing.files.length + (landing.left_out ?? []).length === 0
  )
}
