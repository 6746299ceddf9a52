import { type AgentMemory, type PlanState, plural } from '../domain/index.js'
import { defineTool, delegationPlan, delegatorOf, type Tool } from '../tools/index.js'
import { PlanFlow, type PlanPlace, planOrderSchema } from './flow.js'

/** What a plan came to, in so many characters. */
type Report = (memory: AgentMemory, state: PlanState, max_chars: number) => Promise<string>

/** The one call of a program that makes a plan, carries one out, or both. No model is ever offered it. */
export function executePlan(place: PlanPlace & { report: Report }): Tool {
  return defineTool({
    name: 'execute_plan',
    effect: 'delegate',
    repeatable: true,
    description: () => 'Makes a plan for a goal, or carries one out.',
    parameters: planOrderSchema,
    plan: async ({ goal, plan }, context) =>
      delegationPlan(context, {
        summary: plan ? `a plan of ${plural(plan.steps.length, 'step')}: ${goal}` : `a plan for: ${goal}`,
      }),
    async execute(order, context) {
      const delegator = delegatorOf(context)
      const { call_id, signal } = context
      const state = await new PlanFlow(order, place, { call_id, delegator, signal }).run()
      const closed = delegator.jobs().filter((job) => job.call_id === call_id && job.closed)
      return {
        ok: state.ended?.status === 'completed' || state.ended?.status === 'made',
        content: await place.report(delegator.plans.memory, state, context.limits.output_chars),
        delivers: closed.map(({ id }) => id),
      }
    },
  })
}
