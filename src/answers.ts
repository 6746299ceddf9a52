import {
  type Answer,
  answerInWords,
  answerSchema,
  type OpenQuestion,
  OpenQuestions,
  type Redactor,
  type StoredEvent,
} from './domain/index.js'
import { answerSignalSchema } from './engine/index.js'
import { RetinueError } from './errors.js'
import type { Clock } from './host/index.js'
import type { RunReader } from './run-reader.js'
import type { Store } from './store/index.js'

/** How soon the log is looked at again. */
const LOOK_MS = 50
/** How soon it is said again to whoever works on the run: they may have asked and not listened yet. */
const AGAIN_MS = 1000
/** So long somebody who works on the run may take to write the answer down. */
const PATIENCE_MS = 30_000

/** Of so many runs what was read is kept. */
const MOST_SEEN = 100

/** What a tool says for a person who did not answer. */
const UNANSWERED = 'error'

type Parts = { store: Store; reader: RunReader; clock: Clock; redactor: Redactor }

/** What runs wait for a person to say, and saying it: through the store, to whichever process asks. */
export class Answering {
  /** What the logs of runs that were asked about said so far: a face asks again whenever something happens. */
  readonly #seen = new Map<string, { open: OpenQuestions; position: number }>()

  constructor(private readonly parts: Parts) {}

  async questions(id: string): Promise<OpenQuestion[]> {
    const { run_id, status } = await this.parts.reader.find(id)
    const seen = this.#seen.get(run_id) ?? { open: new OpenQuestions(), position: 0 }
    this.#seen.delete(run_id)
    if (status === 'closed') return []
    this.#seen.set(run_id, seen)
    const [oldest] = this.#seen.keys()
    if (oldest !== undefined && this.#seen.size > MOST_SEEN) this.#seen.delete(oldest)
    for (const event of await this.parts.store.read({ run_id, after: seen.position })) {
      // Somebody who asked at the same time may have been faster.
      if (event.position <= seen.position) continue
      seen.open.add(event)
      seen.position = event.position
    }
    return seen.open.list()
  }

  async answer(id: string, given: unknown, by: string): Promise<void> {
    const { store, clock, redactor } = this.parts
    const answer = redactor.redactAll(understood(given, by))
    const { run_id } = await this.parts.reader.find(id)
    const log = new AskedLog(await store.read({ run_id, agent_id: answer.agent_id }), answer)
    const { question } = log
    if (question === null) throw await this.#notOpen(run_id, log)
    if (answer.kind === 'permission' && answer.standing) checkStanding(answer, question)
    const { asked_at } = question
    const began_at = clock.now()
    const mine: number[] = []
    for (let said_at = Number.NEGATIVE_INFINITY; ; ) {
      // Before the log is read: whoever is gone by then has written all that they ever will.
      const { status } = await this.parts.reader.find(run_id)
      log.add(await store.read({ run_id, agent_id: answer.agent_id, after: log.position }))
      if (log.over) break
      if (status !== 'running') throw nobodyThere(run_id, status)
      const now = clock.now()
      if (now - began_at > PATIENCE_MS) throw unheard(run_id)
      if (now - said_at >= AGAIN_MS) {
        const signal = await store.signal({ run_id, kind: 'answer', data: { asked_at, answer }, by })
        mine.push(signal.id)
        said_at = now
      }
      await clock.sleep(LOOK_MS)
    }
    const taken = log.answered(by)
    if (!taken || !(await this.#isFirst(run_id, { asked_at, answer, by }, mine))) throw await this.#notOpen(run_id, log)
  }

  /** Of those who said the same, only the first has answered. */
  async #isFirst(
    run_id: string,
    { asked_at, answer, by }: { asked_at: number; answer: Answer; by: string },
    mine: readonly number[],
  ): Promise<boolean> {
    const same = JSON.stringify({ asked_at, answer })
    for (const { id, kind, data, by: who } of await this.parts.store.signals({ run_id, after: 0 })) {
      if (kind !== 'answer' || who !== by) continue
      const read = answerSignalSchema.safeParse(data)
      if (read.success && JSON.stringify(read.data) === same) return mine.includes(id)
    }
    return false
  }

  async #notOpen(run_id: string, log: AskedLog): Promise<RetinueError> {
    const { answer } = log
    const what = `${WORDS[answer.kind]} of ${answer.agent_id} in run ${run_id} (${answer.call_id})`
    const { how } = log
    if (how !== null) return new RetinueError('conflict', `${what} is not open any more: ${how}`)
    const open = await this.questions(run_id)
    const there = open.map(({ agent_id, call_id, kind }) => `${agent_id} ${kind} ${call_id}`).join(', ')
    return new RetinueError(
      'not_found',
      `There is no ${what}. ${there === '' ? 'It asks nothing' : `It asks: ${there}`}`,
    )
  }
}

const WORDS: Record<Answer['kind'], string> = {
  permission: 'permission question',
  question: 'question',
  approval: 'question about a plan',
}

/** The log of the agent that asks, as far as it is about one question. */
class AskedLog {
  readonly #open = new OpenQuestions()
  /** As it was open when the log was first read; null: it was not. */
  question: OpenQuestion | null = null
  /** Whether it has been answered since, or is over in another way. */
  over = false
  /** How it ended, the last time it did; null: it was never asked. */
  how: string | null = null
  position = 0
  #end: StoredEvent | null = null

  constructor(
    events: readonly StoredEvent[],
    readonly answer: Answer,
  ) {
    this.add(events)
    this.question = this.#open.get(answer)
  }

  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const before = this.#open.get(this.answer)
      this.#open.add(event)
      this.position = event.position
      // What comes after its end is about another question.
      if (before === null || this.over || this.#open.get(this.answer) === before) continue
      this.#end = event
      this.how = endInWords(event)
      if (this.question) this.over = true
    }
  }

  /** Whether the log has just this answer. */
  answered(by: string): boolean {
    const { answer } = this
    const end = this.#end
    const note = 'note' in answer ? (answer.note ?? null) : null
    switch (end?.type) {
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
    case 'permission.asked':
    case 'tool.called':
    case 'plan.approval_asked':
      return 'it was asked again: answer that'
    case 'run.cancel_requested':
    case 'agent.cancel_requested':
      return `${event.data.by} has cancelled it`
    default:
      return 'the agent does not wait for it any more'
  }
}

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

function nobodyThere(run_id: string, status: 'interrupted' | 'closed'): RetinueError {
  if (status === 'closed') return new RetinueError('conflict', `Run ${run_id} is closed: it asks nothing any more`)
  return new RetinueError(
    'held',
    `Nobody works on run ${run_id} now, so nobody would hear the answer. Go on with it (retinue resume ${run_id}); it asks again then.`,
  )
}

function unheard(run_id: string): RetinueError {
  const why = `whoever works on run ${run_id} has not taken the answer within ${PATIENCE_MS / 1000} s`
  return new RetinueError('held', `The question is open still: ${why}. Look again later, or resume the run elsewhere.`)
}
