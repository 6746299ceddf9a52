/** So many who ask are remembered; the one that asked longest ago is forgotten first. */
const MOST_ASKERS = 10_000

/** Tokens for each who asks, an address or somebody known: so many at once, and so many a second after that. */
export class Buckets {
  readonly #left = new Map<string, { tokens: number; at: number }>()

  constructor(
    private readonly size: number,
    private readonly per_second: number,
    private readonly now: () => number,
  ) {}

  /** Takes one. Else the seconds until there is one. */
  take(asker: string): { ok: true } | { ok: false; retry_after_s: number } {
    const { tokens, at } = this.#now(asker)
    if (tokens < 1) return { ok: false, retry_after_s: Math.ceil((1 - tokens) / this.per_second) }
    this.#left.delete(asker)
    this.#left.set(asker, { tokens: tokens - 1, at })
    const [oldest] = this.#left.keys()
    if (this.#left.size > MOST_ASKERS && oldest !== undefined) this.#left.delete(oldest)
    return { ok: true }
  }

  #now(asker: string): { tokens: number; at: number } {
    const at = this.now()
    const before = this.#left.get(asker)
    if (!before) return { tokens: this.size, at }
    const more = (Math.max(0, at - before.at) / 1000) * this.per_second
    return { tokens: Math.min(this.size, before.tokens + more), at }
  }
}
