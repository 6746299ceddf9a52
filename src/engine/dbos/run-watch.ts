import type { Store } from '../../store/index.js'

type Look = () => void

/** Follows the logs of runs for those of this process who wait for sub-agents that work elsewhere. */
export class RunWatch {
  readonly #runs = new Map<string, { looks: Map<string, Look>; stop: AbortController }>()

  constructor(private readonly store: Store) {}

  /** `look` is called when the sub-agent may have ended; it is for the caller to look once more after this. */
  async add(run_id: string, agent_id: string, look: Look): Promise<() => void> {
    const run = this.#runs.get(run_id) ?? this.#begin(run_id, (await this.store.run(run_id))?.last_position ?? 0)
    run.looks.set(agent_id, look)
    return () => {
      run.looks.delete(agent_id)
      if (run.looks.size > 0) return
      run.stop.abort()
      if (this.#runs.get(run_id) === run) this.#runs.delete(run_id)
    }
  }

  /** Somebody has said something of this sub-agent that is not in a log. */
  tell(run_id: string, agent_id: string): void {
    this.#runs.get(run_id)?.looks.get(agent_id)?.()
  }

  #begin(run_id: string, after: number) {
    // While the position was read another may have begun.
    const known = this.#runs.get(run_id)
    if (known) return known
    const run = { looks: new Map<string, Look>(), stop: new AbortController() }
    this.#runs.set(run_id, run)
    void this.#follow(run_id, after, run.stop.signal)
    return run
  }

  async #follow(run_id: string, after: number, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.store.follow({ run_id, after, signal })) {
        const ends = event.type === 'agent.subagent_waiting_for_merge' || event.type === 'agent.subagent_failed'
        if (ends) this.tell(run_id, event.agent_id)
      }
    } catch {
      // A store that does not answer is met by whoever waits, when it next has to write.
    }
  }
}
