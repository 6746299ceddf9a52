import type { PlanState, ReviewFinding } from '../domain/index.js'

/** What the last review found, but for what a repair step after it has mended. */
export function openFindings({ reviews, steps }: PlanState): ReviewFinding[] {
  const last = reviews.at(-1)
  if (!last) return []
  const reviewed = steps.find(({ id }) => id === last.step)?.position ?? 0
  const mended = steps
    .filter(({ stage, position, ended }) => stage === 'repair' && position > reviewed && ended?.status === 'completed')
    .flatMap(({ mends = [] }) => mends)
  return last.findings.filter((_, number) => !mended.includes(number))
}
