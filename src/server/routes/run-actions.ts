import { z } from 'zod'
import { FAR_PERSON, type GoalOptions, type Retinue, RetinueError, type Run, type RunSummary } from '../../index.js'
import { type Route, route, type ServerContext } from '../route.js'
import { findRun, runDetail } from '../run-detail.js'
import { givenAnswerSchema, questionsSchema } from '../schemas/questions.js'
import { runDetailSchema, startedSchema, startRunSchema } from '../schemas/runs.js'
import type { RunDetail, StartRun } from '../wire.js'
import { withScript } from './script-files.js'
import { agentId, inRun, nameOf, nothing, reason } from './shapes.js'

/** So long an answer waits for what was asked for; the status in it says whether it has come to that. */
const WAIT_MS = 5000

/** Why, where nobody said: who it was is told beside it. */
const IN_WINDOW = 'in the window'

const act = { method: 'POST', least: 'operator' } as const

export const RUN_ACTION_ROUTES: Route[] = [
  route({
    ...act,
    path: '/runs',
    summary: 'Begins a run in this process. plan: a plan is made for it first, and carried out after a yes.',
    params: nothing,
    query: nothing,
    body: startRunSchema,
    answers: startedSchema,
    status: 201,
    handle: async ({ body, principal }, { retinue, own }) => {
      const name = nameOf(retinue, principal)
      const start = () => own.begin((retinue) => begin(retinue, body, name))
      return { run_id: await withScript(retinue.cwd, body.model, start) }
    },
  }),
  route({
    ...act,
    path: '/runs/:run/resume',
    summary: 'Goes on with a run whose process is gone, in this process.',
    params: inRun,
    query: nothing,
    body: null,
    answers: startedSchema,
    handle: async ({ params, principal }, { retinue, own }) => {
      const { run_id, last_position } = await findOpen(retinue, params.run)
      const name = nameOf(retinue, principal)
      const watching = { person: FAR_PERSON, ...(name === undefined ? {} : { principal: name }) }
      return { run_id: await own.begin((retinue) => retinue.resume(run_id, watching), last_position) }
    },
  }),
  route({
    ...act,
    path: '/runs/:run/cancel',
    summary: 'Cancels a run, or one of its sub-agents. Answers when that is closed, after some seconds in any case.',
    params: inRun,
    query: nothing,
    body: z.strictObject({ reason, agent_id: agentId.optional() }),
    answers: runDetailSchema,
    handle: async ({ params, body, principal, signal }, context) => {
      const { run_id } = await findRun(context.retinue, params.run)
      const why = body.reason ?? IN_WINDOW
      return answered(context, run_id, signal, (waiting) =>
        body.agent_id === undefined
          ? context.retinue.cancel(run_id, principal.id, why, waiting)
          : context.retinue.cancelAgent(run_id, body.agent_id, principal.id, why, waiting),
      )
    },
  }),
  route({
    ...act,
    path: '/runs/:run/pause',
    summary: 'Asks whoever works on a run to let go of it, so that it can be resumed.',
    params: inRun,
    query: nothing,
    body: z.strictObject({ reason }),
    answers: runDetailSchema,
    handle: async ({ params, body, principal, signal }, context) => {
      const { run_id } = await findOpen(context.retinue, params.run)
      const why = body.reason ?? IN_WINDOW
      return answered(context, run_id, signal, (waiting) => context.retinue.pause(run_id, principal.id, why, waiting))
    },
  }),
  route({
    ...act,
    path: '/runs/:run/answers',
    summary: 'Answers a question of a run, and says what it still waits for.',
    params: inRun,
    query: nothing,
    body: givenAnswerSchema,
    answers: questionsSchema,
    handle: async ({ params, body, principal }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      await retinue.answer(run_id, body, principal.id)
      return { questions: await retinue.questions(run_id) }
    },
  }),
]

/** One that can be gone on with. */
async function findOpen(retinue: Retinue, id: string): Promise<RunSummary> {
  const run = await findRun(retinue, id)
  if (run.status !== 'closed') return run
  throw new RetinueError('conflict', `Run ${id} is closed (${run.outcome}): nothing of it is left to do`)
}

function begin(retinue: Retinue, { task, plan = false, profile, ...order }: StartRun, name: string | undefined): Run {
  const options = {
    ...Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined)),
    ...(name === undefined ? {} : { principal: name }),
    person: FAR_PERSON,
  } satisfies GoalOptions
  if (!plan) return retinue.run({ ...options, task, ...(profile === undefined ? {} : { profile }) })
  if (profile) throw new RetinueError('input', 'A plan is made by the planner: leave out the profile, or the plan')
  return retinue.planForGoal(task, { ...options, execute: true, approve: 'ask' })
}

/** The run when it has come to what was asked for, or as it stands after a while; the log tells the rest. */
async function answered(
  { retinue, own }: ServerContext,
  run_id: string,
  gone: AbortSignal,
  work: (waiting: { signal: AbortSignal }) => Promise<unknown>,
): Promise<RunDetail> {
  const over = new AbortController()
  const end = () => over.abort()
  const timer = setTimeout(end, WAIT_MS)
  gone.addEventListener('abort', end, { once: true })
  const late = new Promise((resolve) => over.signal.addEventListener('abort', resolve, { once: true }))
  try {
    await Promise.race([work({ signal: over.signal }), late])
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', end)
  }
  return runDetail(retinue, own, run_id)
}
