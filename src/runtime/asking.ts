import { personAnswerSchema } from '../domain/index.js'
import type { Approval, PersonAnswer, Proposal, Question } from '../tools/index.js'

/** Whoever sits in front of the run. Every method may answer null: nobody is there. */
export interface Person {
  permit(question: Question, signal: AbortSignal): Promise<PersonAnswer | null>
  answer(question: { text: string; options: string[] }, signal: AbortSignal): Promise<string | null>
  /** Whether a plan, or one of its steps, is carried out. Absent: nobody can be asked that. */
  approve?(proposal: Proposal, signal: AbortSignal): Promise<Approval | null>
}

/** A face that fails to ask, or whose answer cannot be understood, has not got a yes. */
export async function askPermission(
  person: Person,
  question: Question,
  signal: AbortSignal,
): Promise<PersonAnswer | null> {
  const no = (note: string): PersonAnswer => ({ answer: 'deny', grant: null, by: 'nobody', note })
  try {
    const answer = await unlessStopped(() => person.permit(question, signal), signal)
    if (answer === null || answer === undefined) return null
    const understood = personAnswerSchema.safeParse(answer)
    return understood.success ? understood.data : no('the answer to the question was not understood')
  } catch (error) {
    return no(`asking failed: ${String(error)}`)
  }
}

/** A face that fails to ask, or that has no way to, has not got a yes. */
export async function askApproval(person: Person, proposal: Proposal, signal: AbortSignal): Promise<Approval | null> {
  if (!person.approve) return null
  const ask = person.approve.bind(person)
  const answer = await unlessStopped(() => ask(proposal, signal), signal).catch(() => null)
  return answer?.answer === 'approve' || answer?.answer === 'decline' ? answer : null
}

export async function askQuestion(
  person: Person,
  question: { text: string; options: string[] },
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await unlessStopped(() => person.answer(question, signal), signal)
  return typeof answer === 'string' ? answer : null
}

/** A person who does not answer must not keep a run from being stopped. */
function unlessStopped<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
  const stopped = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
  return Promise.race([ask(), stopped])
}
