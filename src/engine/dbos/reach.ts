import type { WorkerNews } from './worker.js'

/** Which of the things that a worker does again and again do not reach the database. A person hears of it once. */
export class Reach {
  readonly #failing = new Map<string, string>()

  constructor(private readonly say: (news: WorkerNews) => void) {}

  /** null: all of them reach it. */
  get problem(): string | null {
    const [first] = this.#failing.values()
    return first ?? null
  }

  /** Never rejects. It is mended when the last that failed has succeeded: one may work where another does not. */
  async during(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      if (this.#failing.delete(what) && this.#failing.size === 0) {
        this.say({ kind: 'mended', text: 'The database answers again' })
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (this.#failing.size === 0) this.say({ kind: 'problem', text: `The database does not answer: ${message}` })
      this.#failing.set(what, message)
    }
  }
}
