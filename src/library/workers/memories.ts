import { type AgentMemory, reduce } from '../../domain/index.js'
import type { Store } from '../../store/index.js'

/** So many are kept in mind. They are the parents of what is at work here, and few. */
const MOST_KNOWN = 50

/** `digest`: of the last event, and by it of all before. */
type Known = { memory: AgentMemory; digest: string }

/**
 * What agents know, as their logs have it now. Of one that was asked for before only what came since is read: a parent is
 * looked at again with each of its sub-agents, and may have a thousand.
 */
export class Memories {
  readonly #known = new Map<string, Known>()

  constructor(private readonly store: Pick<Store, 'read'>) {}

  async of(run_id: string, agent_id: string): Promise<AgentMemory | null> {
    const key = `${run_id}/${agent_id}`
    const read = (after_seq: number) => this.store.read({ run_id, agent_id, after_seq })
    const known = this.#known.get(key)
    // With the last one that is known: a database that took over from another may have lost it, and have others there.
    const [last, ...news] = known ? await read(known.memory.seq - 1) : []
    const is_there = known !== undefined && last?.digest === known.digest
    const events = is_there ? news : await read(0)
    let memory = is_there ? known.memory : null
    for (const event of events) memory = reduce(memory, event)
    const digest = (events.at(-1) ?? last)?.digest
    this.#remember(key, memory && digest ? { memory, digest } : null)
    return memory
  }

  /** Those that were asked for last are the last. */
  #remember(key: string, known: Known | null): void {
    this.#known.delete(key)
    if (known) this.#known.set(key, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}
