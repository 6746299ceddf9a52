import { costInWords, plural, timeInWords } from '../domain/index.js'
import { fairShares } from '../tools/index.js'
import { cell, code, fenced, firstLine, inline, plain, shortened } from './markdown.js'
import type { PlanOutcome, StepOutcome } from './outcome.js'
import { type Block, statusWord, stepBlocks } from './report-steps.js'

/** More than that nobody reads, and a log need not carry. */
const MOST_CHARS = 60_000
/** Of one text. */
const MOST_TEXT_CHARS = 4000
const TITLE_CHARS = 200
const REASON_CHARS = 400
/** So many files are named in a table. */
const MOST_FILES = 3
/** What a fence takes besides its text, at most. */
const FENCE_CHARS = 30

type Reported = Omit<PlanOutcome, 'report'>

/**
 * What a plan has come to, as a page for a person. From the log alone, so that the same log gives the same page; times
 * are in one line and in the last column of the table, and nowhere else.
 */
export function planReport(outcome: Reported, { max_chars = MOST_CHARS }: { max_chars?: number } = {}): string {
  const { steps, reviews } = outcome
  const isTold = ({ id }: StepOutcome) => reviews.some(({ step }) => step === id)
  const [head, rows, rest] = [
    top(outcome),
    table(outcome),
    [...reviewed(outcome), ...checked(outcome), ...revised(outcome)],
  ]
  const left_out = `What each of the ${plural(steps.length, 'step')} came to is left out: there is no room for it.`
  const whole = page([...head, ...rows, ...steps.flatMap((step) => stepBlocks(step, isTold(step))), ...rest], max_chars)
  if (whole.length <= max_chars) return whole
  const short = page([...head, ...rows, left_out, ...rest], max_chars)
  if (short.length <= max_chars) return short
  const ours = [...head, ...rows].filter((block) => typeof block === 'string')
  return cutAtLine(page(ours, max_chars), max_chars)
}

/** Texts that are too long for the page give way to short ones. */
function page(blocks: readonly Block[], max_chars: number): string {
  const parts = blocks.map((block) => (typeof block === 'string' ? block : { said: plain(block.said) }))
  const fixed = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : FENCE_CHARS) + 2, 0)
  const lengths = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.said.length]))
  const shares = fairShares(lengths, max_chars - fixed, MOST_TEXT_CHARS).values()
  const shown = parts.map((part) =>
    typeof part === 'string' ? part : fenced(shortened(part.said, shares.next().value ?? 0)),
  )
  return `${shown.join('\n\n')}\n`
}

function top(outcome: Reported): Block[] {
  const { goal, plan, totals, steps } = outcome
  const ended = [
    `- Status: ${statusInWords(outcome)}`,
    ...(steps.length > 0 ? [`- ${isWorked(outcome) ? 'Steps' : 'Planning'}: ${countsInWords(outcome)}`] : []),
    `- Used: ${plural(totals.agents, 'sub-agent')}, ${plural(totals.tool_calls, 'tool call')}, ${plural(totals.tokens, 'token')}, ${costInWords(totals.cost_usd)}`,
    `- Time: ${timeInWords(totals.duration_ms)}`,
  ]
  const is_long = goal.trim().includes('\n') || goal.length > TITLE_CHARS
  const asked = is_long ? ['## What was asked', { said: goal }] : []
  const criteria = plan?.completion_criteria ?? []
  const assumptions = plan?.assumptions ?? []
  return [
    `# ${inline(goal, TITLE_CHARS)}`,
    ended.join('\n'),
    ...wholeReason(outcome),
    ...asked,
    ...(criteria.length > 0 ? ['## Reached when', list(criteria)] : []),
    ...(assumptions.length > 0 ? ['## Taken for granted', list(assumptions)] : []),
  ]
}

function statusInWords({ status, reason, plan }: Reported): string {
  const why = reason === null ? '' : `: ${firstLine(reason, REASON_CHARS)}`
  if (status === 'made') return `the plan is made, nothing of it is carried out${why}`
  if (status === 'left') return `left, nothing ${plan ? 'of the plan ' : ''}is carried out${why}`
  return `${status}${why}`
}

