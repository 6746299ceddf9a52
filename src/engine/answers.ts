import { z } from 'zod'
import { type Answer, answerSchema, type QuestionKey, questionKey } from '../domain/index.js'
import type { Clock } from '../host/index.js'
import type { Asked, Elsewhere } from '../runtime/index.js'
import type { Signal, Store } from '../store/index.js'

/**
 * `asked_at`: when the log says that the question was asked. The same may be asked again, and that is another question.
 * `until`: for processes that went by the clock of whoever said it. What counts is when the store took it: the clocks of
 * two machines may be further apart than anybody waits.
 */
const answerSignalSchema = z.strictObject({ asked_at: z.number(), until: z.number(), answer: answerSchema })
export type AnswerSignal = z.infer<typeof answerSignalSchema>

/** So long an answer can be taken: whoever said it does not wait much longer, and is told then that it was not. */
export const TAKEN_WITHIN_MS = 25_000

const AWAKE_MS = 60_000

type Take = Parameters<Elsewhere['listen']>[1]

/** The questions that this process asks right now, and who gets to hear what is said to them from elsewhere. */
export class Answers implements Elsewhere {
  readonly #asked = new Map<string, { asked_at: number; take: Take }>()
  /** A process that waits for a word from elsewhere has something to do, though nothing else keeps it going. */
  #awake: NodeJS.Timeout | null = null

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  listen({ run_id, asked_at, ...question }: Asked, take: Take): () => void {
    const key = keyOf(run_id, question)
    this.#asked.set(key, { asked_at, take })
    this.#awake ??= setInterval(() => {}, AWAKE_MS)
    // The log has the question for a while already: somebody may have answered it before anybody listened.
    void this.#catchUp(run_id).catch(() => {})
    return () => {
      if (this.#asked.get(key)?.take === take) this.#end(key)
    }
  }

  /** The first who says something to a question has answered it, with the last that they said by now. */
  hear(signals: readonly Signal[]): void {
    const said = new Map<string, Map<string, Answer>>()
    for (const { run_id, kind, data, by, at } of signals) {
      const read = kind === 'answer' ? answerSignalSchema.safeParse(data) : null
      if (!read?.success || this.clock.now() > at + TAKEN_WITHIN_MS) continue
      const { asked_at, answer } = read.data
      const key = keyOf(run_id, answer)
      if (this.#asked.get(key)?.asked_at !== asked_at) continue
      said.set(key, (said.get(key) ?? new Map()).set(by, answer))
    }
    for (const [key, answers] of said) {
      for (const [by, answer] of answers) {
        if (!this.#asked.get(key)?.take(answer, by)) continue
        this.#end(key)
        break
      }
    }
  }

  async #catchUp(run_id: string): Promise<void> {
    this.hear(await this.store.signals({ run_id, after: 0 }))
  }

  #end(key: string): void {
    this.#asked.delete(key)
    if (this.#asked.size > 0 || this.#awake === null) return
    clearInterval(this.#awake)
    this.#awake = null
  }
}

function keyOf(run_id: string, question: QuestionKey): string {
  return `${run_id} ${questionKey(question)}`
}
