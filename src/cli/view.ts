import { type Delta, type RunResult, type StoredEvent, summarize } from '../index.js'
import { cost, duration, line, type Paint, plural, printable } from './style.js'

type Out = { write(text: string): unknown }

/**
 * A run as a person sees it while it goes on: one line for each thing that happens, from the log, and the model's
 * words as it writes them.
 */
export class RunView {
  #midLine = false

  constructor(
    private readonly out: Out,
    private readonly paint: Paint,
    /** The run is worked on by another process. */
    private readonly elsewhere = false,
  ) {}

  delta(delta: Delta): void {
    if (delta.type !== 'text') return
    const text = printable(delta.text)
    this.out.write(text)
    if (text !== '') this.#midLine = !text.endsWith('\n')
  }

  event(event: StoredEvent): void {
    const line = this.#line(event)
    if (line !== null) this.line(line)
  }

  line(text: string): void {
    if (this.#midLine) this.out.write('\n')
    this.#midLine = false
    this.out.write(`${text}\n`)
  }

  #line(event: StoredEvent): string | null {
    const { dim, red, green, yellow, cyan } = this.paint
    switch (event.type) {
      case 'tool.called':
        return `${cyan('→')} ${event.data.tool} ${dim(line(event.data.summary))}`
      case 'tool.finished': {
        const { status, files_changed, duration_ms, content } = event.data
        if (status !== 'ok') return `  ${red('✗')} ${status}: ${line(firstLine(content))}`
        if (files_changed.length > 0) return `  ${green('✓')} ${dim(`changed ${line(files_changed.join(', '))}`)}`
        return duration_ms > 1000 ? `  ${green('✓')} ${dim(duration(duration_ms))}` : null
      }
      case 'tool.refused':
        return `${red('✗')} ${event.data.tool} ${line(event.data.summary)} ${red('refused')}: ${line(firstLine(event.data.content))}`
      case 'run.created':
        return this.#degraded(event.data)
      case 'model.responded':
        return event.data.fell_over.length > 0 ? dim(`  ${line(fellOver(event.data))}`) : null
      case 'agent.resumed': {
        const degraded = this.#degraded(event.data)
        return `${yellow('!')} ${line(summarize(event))}${degraded === null ? '' : `\n${degraded}`}`
      }
      case 'permission.asked':
        // At the terminal that asks, the question itself is what is seen.
        return this.elsewhere ? `${yellow('?')} waits for a person: ${line(event.data.summary)}` : null
      case 'model.requested':
        return event.data.attempt > 1 ? dim(`  trying again, attempt ${event.data.attempt}`) : null
      case 'model.failed':
      case 'context.masked':
      case 'context.summarized':
      case 'budget.exceeded':
      case 'run.cancel_requested':
        return `${yellow('!')} ${line(summarize(event))}`
      default:
        return null
    }
  }

  /** What there is less of than one might expect. */
  #degraded({ sandbox, notes }: { sandbox: { kind: string; reason: string }; notes: string[] }): string | null {
    const said = [...(sandbox.kind === 'none' ? [sandbox.reason] : []), ...notes]
    return said.length > 0 ? said.map((note) => `${this.paint.yellow('!')} ${line(note)}`).join('\n') : null
  }

  /** The last lines: what it came to, what it cost, and where to look. */
  ending(result: RunResult): void {
    const { dim, green, red, yellow, bold } = this.paint
    const { outcome, usage } = result
    const colour = outcome === 'completed' ? green : outcome === 'budget_exceeded' ? yellow : red
    const tokens = usage.input_tokens + usage.output_tokens
    const figures = [
      plural(result.turns, 'turn'),
      plural(result.tool_calls, 'tool call'),
      plural(tokens, 'token'),
      cost(result.cost_usd),
      duration(result.duration_ms),
    ]
    this.line(`${colour(bold(outcome))} ${dim(`· ${figures.join(' · ')} · retinue show ${result.run_id}`)}`)
    if (result.reason) this.line(`  ${printable(result.reason)}`)
  }
}

function fellOver({ fell_over, answered_by }: Extract<StoredEvent, { type: 'model.responded' }>['data']): string {
  return `${fell_over.map(({ model, code }) => `${model}: ${code}`).join('; ')}; ${answered_by} answered`
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] as string
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}
