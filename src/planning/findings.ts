import type { PlanState, ReviewFinding } from '../domain/index.js'

/**
 * What the last review found, but for what a repair step after it has mended. Which that is it can only be told by: its
 * description says every finding that it is for.
 */
export function openFindings({ reviews, steps }: PlanState): ReviewFinding[] {
  const last = reviews.at(-1)
  if (!last) return []
  const reviewed = steps.find(({ id }) => id === last.step)?.position ?? 0
  const mended = steps.filter(
    ({ stage, position, ended }) => stage === 'repair' && position > reviewed && ended?.status === 'completed',
  )
  return last.findings.filter(
    ({ title, description }) => !mended.some((step) => step.description.includes(`${title}\n${description}`)),
  )
}