/** All of a reason of which the status has only the beginning, unless it is that of a step. */
function wholeReason({ reason, steps }: Reported): Block[] {
  if (reason === null || (!reason.trim().includes('\n') && reason.length <= REASON_CHARS)) return []
  const is_said = steps.some((step) => step.reason !== null && reason.includes(step.reason))
  return is_said ? [] : [{ said: reason }]
}

/** Whether there were steps of a plan, or only such as were to make one. */
function isWorked({ steps }: Reported): boolean {
  return steps.some(({ stage }) => stage === 'work')
}

function countsInWords({ steps }: Reported): string {
  const words = ['completed', 'incomplete', 'failed', 'skipped', 'running', 'waiting'] as const
  const counts = words.map((word) => ({ word, of: steps.filter((step) => statusWord(step) === word).length }))
  return counts.flatMap(({ word, of }) => (of > 0 ? [`${of} ${word}`] : [])).join(', ')
}

function table({ steps }: Reported): Block[] {
  if (steps.length === 0) return []
  const rows = steps.map((step) => {
    const named = step.files_changed.slice(0, MOST_FILES).map((path) => code(path, 60))
    const more = step.files_changed.length - named.length
    const files = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
    const begun = step.attempts > 0
    return [
      ...[inline(step.id), inline(step.title, 80), step.agent === null ? '' : inline(step.agent), statusWord(step)],
      ...[files, begun ? costCell(step.cost_usd) : '', begun ? timeInWords(step.duration_ms) : ''],
    ]
  })
  const lines = [['step', 'title', 'who', 'status', 'files', 'cost', 'time'], Array(7).fill('---'), ...rows]
  return ['## Steps', lines.map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')]
}

function costCell(usd: number | null): string {
  return usd === null ? 'unknown' : costInWords(usd)
}

function reviewed({ reviews, findings: open }: Reported): Block[] {
  if (reviews.length === 0) return []
  const each = reviews.flatMap(({ round, summary, findings }): Block[] => {
    const found = findings.length === 0 ? 'nothing was found' : `${plural(findings.length, 'finding')}`
    return [
      `### ${round === 0 ? 'After the steps' : `After round ${round} of repair`}: ${found}`,
      ...(summary.trim() === '' ? [] : [{ said: summary }]),
      ...findings.flatMap(({ title, description, files }) => [
        `- ${inline(title)}${files.length > 0 ? ` (${files.map((path) => code(path)).join(', ')})` : ''}`,
        { said: description },
      ]),
    ]
  })
  const left = open.length > 0 ? ['### Not mended', list(open.map(({ title }) => title))] : []
  return ['## Review', ...each, ...left]
}

function checked({ checks }: Reported): Block[] {
  if (checks.length === 0) return []
  const each = checks.map(({ what, passed }) => `- ${passed ? 'passed' : 'failed'}: ${code(what)}`).join('\n')
  // What a check that passed prints says no more than that, and has times in it.
  const failed = checks.filter(({ passed }) => !passed)
  const details = failed.flatMap(({ what, detail }) => [`What came of ${code(what)}:`, { said: detail }])
  return ['## Checks of the whole', each, ...details]
}

function revised({ revisions }: Reported): Block[] {
  if (revisions.length < 2) return []
  const lines = revisions.map(({ revision, by, reason }) => {
    return `- ${revision}, by the ${by}${reason === null ? '' : `: ${firstLine(reason, REASON_CHARS)}`}`
  })
  return ['## Revisions of the plan', lines.join('\n')]
}

function list(texts: readonly string[]): string {
  return texts.map((text) => `- ${inline(text, 400)}`).join('\n')
}

/** Half a row is no row. */
function cutAtLine(text: string, max_chars: number): string {
  if (text.length <= max_chars) return text
  const note = '[… the rest is left out: there is no room for it …]\n'
  const start = text.slice(0, Math.max(0, max_chars - note.length - 1))
  return `${start.slice(0, start.lastIndexOf('\n') + 1)}\n${note}`
}
