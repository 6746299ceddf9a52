import { z } from 'zod'
import type { DelegationRequest } from '../domain/index.js'
import type { Job, Spawned } from './delegation.js'
import { delegationPlan, delegatorOf } from './delegation-request.js'
import { inOrder } from './spawning.js'
import { defineTool } from './tool.js'

/** What became of each task, in the order of the tasks: a sub-agent, or why there is none. */
export type FanOutReport = { tasks: ({ id: string } | { refused: string })[] }

/** Of a task whose turn never came. */
export const FAN_OUT_STOPPED = 'Not spawned: the run was stopped first.'

/**
 * The one call of a program that hands out many tasks. No model is ever offered it. Sub-agents are created as others
 * close, so that a long list does not set aside more than what is at work needs. It is ok only where every task was
 * done to its end.
 */
export const fanOut = defineTool({
  name: 'fan_out',
  effect: 'delegate',
  repeatable: true,
  description: () => 'Hands out tasks to sub-agents and waits for all of them.',
  parameters: z.strictObject({
    tasks: z.array(z.looseObject({ task: z.string() })),
    max_concurrent: z.int().min(1),
  }),
  plan: async ({ tasks }, context) =>
    delegationPlan(context, {
      summary: tasks.length === 1 ? 'a task for a sub-agent' : `${tasks.length} tasks for sub-agents`,
    }),
  async execute({ tasks, max_concurrent }, context) {
    const delegator = delegatorOf(context)
    const spawn = inOrder((index) => delegator.spawn(context.call_id, index, tasks[index] as DelegationRequest), {
      delegator,
      signal: context.signal,
    })
    const spawned: Spawned[] = []
    const closed: Job[] = []
    let next = 0
    const work = async () => {
      while (next < tasks.length && !context.signal.aborted) {
        const index = next++
        const made = await spawn(index)
        // Whatever it says, it is refused because all of this is being stopped.
        if (!made.ok && context.signal.aborted) return
        spawned[index] = made
        if (made.ok) closed.push(...(await delegator.wait([made.id])).filter((job) => job.closed))
      }
    }
    await Promise.all(Array.from({ length: Math.min(max_concurrent, tasks.length) }, work))
    const report: FanOutReport = { tasks: tasks.map((_, i) => outcomeOf(spawned[i])) }
    const completed = closed.filter((job) => job.closed?.result.outcome === 'completed')
    return {
      ok: completed.length === tasks.length,
      content: JSON.stringify(report),
      delivers: closed.map(({ id }) => id),
    }
  },
})

function outcomeOf(spawned: Spawned | undefined): FanOutReport['tasks'][number] {
  if (!spawned) return { refused: FAN_OUT_STOPPED }
  return spawned.ok ? { id: spawned.id } : { refused: spawned.message }
}
