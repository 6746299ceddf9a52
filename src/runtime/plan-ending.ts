import { isDone, type PlanState, type StepState } from '../domain/index.js'
import type { Recorder } from './recorder.js'

/** Plans that whoever carried them out could not bring to an end: each step ends once, whatever happens. */
export function endPlans(recorder: Recorder, why: string): void {
  const open = recorder.memory.plans.filter(({ ended }) => ended === null)
  for (const plan of open) {
    const { call_id } = plan
    for (const step of plan.steps.filter(({ ended }) => ended === null)) {
      recorder.record('plan.step_ended', { call_id, step: step.id, ...endOf(step, plan, recorder, why) })
    }
    recorder.record('plan.ended', { call_id, status: 'failed', reason: why })
  }
}

function endOf({ attempts }: StepState, { call_id }: PlanState, { memory }: Recorder, why: string) {
  const index = attempts.at(-1)?.index
  const child = memory.children.find((one) => one.call_id === call_id && one.index === index)
  if (!child?.closed) return { status: 'skipped', sub_agent_id: null, reason: why } as const
  const { id, closed } = child
  if (isDone(closed)) return { status: 'completed', sub_agent_id: id, reason: null } as const
  return {
    status: 'failed',
    sub_agent_id: id,
    reason: `${closed.result.outcome}: ${closed.result.reason ?? closed.close_reason}`,
  } as const
}
