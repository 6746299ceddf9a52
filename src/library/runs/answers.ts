import {
  type Answer,
  answerInWords,
  answerSchema,
  type OpenQuestion,
  OpenQuestions,
  type Redactor,
  type StoredEvent,
} from '../../domain/index.js'
import { type AnswerSignal, TAKEN_WITHIN_MS } from '../../engine/index.js'
import type { Clock } from '../../host/index.js'
import { eventPages, type Store } from '../../store/index.js'
import { RetinueError } from '../errors.js'
import type { RunReader } from './reader.js'

/** How soon the log is looked at again. */
const LOOK_MS = 50
/** So long it may take to be written down: longer than to be taken, so that whoever is told that it was not is told the truth. */
const PATIENCE_MS = 30_000

/** Of so many runs what was read is kept: more than any list shows, since lists ask about all that they show. */
const MOST_SEEN = 500

/** What a tool says for a person who did not answer. */
const UNANSWERED = 'error'

type Parts = { store: Store; reader: RunReader; clock: Clock; redactor: Redactor }

type Seen = { open: OpenQuestions; position: number }

/** What runs wait for a person to say, and saying it: through the store, to whichever process asks. */
export class Answering {
  /** What the logs of runs that were asked about said so far: a face asks again whenever something happens. */
  readonly #seen = new Map<string, Seen>()

  constructor(private readonly parts: Parts) {}

  async questions(id: string): Promise<OpenQuestion[]> {
    return (await this.#look(await this.parts.reader.find(id))).open.list()
  }

  /** `asked_at`: to which asking it is the answer, where somebody saw that one alone. Default: the one that is open. */
  async answer(id: string, given: unknown, by: string, asked_at?: number): Promise<void> {
    const { store, reader, clock, redactor } = this.parts
    const answer = redactor.redactAll(understood(given, by))
    const run = await reader.find(id)
    const { run_id } = run
    const { open, position } = await this.#look(run)
    const question = open.get(answer)
    if (question === null) throw await this.#notOpen(run_id, answer)
    if (asked_at !== undefined && asked_at !== question.asked_at) throw askedAgain(run_id, answer)
    if (answer.kind === 'permission' && answer.standing) checkStanding(answer, question)
    if (answer.kind === 'approval' && answer.plan !== undefined) checkChanged(answer)
    if (run.status !== 'running') throw nobodyThere(run_id, run.status)
    const asked = new FollowedQuestion(question, answer, position)
    const data: AnswerSignal = { asked_at: question.asked_at, until: clock.now() + TAKEN_WITHIN_MS, answer }
    // It counts from when the store took it, which may be long after it was said where that was away.
    const { at } = await store.signal({ run_id, kind: 'answer', data, by })
    for (;;) {
      // Before the log is read: whoever is gone by then has written all that they ever will.
      const { status } = await reader.find(run_id)
      await asked.look(store, run_id)
      if (asked.end) break
      if (status !== 'running') throw nobodyThere(run_id, status)
      if (clock.now() - at > PATIENCE_MS) throw unheard(run_id)
      await clock.sleep(LOOK_MS)
    }
    if (!isAnswer(asked.end, answer, by)) throw over(run_id, answer, asked.end)
  }

  /** What the log says by now. */
  async #look({ run_id, status }: { run_id: string; status: string }): Promise<Seen> {
    const seen = this.#seen.get(run_id) ?? { open: new OpenQuestions(), position: 0 }
    this.#seen.delete(run_id)
    if (status === 'closed') return { open: new OpenQuestions(), position: 0 }
    this.#seen.set(run_id, seen)
    const [oldest] = this.#seen.keys()
    if (oldest !== undefined && this.#seen.size > MOST_SEEN) this.#seen.delete(oldest)
    for await (const page of eventPages(this.parts.store, { run_id, after: seen.position })) {
      for (const event of page) {
        // Somebody who asked at the same time may have been faster.
        if (event.position <= seen.position) continue
        seen.open.add(event)
        seen.position = event.position
      }
    }
    return seen
  }

  /** Why it cannot be answered. The whole log is read for that. */
  async #notOpen(run_id: string, answer: Answer): Promise<RetinueError> {
    const open = new OpenQuestions()
    let end: StoredEvent | null = null
    for await (const page of eventPages(this.parts.store, { run_id })) {
      for (const event of page) {
        const before = open.get(answer)
        open.add(event)
        if (before !== null && open.get(answer) !== before) end = event
      }
    }
    if (end) return over(run_id, answer, end)
    const there = open.list().map(({ agent_id, call_id, kind }) => `${agent_id} ${kind} ${call_id}`)
    const asks = there.length === 0 ? 'It asks nothing' : `It asks: ${there.join(', ')}`
    return new RetinueError('not_found', `There is no ${inWords(run_id, answer)}. ${asks}`)
  }
}

const WORDS: Record<Answer['kind'], string> = {
  permission: 'permission question',
  question: 'question',
  approval: 'question about a plan',
}

function inWords(run_id: string, { kind, agent_id, call_id }: Answer): string {
  return `${WORDS[kind]} of ${agent_id} in run ${run_id} (${call_id})`
}

function over(run_id: string, answer: Answer, end: StoredEvent): RetinueError {
  return notOpenAnyMore(run_id, answer, endInWords(end))
}

function askedAgain(run_id: string, answer: Answer): RetinueError {
  return notOpenAnyMore(run_id, answer, ASKED_AGAIN)
}

