import type { Plan } from '../domain/index.js'
import type { Later } from './estimate.js'
import { MOST_REPAIRS, wantsReview } from './reviewing.js'
import { stepSpec } from './steps.js'

/** What may come after the steps of a plan: a review, and for each round of repair steps that mend and another review. */
export function laterThan(plan: Plan): Later[] {
  const { checks, repair_rounds } = plan
  const reviews = wantsReview(plan)
  const spec = { id: 'later', title: 'later', description: 'later' }
  const review = stepSpec('review', { ...spec, agent: 'reviewer', retries: 1 })
  const repair = stepSpec('repair', { ...spec, agent: 'executor', owns: null })
  const repairs = reviews || checks.length > 0 ? repair_rounds * MOST_REPAIRS : 0
  return [
    ...(reviews ? [{ what: 'review', step: review, times: 1 + repair_rounds, likely_times: 1 }] : []),
    ...(repairs > 0 ? [{ what: 'repair', step: repair, times: repairs, likely_times: 0 }] : []),
  ]
}
