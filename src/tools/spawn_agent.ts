import { z } from 'zod'
import {
  commonParameters,
  delegationPlan,
  delegatorOf,
  type Forwards,
  optionalEnum,
  type ProfileName,
  profileParameter,
  requestOf,
  taskParameter,
} from './delegation-request.js'
import { adjustmentNotes, reasonRoom, sectionsText, statusOf } from './delegation-text.js'
import { oneLine } from './text.js'
import { defineTool, type Tool } from './tool.js'

export function spawnAgent(profiles: readonly ProfileName[], forwards: Forwards): Tool {
  return defineTool({
    name: 'spawn_agent',
    effect: 'delegate',
    repeatable: true,
    description: () =>
      'Gives a sub-agent one focused task and waits for its report; several in one turn run side by side. It does not ' +
      'see this conversation. Not for what a few tool calls do.',
    parameters: z.strictObject({
      task: taskParameter,
      scope: z.string().optional().describe('where to look'),
      max_tool_calls: z.int().optional(),
      mode: optionalEnum(z.enum(['plan', 'auto'])).describe('plan only reads'),
      profile: profileParameter(profiles),
      ...commonParameters(forwards),
    }),
    plan: async (args, context) => {
      const { profile, task } = args
      return delegationPlan(context, { profile, summary: `${profile || 'sub-agent'}: ${oneLine(task)}`, detail: task })
    },
    async execute(args, context) {
      const delegator = delegatorOf(context)
      const spawned = await delegator.spawn(context.call_id, 0, requestOf(args))
      if (!spawned.ok) return { ok: false, content: `[ERROR] ${spawned.message}` }
      const { id } = spawned
      const job = (await delegator.wait([id]))[0]
      if (!job?.closed) return { ok: false, content: `[RUNNING] The call was stopped while ${id} was at work.` }
      const { word, why } = statusOf(job.closed, reasonRoom(context.limits.output_chars, 1))
      const heads = [`[${word}] ${why}`.trimEnd()]
      const notes = adjustmentNotes(spawned.adjustments)
      const content = sectionsText([{ heads, job, notes }], context.limits.output_chars)
      return { ok: word !== 'ERROR', content, delivers: [id] }
    },
  })
}
