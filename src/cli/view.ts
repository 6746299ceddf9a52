import { type Delta, emptyTree, growTree, type RunResult, type StoredEvent } from '../index.js'
import { eventLine } from './event-lines.js'
import { cost, duration, type Paint, paintFor, plural, printable } from './style.js'
import { treeLines } from './tree/lines.js'
import { LiveScreen, type Screen, type Size } from './tree/screen.js'

type ViewStream = Screen & { isTTY?: boolean }

type ViewOptions = {
  /** The run is worked on by another process. */
  elsewhere?: boolean
  /** Somebody looks at it as it goes on: sub-agents are shown as a tree at the bottom. Needs a terminal. */
  live?: boolean
}

/** So much of what a sub-agent's model is writing is kept to show its end. */
const SPEECH = 160

/**
 * A run as a person sees it while it goes on: one line for each thing that happens, from the log, the words of the root
 * agent's model as it writes them, and the tree of agents as soon as there is more than one.
 */
export class RunView {
  readonly #paint: Paint
  readonly #elsewhere: boolean
  readonly #screen: LiveScreen | null
  readonly #tree = emptyTree()
  readonly #speech = new Map<string, string>()
  #midLine = false
  /** What is to be written when nobody is being asked any more. */
  #held: string | null = null

  constructor(
    private readonly out: ViewStream,
    env: Record<string, string | undefined>,
    options: ViewOptions = {},
  ) {
    this.#paint = paintFor(out, env)
    this.#elsewhere = options.elsewhere === true
    const live = options.live === true && out.isTTY === true && env.TERM !== 'dumb'
    this.#screen = live ? new LiveScreen(out, (size) => this.#lines(size)) : null
  }

  delta(delta: Delta): void {
    if (delta.type !== 'text') return
    const text = printable(delta.text)
    if (this.#isSubAgent(delta.agent_id)) {
      // Several at once would mix: in the tree each has a line of its own.
      this.#speech.set(delta.agent_id, `${this.#speech.get(delta.agent_id) ?? ''}${text}`.slice(-SPEECH))
      this.#refresh()
      return
    }
    this.#write(text)
    if (text !== '') this.#midLine = !text.endsWith('\n')
  }

  event(event: StoredEvent): void {
    growTree(this.#tree, event)
    if (event.type === 'model.responded' || event.type === 'model.failed') this.#speech.delete(event.agent_id)
    const sub_agent = this.#isSubAgent(event.agent_id)
    const text = eventLine(event, { paint: this.#paint, elsewhere: this.#elsewhere, sub_agent })
    if (text !== null) this.line(text)
    this.#refresh()
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

  /** There is nothing more to come: the tree as it is now stays as ordinary lines. */
  close(): void {
    if (this.#held !== null) this.release()
    this.#endLine()
    if (!this.#screen?.close()) return
    for (const text of this.#lines({ columns: this.out.columns || 80, rows: this.out.rows || 24 })) this.line(text)
  }

  /** The last lines: what it came to, what it cost, and where to look. */
  ending(result: RunResult): void {
    this.close()
    const { dim, green, red, yellow, bold } = this.#paint
    const { outcome, usage, sub_agents = 0 } = result
    const colour = outcome === 'completed' ? green : outcome === 'budget_exceeded' ? yellow : red
    const tokens = usage.input_tokens + usage.output_tokens
    const figures = [
      plural(result.turns, 'turn'),
      plural(result.tool_calls, 'tool call'),
      ...(sub_agents > 0 ? [plural(sub_agents, 'sub-agent')] : []),
      plural(tokens, 'token'),
      cost(result.cost_usd),
      duration(result.duration_ms),
    ]
    this.line(`${colour(bold(outcome))} ${dim(`· ${figures.join(' · ')} · retinue show ${result.run_id}`)}`)
    if (result.reason) this.line(`  ${printable(result.reason)}`)
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
    if (this.#tree.agents.size > 1 && this.#held === null) this.#screen?.changed()
  }

  #isSubAgent(id: string): boolean {
    return this.#tree.root !== null && id !== this.#tree.root.id
  }

  #lines(size: Size): string[] {
    const { columns, rows } = size
    return treeLines(this.#tree, { columns, rows, now: Date.now(), paint: this.#paint, speech: this.#speech })
  }
}
