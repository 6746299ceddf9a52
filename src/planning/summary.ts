import type { PlanState, StepState } from '../domain/index.js'
import { head } from '../tools/index.js'

/** Enough to know what a sub-agent did; the whole is in its own report. */
const MOST_CHARS = 1000

/** What the sub-agent of a step says about its work, in a paragraph. What it answered as data is told in words. */
export function summaryOf(step: StepState, state: PlanState, text: string): string {
  const { id, stage, ended } = step
  if (stage === 'review') {
    const review = state.reviews.find((one) => one.step === id)
    if (review) return bounded(review.summary.trim())
  }
  if (stage === 'plan' && ended?.status === 'completed') return planInWords(step, state)
  return bounded(firstParagraph(text))
}

/** The planner is asked again where its answer had faults, and what it planned comes next where it had none. */
function planInWords({ position }: StepState, { steps, plan, ended }: PlanState): string {
  const next = steps.find((step) => step.position === position + 1)
  if (next) return next.stage === 'plan' ? 'Its answer was no plan without faults.' : 'Its answer became the plan.'
  return plan && ended?.status !== 'failed' ? 'Its answer is the plan.' : ''
}

/** The first that is more than headings. */
function firstParagraph(text: string): string {
  const paragraphs = text
    .replace(/\r\n?/g, '\n')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
  return paragraphs.find((paragraph) => !paragraph.split('\n').every(isHeading)) ?? paragraphs[0] ?? ''
}

function isHeading(line: string): boolean {
  return /^#{1,6}(\s|$)/.test(line)
}

function bounded(text: string): string {
  return text.length > MOST_CHARS ? `${head(text, MOST_CHARS - 1)}…` : text
}
