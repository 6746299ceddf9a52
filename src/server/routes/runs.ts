import { z } from 'zod'
import { type Retinue, RetinueError, type StoredEvent, watched } from '../../index.js'
import { type Route, route } from '../route.js'
import { findRun, runDetail } from '../run-detail.js'
import { sessionIdSchema } from '../schemas/common.js'
import { eventPageSchema, storedEventSchema } from '../schemas/events.js'
import { planDetailSchema } from '../schemas/plan.js'
import { questionsSchema } from '../schemas/questions.js'
import { diffSchema } from '../schemas/run-agents.js'
import { reportSchema, runDetailSchema, runListSchema, spawnResultsSchema } from '../schemas/runs.js'
import { cut, diffOf, first } from './cuts.js'
import { page } from './pages.js'
import { listRuns } from './run-list.js'
import { atEvent, eventPage, inRun, nothing, runId, whole } from './shapes.js'

const MOST_RUNS = 200

const read = { method: 'GET', least: 'viewer', body: null } as const

export const RUN_ROUTES: Route[] = [
  route({
    ...read,
    path: '/runs',
    summary: 'Runs, newest first. before: the id of the last one that was seen; q: text in a task or an id.',
    params: nothing,
    query: z.strictObject({
      limit: whole(1, MOST_RUNS).default(50),
      before: runId.optional(),
      status: z.enum(['running', 'interrupted', 'closed']).optional(),
      q: z.string().max(200).optional(),
      session_id: sessionIdSchema.optional(),
    }),
    answers: runListSchema,
    handle: async ({ query }, { retinue }) => {
      if (query.before !== undefined) await findRun(retinue, query.before)
      return listRuns(retinue, query)
    },
  }),
  route({
    ...read,
    path: '/runs/:run',
    summary: 'A run, and its result when it is closed.',
    params: inRun,
    query: nothing,
    answers: runDetailSchema,
    handle: async ({ params }, { retinue, own }) => runDetail(retinue, own, params.run),
  }),
  route({
    ...read,
    path: '/runs/:run/events',
    summary: 'The events of a run after a position, long texts cut short.',
    params: inRun,
    query: eventPage,
    answers: eventPageSchema,
    handle: async ({ params, query }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      return page(retinue.store, { run_id, ...query }, watched)
    },
  }),
  route({
    ...read,
    path: '/runs/:run/events/:position',
    summary: 'One event of a run, whole.',
    params: atEvent,
    query: nothing,
    answers: storedEventSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      const [event] = await retinue.store.read({ run_id, after: params.position - 1, limit: 1 })
      if (!event) throw new RetinueError('not_found', `Run ${run_id} has no event ${params.position}`)
      return event
    },
  }),
  route({
    ...read,
    path: '/runs/:run/events/:position/output',
    summary:
      'The whole output of a tool, of a check or of the setup of a worktree. A very long one ends with how much is cut.',
    params: atEvent,
    query: nothing,
    answers: 'text',
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      const [event] = await retinue.store.read({ run_id, after: params.position - 1, limit: 1 })
      const output = event && outputOf(event)
      if (output === null || output === undefined)
        throw new RetinueError('not_found', `Event ${params.position} of run ${run_id} has no output`)
      const text = typeof output === 'string' ? output : await textOf(retinue, output.digest)
      const shown = cut(text)
      const rest = shown.cut ? `\n[cut: these are the first ${shown.text.length} of ${text.length} characters]\n` : ''
      return new Response(shown.text + rest, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
    },
  }),
  route({
    ...read,
    path: '/runs/:run/diff',
    summary: 'What a run changed in the tree of its own, as git diff writes it. cut: there is more.',
    params: inRun,
    query: nothing,
    answers: diffSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      return diffOf(await retinue.diff(run_id))
    },
  }),
  route({
    ...read,
    path: '/runs/:run/report',
    summary: 'What came of a run, as Markdown: of a plan its report, of anything else the last answer.',
    params: inRun,
    query: nothing,
    answers: reportSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id, plan, text } = await findRun(retinue, params.run)
      if (plan) return { report: (await retinue.planOutcome(run_id)).report }
      if (text === null) throw new RetinueError('not_found', `Run ${run_id} has not ended: there is no report yet`)
      return { report: text }
    },
  }),
  route({
    ...read,
    path: '/runs/:run/plan',
    summary: 'What the plan of a run has come to.',
    params: inRun,
    query: nothing,
    answers: planDetailSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      return retinue.planOutcome(run_id)
    },
  }),
  route({
    ...read,
    path: '/runs/:run/results',
    summary: 'What became of the tasks that a program handed out, in their order. more: of those after them too.',
    params: inRun,
    query: nothing,
    answers: spawnResultsSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      const { list: results, more } = first(await retinue.spawnResults(run_id))
      return { results, more }
    },
  }),
  route({
    ...read,
    path: '/runs/:run/questions',
    summary: 'What a run waits for a person to say.',
    params: inRun,
    query: nothing,
    answers: questionsSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      return { questions: await retinue.questions(run_id) }
    },
  }),
]

/** The text itself, or where the whole of it is; null: an event of this type has none. */
function outputOf(event: StoredEvent): string | { digest: string } | null {
  if (event.type === 'tool.finished') return event.data.output ?? event.data.content
  if (event.type === 'agent.gate_checked' || event.type === 'agent.setup_finished') {
    return event.data.output ?? event.data.detail
  }
  return null
}

async function textOf({ store }: Retinue, digest: string): Promise<string> {
  const bytes = await store.blob(digest)
  if (bytes === null) throw new RetinueError('corrupt', `The output ${digest} is not in the store`)
  return Buffer.from(bytes).toString('utf8')
}
