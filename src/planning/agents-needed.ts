import { PLAN_DEFAULTS, type Plan } from '../domain/index.js'
import { laterThan } from './later.js'
import { MOST_TRIES } from './making.js'
import { wantsReview } from './reviewing.js'

/** Steps that a plan which is not made yet may have. */
const STEPS_TO_COME = 25

/** Sub-agents with which nothing that a plan may need is refused: every try, review, repair and other rest of it. */
export function mostAgents(plan: Plan): number {
  const work = plan.steps.reduce((all, { retries, budget }) => all + (1 + retries) * (1 + (budget.sub_agents ?? 0)), 0)
  const replans = plan.on_failure === 'replan' ? plan.replans : 0
  return work + mostLater(plan) + replans * (MOST_TRIES + work)
}

/** The same where the plan is to be made first. `questions`: that researchers answer before. */
export function mostAgentsForGoal(questions: number): number {
  const proven: Plan = {
    ...{ ...PLAN_DEFAULTS, assumptions: [], checks: [], version: 1, goal: '', steps: [] },
    completion_criteria: ['the goal is reached'],
  }
  return questions + MOST_TRIES + STEPS_TO_COME + mostLater(proven)
}

/** Without so many a plan is never completed: each step once, what the steps ask for below them, and one review. */
export function leastAgents(plan: Plan, below: number): number {
  return plan.steps.length + below + (wantsReview(plan) ? 1 : 0)
}

function mostLater(plan: Plan): number {
  return laterThan(plan).reduce((all, { times, step }) => all + times * (1 + step.retries), 0)
}
