import { z } from 'zod'
import { answerSchema, type QuestionKey, questionKey } from '../domain/index.js'
import type { Clock } from '../host/index.js'
import type { Elsewhere } from '../runtime/index.js'
import type { Signal } from '../store/index.js'

/** `asked_at`: when the log says that the question was asked. The same may be asked again, and that is another question. */
export const answerSignalSchema = z.strictObject({ asked_at: z.number(), answer: answerSchema })

const AWAKE_MS = 60_000

type Take = Parameters<Elsewhere['listen']>[1]

/** The questions that this process asks right now, and who gets to hear what is said to them from elsewhere. */
export class Answers implements Elsewhere {
  readonly #asked = new Map<string, Take>()
  /** When the last question of a key was over: what is said to that one is not said to the next. */
  readonly #over = new Map<string, number>()
  #since = 0
  /** A process that waits for a word from elsewhere has something to do, though nothing else keeps it going. */
  #awake: NodeJS.Timeout | null = null

  constructor(private readonly clock: Clock) {}

  /** What was asked before was asked by somebody else, and so was it answered. */
  begin(): void {
    this.#since = this.clock.now()
  }

  listen(question: QuestionKey & { run_id: string }, take: Take): () => void {
    const key = keyOf(question.run_id, question)
    this.#asked.set(key, take)
    this.#awake ??= setInterval(() => {}, AWAKE_MS)
    return () => {
      if (this.#asked.get(key) === take) this.#end(key)
    }
  }

  /** A second answer to the same question finds nobody who waits for it. */
  hear({ run_id, data, by }: Signal): void {
    const read = answerSignalSchema.safeParse(data)
    if (!read.success) return
    const { asked_at, answer } = read.data
    const key = keyOf(run_id, answer)
    if (asked_at < (this.#over.get(key) ?? this.#since)) return
    const take = this.#asked.get(key)
    if (take?.(answer, by)) this.#end(key)
  }

  #end(key: string): void {
    this.#asked.delete(key)
    this.#over.set(key, this.clock.now())
    if (this.#asked.size > 0 || this.#awake === null) return
    clearInterval(this.#awake)
    this.#awake = null
  }

  forget(): void {
    this.#over.clear()
  }
}

function keyOf(run_id: string, question: QuestionKey): string {
  return `${run_id} ${questionKey(question)}`
}
