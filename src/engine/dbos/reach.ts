import { isOfServer, passes, reasonOf } from '../../store/index.js'
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
      const text = inWords(error)
      if (this.#failing.size === 0) this.say({ kind: 'problem', text })
      this.#failing.set(what, text)
    }
  }
}

function inWords(error: unknown): string {
  const does = isOfServer(error) && !passes(error) ? 'refuses' : 'does not answer'
  return `The database ${does}: ${reasonOf(error)}`
}
