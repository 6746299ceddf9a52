import { z } from 'zod'
import type { Job } from './delegation.js'
import { delegationPlan, delegatorOf, wordsParameter } from './delegation-request.js'
import { jobSection, reasonRoom, type Section, sectionsText } from './delegation-text.js'
import { oneLine } from './text.js'
import { defineTool } from './tool.js'

export const spawnAwait = defineTool({
  name: 'spawn_await',
  effect: 'delegate',
  repeatable: true,
  joins: true,
  description: () => 'Waits for jobs and returns their results.',
  parameters: z.strictObject({
    job_ids: wordsParameter.describe('comma-separated, or * for all not seen yet'),
  }),
  plan: async (args, context) => {
    const which = wanted(args.job_ids).join(', ')
    return delegationPlan(context, { summary: `wait for ${which === '*' ? 'all sub-agents' : oneLine(which)}` })
  },
  async execute(args, context) {
    const delegator = delegatorOf(context)
    const jobs = delegator.jobs()
    const ids = idsOf(wanted(args.job_ids), jobs)
    if (ids.length === 0) return { ok: true, content: 'No jobs found.' }
    const known = new Set(jobs.map(({ id }) => id))
    const waited = await delegator.wait(ids.filter((id) => known.has(id)))
    const earlier = await delegator.earlier(ids.filter((id) => !known.has(id)))
    const byId = new Map([...waited, ...earlier].map((job) => [job.id, job]))
    const room = reasonRoom(context.limits.output_chars, ids.length)
    const sections = ids.map((id): Section => {
      const job = byId.get(id)
      return job ? jobSection(job, room) : { heads: [`[${oneLine(id, 60)}: NOT FOUND]`], job: null }
    })
    const open = waited.some((job) => !job.closed)
    return {
      ok: !(open && context.signal.aborted),
      content: sectionsText(sections, context.limits.output_chars),
      delivers: waited.filter((job) => job.closed).map(({ id }) => id),
    }
  },
})

/** Ids once each. Quotes and brackets around them are how some models write a list; nothing at all means everything. */
function wanted(job_ids: unknown): string[] {
  const words = (Array.isArray(job_ids) ? job_ids.join(',') : String(job_ids))
    .split(/[\s,;"'`[\]]+/u)
    .filter((word) => word !== '')
  return words.length > 0 ? [...new Set(words)] : ['*']
}

function idsOf(words: readonly string[], jobs: readonly Job[]): string[] {
  const fresh = () => jobs.filter((job) => !job.delivered).map(({ id }) => id)
  return [...new Set(words.flatMap((word) => (word === '*' ? fresh() : [word])))]
}
