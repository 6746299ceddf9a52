type Known<T> = { asked_at: number; answer: Promise<T> }

/** Answers that were asked for a moment ago are given again. What failed is asked for anew. */
export class Lately<T> {
  readonly #known = new Map<string, Known<T>>()

  constructor(
    private readonly kept_ms: number,
    private readonly now: () => number,
    private readonly ask: (key: string) => Promise<T>,
  ) {}

  get(key: string): Promise<T> {
    const now = this.now()
    const known = this.#known.get(key)
    if (known && now - known.asked_at < this.kept_ms) return known.answer
    this.#forget(now)
    const asked: Known<T> = { asked_at: now, answer: this.ask(key) }
    asked.answer.catch(() => {
      if (this.#known.get(key) === asked) this.#known.delete(key)
    })
    this.#known.set(key, asked)
    return asked.answer
  }

  /** Those that were asked for first are the first. */
  #forget(now: number): void {
    for (const [key, { asked_at }] of this.#known) {
      if (now - asked_at < this.kept_ms) return
      this.#known.delete(key)
    }
  }
}
