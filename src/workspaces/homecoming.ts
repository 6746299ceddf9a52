import type { Landing } from '../domain/index.js'
import type { TreeResult, Trees } from '../host/index.js'
import { INTEGRATION, ROOT } from './names.js'
import type { Travel } from './travel.js'

type Wanted = { run_id: string; landing: Landing | null; agent_id: string | null }

/**
 * Has here what a run came to in another checkout, as if it had ended here: its result, or the work of one of its
 * sub-agents that was kept. What is here already is left alone.
 */
export async function bringHome(trees: Trees, travel: Travel, wanted: Wanted): Promise<TreeResult<object>> {
  const { run_id, landing, agent_id } = wanted
  if (agent_id !== null) return bringAgent(trees, travel, run_id, agent_id)
  if (landing === null) return { ok: true }
  const { base, commit } = landing
  const known = await trees.recall(run_id)
  if (known.ok && known.result === commit) return known
  const brought = await travel.bring(trees, commit, ROOT)
  if (!brought.ok) return brought
  const received =
    landing.state === 'kept' ? await replaced(trees, travel, { run_id, agent_id: ROOT, commit }) : brought
  if (!received.ok) return received
  // The branch that the log names; where it cannot be shown, what is on it can be had all the same.
  if (landing.state === 'kept' && travel.isHome) await trees.publish(run_id, INTEGRATION)
  return trees.remember(run_id, { base, result: commit })
}

async function bringAgent(trees: Trees, travel: Travel, run_id: string, agent_id: string): Promise<TreeResult<object>> {
  const [known, where] = [await trees.head(run_id, agent_id), await travel.whereabouts(agent_id)]
  if (where === null || (known.ok && (known.commit === where.commit || where.checkout === travel.checkout)))
    return { ok: true }
  const brought = await travel.bring(trees, where.commit, agent_id)
  return brought.ok ? replaced(trees, travel, { run_id, agent_id, commit: where.commit }) : brought
}

type Brought = { run_id: string; agent_id: string; commit: string }

/**
 * It may have been here, and gone on elsewhere: the tree that was left makes way, unless it has something that was never
 * carried. That stays in its folder, where `worktrees` finds it.
 */
async function replaced(
  trees: Trees,
  travel: Travel,
  { run_id, agent_id, commit }: Brought,
): Promise<TreeResult<object>> {
  const name = agent_id === ROOT ? INTEGRATION : agent_id
  const known = await trees.head(run_id, name)
  if (!known.ok && known.code !== 'missing') return known
  if (known.ok) {
    const all = await trees.isCommitted(run_id, name)
    const isCarried = all.ok && all.committed && (await travel.hasCarried(agent_id, known.commit))
    const removed = isCarried ? await trees.remove(run_id, name) : known
    if (!removed.ok) return removed
  }
  return trees.receive(run_id, name, commit)
}