function notOpenAnyMore(run_id: string, answer: Answer, why: string): RetinueError {
  return new RetinueError('conflict', `${inWords(run_id, answer)} is not open any more: ${why}`)
}

/** One question, from when it was found open until it is over. */
class FollowedQuestion {
  readonly #open: OpenQuestions
  /** By which it has been answered since, or is over in another way. */
  end: StoredEvent | null = null

  constructor(
    private readonly question: OpenQuestion,
    private readonly answer: Answer,
    private position: number,
  ) {
    this.#open = new OpenQuestions([question])
  }

  async look(store: Store, run_id: string): Promise<void> {
    const { agent_id } = this.question
    for await (const page of eventPages(store, { run_id, agent_id, after: this.position })) {
      for (const event of page) {
        this.position = event.position
        this.#open.add(event)
        if (this.#open.get(this.answer) === this.question) continue
        // What comes after its end is about another question.
        this.end = event
        return
      }
    }
  }
}

/** Whether the question ended with just this answer. */
function isAnswer(end: StoredEvent, answer: Answer, by: string): boolean {
  const note = 'note' in answer ? (answer.note ?? null) : null
  switch (end.type) {
    case 'permission.answered': {
      if (answer.kind !== 'permission' || end.data.by !== by || end.data.note !== note) return false
      return end.data.answer === answer.answer && (end.data.grant !== null) === (answer.standing === true)
    }
    case 'plan.approval_answered':
      if (answer.kind !== 'approval' || end.data.by !== by || end.data.note !== note) return false
      return (end.data.answer === 'approved') === (answer.answer === 'approve')
    case 'tool.finished': {
      if (answer.kind !== 'question') return false
      const { status, content, output } = end.data
      // One that was cut is kept elsewhere; its beginning tells enough.
      if (answer.text === null) return status === UNANSWERED
      return status === 'ok' && (output !== null || content === answer.text)
    }
    default:
      return false
  }
}

/** How a question ended, as whoever comes too late is told. */
function endInWords(event: StoredEvent): string {
  switch (event.type) {
    case 'permission.answered': {
      const { answer, by, note, grant } = event.data
      if (by === 'nobody') return 'nobody answered it'
      return `${by} has answered: ${answerInWords({ ...ANY, kind: 'permission', answer, note, standing: grant !== null })}`
    }
    case 'plan.approval_answered': {
      const { by, answer, note } = event.data
      const word = answer === 'approved' ? 'approve' : 'decline'
      if (by === 'nobody') return 'nobody answered it'
      return `${by} has answered: ${answerInWords({ ...ANY, kind: 'approval', step: null, answer: word, note })}`
    }
    case 'tool.finished':
      return event.data.status === 'ok' ? `it was answered: ${event.data.content}` : 'nobody answered it'
    case 'agent.resumed':
      return 'another process works on the run now and asks again: answer that'
    case 'plan.approval_asked': {
      const { faults = [] } = event.data
      if (faults.length === 0) return ASKED_AGAIN
      return `the changed plan has faults (${faults.map(({ path, message }) => `${path}: ${message}`).join('; ')}), so ${ASKED_AGAIN}`
    }
    case 'permission.asked':
    case 'tool.called':
      return ASKED_AGAIN
    case 'run.cancel_requested':
    case 'agent.cancel_requested':
      return `${event.data.by} has cancelled it`
    default:
      return 'the agent does not wait for it any more'
  }
}

const ASKED_AGAIN = 'it was asked again: answer that'

/** Words about an answer say nothing of whose question it was. */
const ANY = { agent_id: '', call_id: '' }

function understood(given: unknown, by: string): Answer {
  const read = answerSchema.safeParse(given)
  if (!read.success) {
    const faults = read.error.issues.map(({ path, message }) => `${path.join('.') || 'answer'}: ${message}`)
    throw new RetinueError('input', `The answer cannot be understood: ${faults.join('; ')}`)
  }
  // The log has `nobody` for those whom nobody answered.
  if (typeof by !== 'string' || by.trim() === '' || by === 'nobody') {
    throw new RetinueError('input', 'Say whose answer it is: the name is empty, or nobody')
  }
  return read.data
}

function checkStanding(answer: Extract<Answer, { kind: 'permission' }>, question: OpenQuestion): void {
  if (answer.answer !== 'allow') throw new RetinueError('input', 'Only a yes can stand for the rest of a run')
  if (question.kind === 'permission' && question.grant !== null) return
  throw new RetinueError('input', 'There is no standing yes to this question: answer it for this once')
}

function checkChanged({ answer, step }: Extract<Answer, { kind: 'approval' }>): void {
  if (answer === 'approve' && step === null) return
  throw new RetinueError('input', 'Only a plan as a whole can be changed, by whoever says yes to it')
}

function nobodyThere(run_id: string, status: 'interrupted' | 'closed'): RetinueError {
  if (status === 'closed') return new RetinueError('conflict', `Run ${run_id} is closed: it asks nothing any more`)
  return new RetinueError(
    'held',
    `Nobody works on run ${run_id} now, so nobody would hear the answer. Go on with it (retinue resume ${run_id}); it asks again then.`,
  )
}

function unheard(run_id: string): RetinueError {
  const why = `whoever works on run ${run_id} has not taken the answer within ${PATIENCE_MS / 1000} s, and it does not count any more`
  return new RetinueError(
    'held',
    `The question is open still: ${why}. Answer again later, or resume the run elsewhere.`,
  )
}
