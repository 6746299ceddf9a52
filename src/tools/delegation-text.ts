import { type Adjustment, type AgentResult, costInWords, countInWords, isDone, plural } from '../domain/index.js'
import { boundOutput } from './bounds.js'
import { defuse } from './defuse.js'
import type { Job } from './delegation.js'
import { fairShares } from './shares.js'
import { head, oneLine, tail } from './text.js'

/** Of one report, in characters; the rest is left for read_output. */
const MAX_REPORT_CHARS = 6000
const MAX_FILE_CHARS = 500
const MIN_FILE_CHARS = 60
const MAX_REASON_CHARS = 1500
const MIN_REASON_CHARS = 100

export type Closed = NonNullable<Job['closed']>

/** One part of what a parent is told. `heads` is the runtime's own word; what the sub-agent said comes after it. */
export type Section = { heads: readonly string[]; job: Job | null; notes?: readonly string[] }

/** Blocks `[a1: OK]` in the given order, a blank line between them: what spawn_await says about jobs. */
export function jobBlocks(jobs: readonly Job[], max_chars: number): string {
  const room = reasonRoom(max_chars, jobs.length)
  return sectionsText(
    jobs.map((job) => jobSection(job, room)),
    max_chars,
  )
}

/** How long the reason of one of so many may be: a check that failed has its output in it. */
export function reasonRoom(max_chars: number, jobs: number): number {
  return between(MIN_REASON_CHARS, Math.floor(max_chars / 4 / Math.max(1, jobs)), MAX_REASON_CHARS)
}

export function jobSection(job: Job, reason_chars: number): Section {
  const { id, closed } = job
  if (!closed) return { heads: [`[${id}: RUNNING]`], job: null }
  if (!isDone(closed)) return { heads: [`[${id}: ERROR]`, whyFailed(closed, reason_chars)], job }
  const incomplete = isIncomplete(closed) ? [`Incomplete: ${reasonOf(closed, reason_chars)}`] : []
  return { heads: [`[${id}: OK]`, ...incomplete], job }
}

/** The status of one sub-agent as spawn_agent and delegate_task say it, with the reason where there is one. */
export function statusOf(
  closed: Closed,
  reason_chars: number,
): { word: 'COMPLETED' | 'INCOMPLETE' | 'ERROR'; why: string } {
  if (!isDone(closed)) return { word: 'ERROR', why: whyFailed(closed, reason_chars) }
  return isIncomplete(closed)
    ? { word: 'INCOMPLETE', why: reasonOf(closed, reason_chars) }
    : { word: 'COMPLETED', why: '' }
}

/**
 * All sections within so many characters. Long reports give way to short ones; what is cut says where the whole of it
 * is. Where there are so many that not even that fits, the pipeline cuts and keeps all of it.
 */
export function sectionsText(sections: readonly Section[], max_chars: number): string {
  const file_chars = between(MIN_FILE_CHARS, Math.floor(max_chars / 8 / Math.max(1, sections.length)), MAX_FILE_CHARS)
  const parts = sections.map(({ heads, job, notes = [] }) => {
    if (!job?.closed) return { id: '', before: heads, text: '', after: notes }
    const { result } = job.closed
    const before = [...heads, ...(job.reused_from ? [reusedLine(job.reused_from)] : [])]
    // What the earlier run took was not taken now.
    const after = [...(job.reused_from ? [] : [figures(result)]), ...files(result, file_chars), ...notes]
    return { id: job.id, before, text: defuse(result.text).trim() || '(it said nothing)', after }
  })
  const fixed = parts.reduce((sum, { before, after }) => sum + [...before, ...after].join('\n').length + 4, 0)
  const lengths = parts.map(({ text }) => text.length)
  const shares = fairShares(lengths, max_chars - fixed, MAX_REPORT_CHARS)
  const shown = parts.map(({ id, before, text, after }, i) => {
    const body = text === '' ? [] : [boundOutput(text, { max_chars: shares[i] as number, call_id: id }).content]
    return [...before, ...body, ...after].join('\n')
  })
  return shown.join('\n\n')
}

/** What was asked for and not given, a line each. */
export function adjustmentNotes(adjustments: readonly Adjustment[]): string[] {
  return adjustments.map(({ field, asked, given, reason }) => {
    const name = field.split('.').at(-1) ?? field
    const instead = given === '' || given === 'none' ? '' : `, ${oneLine(given)} instead`
    return `Note: ${name} ${oneLine(asked)} was not given${instead}: ${oneLine(reason, 200)}`
  })
}

/** What another sub-agent is given of a report. It cannot fetch the rest, so the note does not send it there. */
export function inputText(text: string): string {
  const whole = defuse(text).trim()
  const missing = countInWords(whole.length - MAX_REPORT_CHARS)
  return headAndTail(whole, MAX_REPORT_CHARS, `\n[… ${missing} characters left out …]\n`)
}

function isIncomplete({ result }: Closed): boolean {
  return result.outcome === 'budget_exceeded'
}

function whyFailed(closed: Closed, max_chars: number): string {
  return `${closed.result.outcome}: ${reasonOf(closed, max_chars)}`
}

/** A reason can have words of a model or the output of a check in it. The end of such an output says the most. */
function reasonOf({ result, close_reason }: Closed, max_chars: number): string {
  return headAndTail(defuse(result.reason ?? close_reason).trim(), max_chars, ' … ')
}

function headAndTail(text: string, max_chars: number, between: string): string {
  const half = Math.floor(max_chars / 2)
  return text.length <= max_chars ? text : `${head(text, half)}${between}${tail(text, half)}`
}

function reusedLine({ run_id, agent_id }: NonNullable<Job['reused_from']>): string {
  return `From the cache: ${agent_id} of run ${run_id} did the same before. Nothing was run or paid for.`
}

function figures(result: AgentResult): string {
  const { usage, sub_agents = 0 } = result
  const parts = [
    plural(result.tool_calls, 'tool call'),
    plural(usage.input_tokens + usage.output_tokens, 'token'),
    costInWords(result.cost_usd),
    `${(result.duration_ms / 1000).toFixed(1)}s`,
    ...(sub_agents > 0 ? [plural(sub_agents, 'sub-agent')] : []),
  ]
  return parts.join(', ')
}

function files({ files_read, files_changed }: AgentResult, max_chars: number): string[] {
  return [...filesLine('Files read', files_read, max_chars), ...filesLine('Files changed', files_changed, max_chars)]
}

function filesLine(label: string, files: readonly string[], max_chars: number): string[] {
  if (files.length === 0) return []
  const shown: string[] = []
  let chars = 0
  for (const file of files) {
    const name = oneLine(defuse(file))
    chars += name.length + 2
    if (shown.length > 0 && chars > max_chars) break
    shown.push(name)
  }
  const more = files.length - shown.length
  return [`${label}: ${shown.join(', ')}${more > 0 ? ` and ${countInWords(more)} more` : ''}`]
}

function between(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(value, most))
}
