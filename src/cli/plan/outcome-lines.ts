import {
  namesInWords,
  type PlanOutcome,
  type RunResult,
  type RunStatus,
  type RunSummary,
  stepCounts,
  stepLabel,
} from '../../index.js'
import { cost, duration, line, type Paint, plural } from '../style.js'

type StepOutcome = PlanOutcome['steps'][number]

const MARKS = { completed: '✓', failed: '✗', skipped: '–', waiting: '○', running: '●' } as const

/** A title can be a sentence; the report has all of it. */
const TITLE_CHARS = 60

/** How the run stands that a plan is of. `outcome`: null until it is closed. */
type Standing = { status: RunStatus; outcome: RunResult['outcome'] | null; paused?: RunSummary['paused'] }

/** What a plan has come to: a line for each step, and what holds for the whole. */
export function outcomeLines(outcome: PlanOutcome, { status }: Pick<Standing, 'status'>, paint: Paint): string[] {
  const { checks, findings, totals } = outcome
  const { green, red, yellow, dim } = paint
  return [
    ...stepLines(outcome, status, paint),
    ...checks.map(({ what, passed }) => `${passed ? green('✓') : red('✗')} check of the whole: ${line(what)}`),
    ...findings.map(({ title }) => `${yellow('!')} found and not mended: ${line(title)}`),
    dim(
      `${stepCounts(outcome.steps)} · ${plural(totals.agents, 'sub-agent')}, ${plural(totals.tool_calls, 'call')}, ${plural(totals.tokens, 'token')}, ${cost(totals.cost_usd)}, ${duration(totals.duration_ms)}`,
    ),
  ]
}

export const NOT_CARRIED_OUT = 'not carried out'

/** How it stands, in a word or a few. */
export function standingWord({ status, revision }: PlanOutcome, run: Standing): string {
  const left = status === 'made' || status === 'left'
  if (left && revision === 0) return NOT_CARRIED_OUT
  if (run.status !== 'closed') return run.paused ? 'paused' : run.status
  if (run.outcome === 'cancelled' && status !== 'completed') return 'cancelled'
  return left || status === 'running' ? 'not carried out to its end' : status
}

/** The same with why, and what can be done about it. */
export function standing(outcome: PlanOutcome, run: Standing): string {
  const word = standingWord(outcome, run)
  if (word === 'paused' || word === 'interrupted') return `${word}: retinue resume ${outcome.run_id}`
  const { reason, status } = outcome
  return reason === null || status === 'completed' ? word : `${word}: ${line(reason)}`
}

/** Whether there is a plan of which nothing was begun: it was all that was wanted, or it was left, or stopped before. */
export function isForLater({ status, revision, plan }: PlanOutcome, { outcome }: Pick<Standing, 'outcome'>): boolean {
  // One that was left when its rest was to be changed has come to something.
  if (revision > 0) return false
  return status === 'made' || status === 'left' || (outcome === 'cancelled' && plan !== null)
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
  return `${line(stepLabel(step))} ${step.agent === null ? '' : `${line(step.agent)}: `}${short}`
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
