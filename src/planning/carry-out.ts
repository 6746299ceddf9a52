import type { PlanState, StepSpec } from '../domain/index.js'
import type { CarryOut } from '../tools/index.js'
import { StepRunner } from './step-runner.js'

/**
 * Steps that somebody else put together, without a plan around them: nothing begins any more when one has failed, and
 * nobody looks at the whole.
 */
export const carryOut: CarryOut = async ({ call_id, delegator, signal }, steps, context) => {
  const { plans } = delegator
  const state = () => plans.state(call_id) as PlanState
  if (!plans.state(call_id)) plans.note('plan.steps_added', { call_id, steps: steps as StepSpec[] })
  if (state().ended) return state()
  await new StepRunner({ call_id, delegator, signal, context, approved: true }).run('stop')
  for (const { id } of state().steps.filter(({ ended }) => ended === null)) {
    const stopped = { status: 'skipped', sub_agent_id: null, reason: 'the call was stopped' } as const
    plans.note('plan.step_ended', { call_id, step: id, ...stopped })
  }
  const unmet = state().steps.find(({ ended }) => ended?.status !== 'completed')
  const reason = unmet ? `step ${unmet.id}: ${unmet.ended?.reason}` : null
  plans.note('plan.ended', { call_id, status: unmet ? 'failed' : 'completed', reason })
  return state()
}
