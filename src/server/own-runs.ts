import type { Retinue, Run } from '../index.js'

/**
 * The runs that this server's process works on. Whoever answers their questions does so through the log, as for any
 * other run: see `Retinue.answer`.
 */
export class OwnRuns {
  readonly #open = new Map<string, Run>()

  constructor(private readonly retinue: Retinue) {}

  has(run_id: string): boolean {
    return this.#open.has(run_id)
  }

  /** Resolves when it has begun; rejects with what kept it from that. */
  async begin(start: (retinue: Retinue) => Run): Promise<string> {
    const run = start(this.retinue)
    throw new Error(`not written yet: ${run.run_id}`)
  }

  /** Lets go of all of them, to be resumed. Resolves with their ids. */
  async leave(reason: string): Promise<string[]> {
    throw new Error(`not written yet: ${reason}`)
  }
}
