import { AT_REST, rest, type WorkerEngine } from '../../engine/index.js'
import type { Host } from '../../host/index.js'
import type { Lease, Store } from '../../store/index.js'

/** How soon it is looked again whether whoever holds an agent is alive. */
const LOOK_MS = 250

/** An agent that this worker has. `woken`: it rested, and was not given up by anybody. */
export type Tenure = { lease: Lease; woken: boolean }

type Parts = { host: Host; store: Store; engine: WorkerEngine }

/** Whose an agent is: taking it, keeping it and letting go of it. */
export class Tenures {
  constructor(private readonly parts: Parts) {}

  /** null: it has no stream. `held`: somebody who is alive works on it. */
  async take(run_id: string, agent_id: string): Promise<Tenure | 'held' | null> {
    const { store, engine, host } = this.parts
    let seen = await store.lease(run_id, agent_id)
    for (;;) {
      if (!seen) return null
      const woken = seen.owner === AT_REST && seen.expires_at > 0
      if (woken || !engine.isHeld(seen)) {
        const lease = await engine.acquire(seen)
        if (lease) return { lease, woken }
      } else if (seen.owner === host.identity.owner && engine.isAtWork(run_id, agent_id)) return 'held'
      // It was alive a moment ago, and it is looked again later.
      else if (engine.isFresh(seen)) return 'held'
      await host.clock.sleep(LOOK_MS)
      const now = await store.lease(run_id, agent_id)
      const is_same = now?.epoch === seen.epoch && now.owner === seen.owner
      // It says that it is alive: whatever there is to do, it will see to.
      if (now && is_same && now.expires_at > seen.expires_at) return 'held'
      seen = now
    }
  }

  /** While the work lasts that has to be done before it is opened. Where that fails, another may have it. null: it has none. */
  async keep<T>(tenure: Tenure | null, work: () => Promise<T>): Promise<T> {
    if (tenure === null) return work()
    try {
      return await this.parts.engine.keep(tenure.lease, work)
    } catch (error) {
      await this.#letGo(tenure)
      throw error
    }
  }

  /**
   * Whoever holds it may be dead, or die after what it had was taken up and found held. Later its lease has run out then. It is
   * asked for once in that time, by however many find it held.
   */
  async lookLater(run_id: string, agent_id: string, closes: boolean): Promise<void> {
    const { engine, store } = this.parts
    const lease = await store.lease(run_id, agent_id)
    if (!lease || lease.owner === AT_REST) return
    // By the second until which it is held: a later look finds another, or that it is free.
    const until = Math.floor(lease.expires_at / 1000)
    await engine.wake(run_id, agent_id, `held-${lease.epoch}-${until}`, { delay_ms: engine.ttl_ms, closes })
  }

  /** As it was: another worker may be able to do what this one is not. */
  async #letGo({ lease, woken }: Tenure): Promise<void> {
    const { store } = this.parts
    await (woken ? rest(store, lease) : store.release(lease))
  }
}
