import { type AgentMemory, reduce } from '../../domain/index.js'
import type { Store } from '../../store/index.js'

/** So many are kept in mind. They are the parents of what is at work here, and few. */
const MOST_KNOWN = 50

type Known = { position: number; memory: AgentMemory | null }

/**
 * What agents know, as their logs have it now. Of one that was asked for before only what came since is read: a parent is
 * looked at again with each of its sub-agents, and may have a thousand.
 */
export class Memories {
  readonly #known = new Map<string, Known>()

  constructor(private readonly store: Pick<Store, 'read'>) {}

  async of(run_id: string, agent_id: string): Promise<AgentMemory | null> {
    const key = `${run_id}/${agent_id}`
    let { position, memory } = this.#known.get(key) ?? { position: 0, memory: null }
    for (const event of await this.store.read({ run_id, agent_id, after: position })) {
      memory = reduce(memory, event)
      position = event.position
    }
    this.#remember(key, { position, memory })
    return memory
  }

  /** Those that were asked for last are the last. */
  #remember(key: string, known: Known): void {
    this.#known.delete(key)
    this.#known.set(key, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}
