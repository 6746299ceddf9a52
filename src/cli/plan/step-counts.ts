import type { PlanOutcome, Stage } from '../../index.js'
import { plural } from '../style.js'

type Counted = { stage: Stage; status: PlanOutcome['steps'][number]['status'] }

/** `1 of 3 steps completed, 2 skipped`. As long as none of them is the work itself, that of which it is the planning. */
export function stepCounts(steps: readonly Counted[]): string {
  const count = (status: Counted['status']) => steps.filter((step) => step.status === status).length
  const others = (['failed', 'skipped'] as const).flatMap((status) => {
    const number = count(status)
    return number > 0 ? [`${number} ${status}`] : []
  })
  const planning = steps.some(({ stage }) => stage === 'work') ? '' : 'planning: '
  const completed = `${planning}${count('completed')} of ${plural(steps.length, 'step')} completed`
  return [completed, ...others].join(', ')
}
