import { z } from 'zod'
import {
  commonParameters,
  delegationPlan,
  delegatorOf,
  type Forwards,
  type ProfileName,
  profileParameter,
  requestOf,
  taskParameter,
  wordsParameter,
} from './delegation-request.js'
import { adjustmentNotes } from './delegation-text.js'
import { oneLine } from './text.js'
import { defineTool, type Tool } from './tool.js'

export function spawn(profiles: readonly ProfileName[], forwards: Forwards): Tool {
  return defineTool({
    name: 'spawn',
    effect: 'delegate',
    repeatable: true,
    description: () =>
      'Starts a sub-agent in the background and returns its job id; spawn_await gets the result. It does not see this ' +
      'conversation: put all it needs into task. Not for what a few tool calls do.',
    parameters: z.strictObject({
      task: taskParameter,
      profile: profileParameter(profiles),
      context: z.string().optional(),
      system_prompt: z.string().optional(),
      tools: wordsParameter.optional().describe('comma-separated'),
      ...commonParameters(forwards),
    }),
    plan: async (args, context) => {
      const { profile, task } = args
      return delegationPlan(context, {
        profile,
        summary: `${profile || 'sub-agent'}: ${oneLine(task)}`,
        detail: task,
      })
    },
    async execute(args, context) {
      const spawned = await delegatorOf(context).spawn(context.call_id, 0, requestOf(args))
      if (!spawned.ok) return { ok: false, content: spawned.message }
      return { ok: true, content: [spawned.id, ...adjustmentNotes(spawned.adjustments)].join('\n') }
    },
  })
}
