import { type Answer, personAnswerSchema, type QuestionKey } from '../domain/index.js'
import type { Approval, PersonAnswer, Proposal, Question } from '../tools/index.js'

/**
 * Whoever sits in front of the run. Every method may answer null: nobody is there. The signal aborts when the question
 * is not asked any more; with an `AnsweredElsewhere` as its reason, where somebody else has answered it.
 */
export interface Person {
  permit(question: Question, signal: AbortSignal): Promise<PersonAnswer | null>
  answer(question: AskedQuestion, signal: AbortSignal): Promise<string | null>
  /** Whether a plan, or one of its steps, is carried out. Absent: nobody can be asked that. */
  approve?(proposal: Proposal, signal: AbortSignal): Promise<Approval | null>
}

/** What an agent wants to know. `call_id`: of the call by which it asks. */
export type AskedQuestion = { call_id?: string; text: string; options: string[] }

/** Why a person is not asked any more: somebody has answered from elsewhere. */
export class AnsweredElsewhere {
  constructor(
    readonly by: string,
    readonly answer: Answer,
  ) {}
}

/** Where answers come in from other places than the person's face. */
export interface Elsewhere {
  /** Until the function that it gives back is called. `take`: false where the answer is none to this question. */
  listen(question: Asked, take: (answer: Answer, by: string) => boolean): () => void
}

/** One question, and no other of the same name: the same may have been asked before. `asked_at`: as the log says. */
export type Asked = QuestionKey & { run_id: string; asked_at: number }

type Side = {
  /** null: nobody is there, and what would ask is refused, whoever else has something to say. */
  person: Person | null
  elsewhere: Elsewhere
  whose: { run_id: string; agent_id: string }
  /** When the log says that it asks this; null: it does not. */
  askedAt: (question: QuestionKey) => number | null
  /** Aborts when the agent is stopped. */
  signal: () => AbortSignal
}

/** How one agent asks: the person in front of the run, and whoever answers from elsewhere; the first word counts. */
export class Asker {
  constructor(private readonly side: Side) {}

  /** A face that fails to ask, or whose answer cannot be understood, has not got a yes. */
  async permit(question: Question): Promise<PersonAnswer | null> {
    const no = (note: string): PersonAnswer => ({ answer: 'deny', grant: null, by: 'nobody', note })
    try {
      const answer = await this.#ask(
        { kind: 'permission', call_id: question.call_id },
        (person, signal) => person.permit(question, signal),
        (given, by) => permission(question, given, by),
      )
      if (answer === null || answer === undefined) return null
      const understood = personAnswerSchema.safeParse(answer)
      return understood.success ? understood.data : no('the answer to the question was not understood')
    } catch (error) {
      return no(`asking failed: ${String(error)}`)
    }
  }

  async answer(question: AskedQuestion & { call_id: string }): Promise<string | null> {
    const answer = await this.#ask(
      { kind: 'question', call_id: question.call_id },
      (person, signal) => person.answer(question, signal),
      (given) => (given.kind === 'question' ? { answer: given.text } : null),
    )
    return typeof answer === 'string' ? answer : null
  }

  /** A face that fails to ask, or that has no way to, has not got a yes. `moot`: nobody needs the answer any more. */
  async approve(proposal: Proposal, moot?: AbortSignal): Promise<Approval | null> {
    if (!this.side.person?.approve) return null
    const answer = await this.#ask(
      { kind: 'approval', call_id: proposal.call_id, step: proposal.step },
      async (person, signal) => person.approve?.(proposal, signal) ?? null,
      (given, by) => (given.kind === 'approval' ? { answer: approval(given, by) } : null),
      moot,
    ).catch(() => null)
    return answer?.answer === 'approve' || answer?.answer === 'decline' ? answer : null
  }

  async #ask<T>(
    question: Omit<QuestionKey, 'agent_id'>,
    ask: (person: Person, signal: AbortSignal) => Promise<T | null>,
    read: (given: Answer, by: string) => { answer: T | null } | null,
    moot?: AbortSignal,
  ): Promise<T | null> {
    const { person, elsewhere, whose } = this.side
    if (person === null) return null
    const stop = moot ? AbortSignal.any([this.side.signal(), moot]) : this.side.signal()
    const withdrawn = new AbortController()
    let forget = () => {}
    const key = { ...whose, ...question }
    const asked_at = this.side.askedAt(key)
    const answered = new Promise<T | null>((resolve) => {
      if (asked_at === null) return
      forget = elsewhere.listen({ ...key, asked_at }, (given, by) => {
        const understood = read(given, by)
        if (understood === null) return false
        // First the answer, then the end of the question: the face has nothing more to say to it.
        resolve(understood.answer)
        withdrawn.abort(new AnsweredElsewhere(by, given))
        return true
      })
    })
    try {
      const face = unlessStopped(() => ask(person, AbortSignal.any([stop, withdrawn.signal])), stop)
      return await Promise.race([answered, face])
    } finally {
      forget()
    }
  }
}

function permission({ grant }: Question, given: Answer, by: string): { answer: PersonAnswer } | null {
  if (given.kind !== 'permission') return null
  const { answer, standing = false, note = null } = given
  if (standing && (answer !== 'allow' || grant === null)) return null
  return { answer: { answer, grant: standing ? grant : null, by, note } }
}

function approval({ answer, note = null, plan }: Extract<Answer, { kind: 'approval' }>, by: string): Approval {
  return { answer, by, note, ...(plan === undefined ? {} : { plan }) }
}

/** A person who does not answer must not keep a run from being stopped. */
function unlessStopped<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
  const stopped = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
  return Promise.race([ask(), stopped])
}
