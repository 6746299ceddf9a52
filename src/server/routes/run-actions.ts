import { z } from 'zod'
import { type GoalOptions, isAtLeast, type Retinue, RetinueError, type Run } from '../../index.js'
import { FAR_PERSON } from '../own-runs.js'
import { type Route, route, type ServerContext } from '../route.js'
import { findRun, runDetail } from '../run-detail.js'
import { givenAnswerSchema, questionsSchema, runDetailSchema, startedSchema, startRunSchema } from '../schemas.js'
import type { RunDetail, StartRun } from '../wire.js'
import { agentId, inRun, nameOf, nothing, reason } from './shapes.js'

/** So long an answer waits for what was asked for; the status in it says whether it has come to that. */
const WAIT_MS = 5000

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
      // Nothing would be asked and no command fenced in, on a machine that may be somebody else's.
      if (body.mode === 'dangerous' && !isAtLeast(principal.role, 'admin'))
        throw new RetinueError('denied', `${principal.id} is an ${principal.role}: only admins run in dangerous mode`)
      const name = nameOf(retinue, principal)
      return { run_id: await own.begin((retinue) => begin(retinue, body, name)) }
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
    handle: async ({ params }, { retinue, own }) => {
      const { run_id, last_position } = await findRun(retinue, params.run)
      return { run_id: await own.begin((retinue) => retinue.resume(run_id, { person: FAR_PERSON }), last_position) }
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
    handle: async ({ params, body, principal }, context) => {
      const { run_id } = await findRun(context.retinue, params.run)
      const why = body.reason ?? `cancelled by ${principal.id} in the window`
      return answered(context, run_id, () =>
        body.agent_id === undefined
          ? context.retinue.cancel(run_id, principal.id, why)
          : context.retinue.cancelAgent(run_id, body.agent_id, principal.id, why),
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
    handle: async ({ params, body, principal }, context) => {
      const { run_id } = await findRun(context.retinue, params.run)
      const why = body.reason ?? `paused by ${principal.id} in the window`
      return answered(context, run_id, () => context.retinue.pause(run_id, principal.id, why))
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

/** The run when the work is done, or as it stands after a while; the work goes on then, and the log tells the rest. */
async function answered(
  { retinue, own }: ServerContext,
  run_id: string,
  work: () => Promise<unknown>,
): Promise<RunDetail> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, WAIT_MS)
  })
  try {
    await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
  return runDetail(retinue, own, run_id)
}
