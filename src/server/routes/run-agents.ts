import { type Dossier, openDossier, type Retinue, RetinueError } from '../../index.js'
import { type Route, route } from '../route.js'
import { findRun } from '../run-detail.js'
import { agentEventsSchema } from '../schemas/events.js'
import { agentDetailSchema, agentListSchema, diffSchema } from '../schemas/run-agents.js'
import { diffOf } from './cuts.js'
import { page } from './pages.js'
import { perRetinue } from './per-retinue.js'
import { atAgent, eventPage, inRun, nothing } from './shapes.js'
import { Streams } from './streams.js'

const streamsOf = perRetinue(() => new Streams())

const read = { method: 'GET', least: 'viewer', body: null } as const

export const RUN_AGENT_ROUTES: Route[] = [
  route({
    ...read,
    path: '/runs/:run/agents',
    summary: 'The agents of a run, in the order in which they were created.',
    params: inRun,
    query: nothing,
    answers: agentListSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      const rows = await retinue.agents(run_id)
      return { agents: rows.map(({ context_json: _, ...row }) => row) }
    },
  }),
  route({
    ...read,
    path: '/runs/:run/agents/:agent',
    summary: 'All that the log says about one agent: its contract, task, gates and result.',
    params: atAgent,
    query: nothing,
    answers: agentDetailSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      const { events: _, ...detail } = await dossierOf(retinue, run_id, params.agent)
      return detail
    },
  }),
  route({
    ...read,
    path: '/runs/:run/agents/:agent/events',
    summary: 'The events of an agent’s own stream after a position, whole.',
    params: atAgent,
    query: eventPage,
    answers: agentEventsSchema,
    handle: async ({ params, query }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      return page(retinue.store, { run_id, agent_id: params.agent, ...query }, (event) => event)
    },
  }),
  route({
    ...read,
    path: '/runs/:run/agents/:agent/diff',
    summary: 'What a sub-agent has kept in a tree of its own, as git diff writes it. cut: there is more.',
    params: atAgent,
    query: nothing,
    answers: diffSchema,
    handle: async ({ params }, { retinue }) => {
      const { run_id } = await findRun(retinue, params.run)
      return diffOf(await retinue.diff(run_id, { agent_id: params.agent }))
    },
  }),
]

/** From its own stream and that of its parent: nobody else writes about it, and a run has many. */
async function dossierOf(retinue: Retinue, run_id: string, agent_id: string): Promise<Dossier> {
  const streams = [agent_id, ...parentOf(agent_id)]
  const read = await Promise.all(streams.map((stream) => streamsOf(retinue).read(retinue.store, run_id, stream)))
  const dossier = openDossier(
    read.flat().sort((a, b) => a.position - b.position),
    agent_id,
  )
  if (dossier) return dossier
  throw new RetinueError('not_found', `Run ${run_id} has no agent "${agent_id}"`)
}

/** The id says whose sub-agent it is, also where an earlier result was used and nobody ran. */
function parentOf(agent_id: string): string[] {
  if (agent_id === 'root') return []
  const dot = agent_id.lastIndexOf('.')
  return [dot < 0 ? 'root' : agent_id.slice(0, dot)]
}
