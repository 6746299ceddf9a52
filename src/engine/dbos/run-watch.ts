import type { Store } from '../../store/index.js'

type Look = () => void

type Watched = { looks: Map<string, Look>; stop: AbortController; begun: Promise<void> }

/** Follows the logs of runs for those of this process who wait for sub-agents that work elsewhere. */
export class RunWatch {
  readonly #runs = new Map<string, Watched>()

  constructor(private readonly store: Store) {}

  /** `look` is called when the sub-agent may have ended, from when this answers. Answers with how to stop that. */
  async add(run_id: string, agent_id: string, look: Look): Promise<() => void> {
    const run = this.#runs.get(run_id) ?? this.#begin(run_id)
    run.looks.set(agent_id, look)
    const remove = () => {
      // A parent that was let go of and taken up again here waits for the same sub-agent: what is its own stays.
      if (run.looks.get(agent_id) === look) run.looks.delete(agent_id)
      if (run.looks.size === 0) this.#end(run_id, run)
    }
    try {
      await run.begun
      return remove
    } catch (error) {
      remove()
      throw error
    }
  }

  /** Somebody has said something of this sub-agent that is not in a log. */
  tell(run_id: string, agent_id: string): void {
    this.#runs.get(run_id)?.looks.get(agent_id)?.()
  }

  #begin(run_id: string): Watched {
    const stop = new AbortController()
    const begun = this.store.run(run_id).then((row) => {
      void this.#follow(run_id, row?.last_position ?? 0, stop.signal)
    })
    const run: Watched = { looks: new Map(), stop, begun }
    this.#runs.set(run_id, run)
    return run
  }

  #end(run_id: string, run: Watched): void {
    run.stop.abort()
    if (this.#runs.get(run_id) === run) this.#runs.delete(run_id)
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
