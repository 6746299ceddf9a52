import { costInWords, plural } from '../domain/index.js'
import { code, firstLine, inline } from './markdown.js'
import type { StepOutcome } from './outcome.js'

/** A block of a page: as it is, or words of somebody else, which are fenced and may be cut. */
export type Block = string | { said: string }

const MOST_FILES = 20
/** A reason that is longer, or has lines, stands by itself. */
const SHORT_REASON = 200

export function statusWord({ status, incomplete }: StepOutcome) {
  return incomplete ? 'incomplete' : status
}

/** What became of one step. `is_told`: what it says is said elsewhere. */
export function stepBlocks(step: StepOutcome, is_told: boolean): Block[] {
  const { id, title, stage, agent, status, reason, attempts, failures, gates, summary } = step
  const said_by_itself = reason !== null && (reason.includes('\n') || reason.length > SHORT_REASON)
  // What it says is then the plan itself, and the summary is ours.
  const is_data = stage === 'plan' && status === 'completed'
  const why = reason === null || said_by_itself ? '' : `: ${inline(reason)}`
  const lines = [
    `- Status: ${statusInWords(step)}${why}`,
    ...(agent === null ? [] : [`- Who: ${inline(agent)}`]),
    ...(attempts > 1 ? [`- Attempts: ${attempts}`] : []),
    ...failures.map((failure, i) => `  - attempt ${i + 1} failed: ${firstLine(failure)}`),
    ...filesLine('Files', step.files_changed),
    ...filesLine('Files that are not in the result', step.files_kept),
    ...gates.map(({ what, passed, stage: when }) => {
      return `- Check ${passed ? 'passed' : 'failed'}${when === 'after_merge' ? ' after the merge' : ''}: ${code(what)}`
    }),
    ...(attempts > 0 ? [`- Used: ${figures(step)}`] : []),
    ...(is_data && summary !== '' ? [`- ${summary}`] : []),
  ]
  return [
    `### Step ${inline(id)}: ${inline(title, 120)}${stage === 'work' ? '' : ` (${stage})`}`,
    lines.join('\n'),
    ...(said_by_itself ? [`Why it ${status === 'skipped' ? 'was skipped' : 'failed'}:`, { said: reason }] : []),
    ...(summary === '' || is_data || is_told ? [] : ['It says:', { said: summary }]),
  ]
}

function statusInWords(step: StepOutcome): string {
  return step.incomplete ? 'incomplete, its budget ended before it was done' : step.status
}

function filesLine(label: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return []
  const more = paths.length > MOST_FILES ? ` and ${paths.length - MOST_FILES} more` : ''
  return [
    `- ${label}: ${paths
      .slice(0, MOST_FILES)
      .map((path) => code(path))
      .join(', ')}${more}`,
  ]
}

function figures({ tool_calls, tokens, cost_usd }: StepOutcome): string {
  return [plural(tool_calls, 'tool call'), plural(tokens, 'token'), costInWords(cost_usd)].join(', ')
}
