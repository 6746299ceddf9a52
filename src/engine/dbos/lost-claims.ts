import type { Claim } from './dispatch.js'

/** From being taken from the queue to being begun it is a moment, however busy the process is. */
const LOST_MS = 10_000

/**
 * What a worker has taken from a queue without knowing it: the database went away after it had written that down, and
 * before it could say so. DBOS does not ask, and to everybody else the worker that has it is alive.
 */
export class LostClaims {
  readonly #seen = new Map<string, number>()

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** `claims`: those of this worker that the database has. `begun`: those that it works on. */
  among<C extends Pick<Claim, 'id'>>(claims: readonly C[], begun: ReadonlySet<string>): C[] {
    const idle = claims.filter(({ id }) => !begun.has(id))
    const ids = new Set(idle.map(({ id }) => id))
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id)
    const now = this.now()
    for (const id of ids) if (!this.#seen.has(id)) this.#seen.set(id, now)
    return idle.filter(({ id }) => now - (this.#seen.get(id) as number) >= LOST_MS)
  }
}
