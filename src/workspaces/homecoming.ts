import type { Landing } from '../domain/index.js'
import type { TreeResult, Trees } from '../host/index.js'
import { INTEGRATION } from './names.js'
import type { Travel } from './travel.js'

type Wanted = { run_id: string; landing: Landing | null; agent_id: string | null }

/**
 * Has here what a run came to in another checkout, as if it had ended here: its result, or the work of one of its
 * sub-agents that was kept. What is here already is left alone.
 */
export async function bringHome(trees: Trees, travel: Travel, wanted: Wanted): Promise<TreeResult<object>> {
  const { run_id, landing, agent_id } = wanted
  if (agent_id !== null) return bringAgent(trees, travel, run_id, agent_id)
  if (landing === null || (await trees.recall(run_id)).ok) return { ok: true }
  const { base, commit } = landing
  const brought = await travel.bring(trees, commit)
  if (!brought.ok) return brought
  const received = landing.state === 'kept' ? await trees.receive(run_id, INTEGRATION, commit) : brought
  return received.ok ? trees.remember(run_id, { base, result: commit }) : received
}

async function bringAgent(trees: Trees, travel: Travel, run_id: string, agent_id: string): Promise<TreeResult<object>> {
  const known = await trees.head(run_id, agent_id)
  if (known.ok || known.code !== 'missing') return known
  const where = await travel.whereabouts(agent_id)
  if (where === null) return { ok: true }
  const brought = await travel.bring(trees, where.commit)
  return brought.ok ? trees.receive(run_id, agent_id, where.commit) : brought
}
