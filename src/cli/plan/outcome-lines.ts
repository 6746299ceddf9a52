import { namesInWords, type PlanOutcome, type RunStatus } from '../../index.js'
import { cost, duration, line, type Paint, plural } from '../style.js'
import { labelOf } from './progress.js'

type StepOutcome = PlanOutcome['steps'][number]

const MARKS = { completed: '✓', failed: '✗', skipped: '–', waiting: '○', running: '●' } as const

/** A title can be a sentence; the report has all of it. */
const TITLE_CHARS = 60

/** What a plan has come to: a line for each step, and what holds for the whole. `status`: of the run. */
export function outcomeLines(outcome: PlanOutcome, status: RunStatus, paint: Paint): string[] {
  const { checks, findings, totals } = outcome
  const { green, red, yellow, dim } = paint
  return [
    ...stepLines(outcome, status, paint),
    ...checks.map(({ what, passed }) => `${passed ? green('✓') : red('✗')} check of the whole: ${line(what)}`),
    ...findings.map(({ title }) => `${yellow('!')} found and not mended: ${line(title)}`),
    dim(
      `${progressOf(outcome)} · ${plural(totals.agents, 'sub-agent')}, ${plural(totals.tool_calls, 'call')}, ${plural(totals.tokens, 'token')}, ${cost(totals.cost_usd)}, ${duration(totals.duration_ms)}`,
    ),
  ]
}

/** How it stands, in words. */
export function standing({ status, reason }: PlanOutcome, run: RunStatus): string {
  if (status === 'running') return run === 'closed' ? 'not carried out to its end' : run
  const words = { completed: 'completed', failed: 'failed', made: 'not carried out', left: 'not carried out' }[status]
  return reason === null || status === 'completed' ? words : `${words}: ${line(reason)}`
}

function progressOf({ steps }: PlanOutcome): string {
  const over = steps.filter(({ status }) => status !== 'waiting' && status !== 'running').length
  return `${over} of ${plural(steps.length, 'step')}`
}

function stepLines(outcome: PlanOutcome, run: RunStatus, paint: Paint): string[] {
  const rows = outcome.steps.map((step) => ({ step, name: nameOf(step), state: stateOf(step, outcome, run) }))
  const names = rows.reduce((most, { name }) => Math.max(most, name.length), 0)
  const states = rows.reduce((most, { state }) => Math.max(most, state.length), 0)
  return rows.flatMap(({ step, name, state }) => {
    const colour = colourOf(step, paint)
    const figures = figuresOf(step)
    const first = `${colour(MARKS[step.status])} ${name.padEnd(names)}  ${colour(figures === '' ? state : state.padEnd(states))}`
    return [
      figures === '' ? first : `${first}  ${paint.dim(figures)}`,
      ...(step.reason === null ? [] : [`  ${line(step.reason)}`]),
    ]
  })
}

function nameOf(step: StepOutcome): string {
  const title = line(step.title.replace(/\s+/g, ' '))
  const short = title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS - 1)}…` : title
  return `${labelOf(step)} ${step.agent === null ? '' : `${line(step.agent)}: `}${short}`
}

function stateOf(step: StepOutcome, { plan }: PlanOutcome, run: RunStatus): string {
  if (step.status === 'running') return run === 'running' ? 'running' : 'interrupted'
  if (step.status === 'completed' && step.incomplete) return 'completed, incomplete'
  if (step.status !== 'waiting') return step.status
  const after = plan?.steps.find(({ id }) => id === step.id)?.depends_on ?? []
  return after.length === 0 ? 'waiting' : `waiting, after ${namesInWords(after.map((id) => line(id)))}`
}

function colourOf({ status, incomplete }: StepOutcome, { green, red, yellow, dim }: Paint): (text: string) => string {
  if (incomplete) return yellow
  return { completed: green, failed: red, skipped: yellow, waiting: dim, running: yellow }[status]
}

function figuresOf(step: StepOutcome): string {
  const { agent_id, attempts, tool_calls, tokens, cost_usd, duration_ms } = step
  if (agent_id === null) return ''
  const who = [agent_id, ...(attempts > 1 ? [plural(attempts, 'attempt')] : [])]
  // What an attempt under way has used is known when it is closed.
  if (step.status === 'running') return who.join(', ')
  return [...who, plural(tool_calls, 'call'), plural(tokens, 'token'), cost(cost_usd), duration(duration_ms)].join(', ')
}
