import type { Lease, Store } from '../store/index.js'

/** Whose an agent is that nobody works on just now, and that will be worked on without anybody having to see to it. */
export const AT_REST = 'the workers'

const FOR_EVER_MS = 100 * 365 * 24 * 60 * 60 * 1000

/** Hands an agent to the workers, or back to them. null: it is somebody else's already. */
export function rest(store: Store, { run_id, agent_id, epoch }: Omit<Lease, 'expires_at'>): Promise<Lease | null> {
  return store.acquire({ run_id, agent_id, owner: AT_REST, ttl_ms: FOR_EVER_MS, seen_epoch: epoch })
}
