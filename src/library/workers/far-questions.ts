import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Answer,
  type Contract,
  type OpenQuestion,
  OpenQuestions,
  personAnswerSchema,
  questionKey,
} from '../../domain/index.js'
import type { Person } from '../../runtime/index.js'
import type { Proposal } from '../../tools/index.js'
import { RetinueError } from '../errors.js'
import { ROOT } from '../runs/reader.js'

type Approval = Extract<OpenQuestion, { kind: 'approval' }>

/** What a person is asked about a plan. null: there is nothing to ask about any more. */
export type Propose = (question: Approval) => Promise<Proposal | null>

type Parts = {
  person: Person | null
  /** Rejects where it was not taken. `asked_at`: the same may be asked again, and that is another question. */
  answer: (answer: Answer, by: string, asked_at: number) => Promise<void>
  propose: Propose
}

/** How soon it is said again what was not taken. */
const AGAIN_MS = 1000

/** A face that fails to ask has not got a yes, and what asks must not wait for one. */
const NOBODY = 'nobody is there to be asked'
const NOT_UNDERSTOOD = 'the answer to the question was not understood'

/** Puts the questions of a run that is worked on elsewhere to the person who sits here. */
export class FarQuestions {
  readonly #open = new OpenQuestions()
  readonly #asked = new Map<string, { question: OpenQuestion; over: AbortController }>()

  /** Agents that may ask nobody: what they would ask for is refused at once, wherever they work. */
  readonly #silent = new Set<string>()

  constructor(private readonly parts: Parts) {}

  add(event: Parameters<OpenQuestions['add']>[0]): void {
    const { person } = this.parts
    if (!person) return
    this.#open.add(event)
    if (event.type === 'agent.started') this.#know(event.agent_id, event.data.contract)
    if (event.type === 'agent.subagent_created') this.#know(event.data.sub_agent_id, event.data.contract)
    const open = this.#open.list()
    for (const [key, { question, over }] of this.#asked) {
      if (open.includes(question)) continue
      this.#asked.delete(key)
      over.abort()
    }
    for (const question of open) {
      const key = questionKey(question)
      if (this.#asked.has(key) || (question.kind === 'permission' && this.#silent.has(question.agent_id))) continue
      const over = new AbortController()
      this.#asked.set(key, { question, over })
      // What a face is never meant to do must not end whoever waits here.
      void this.#ask(person, question, over.signal).catch(() => {})
    }
  }

  #know(agent_id: string, { permissions }: Contract): void {
    if (!permissions.can_ask_person) this.#silent.add(agent_id)
  }

  close(): void {
    for (const { over } of this.#asked.values()) over.abort()
    this.#asked.clear()
  }

  async #ask(person: Person, question: OpenQuestion, signal: AbortSignal): Promise<void> {
    let said = await this.#said(person, question, signal)
    while (!signal.aborted) {
      const { answer, by } = said
      const refused = await this.parts.answer(answer, by, question.asked_at).then(() => null, codeOf)
      // One that came too late is one that the log tells about.
      if (refused === null || refused === 'conflict' || refused === 'not_found') return
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
      // What was said stands until whoever asks has heard it. A plan that was changed and cannot be taken is asked about again.
      if (refused === 'input' && !signal.aborted)
        said = notUnderstood(question) ?? (await this.#said(person, question, signal))
    }
  }

  #said(person: Person, question: OpenQuestion, signal: AbortSignal): Promise<{ answer: Answer; by: string }> {
    switch (question.kind) {
      case 'permission':
        return permission(person, question, signal)
      case 'question':
        return answered(person, question, signal)
      case 'approval':
        return this.#approval(person, question, signal)
      default:
        return question satisfies never
    }
  }

  async #approval(person: Person, question: Approval, signal: AbortSignal) {
    const { agent_id, call_id, step, kind } = question
    const ask = async () => {
      const proposal = await this.parts.propose(question)
      return proposal && (await person.approve?.(proposal, signal))
    }
    const given = (await ask().catch(failed)) ?? { answer: 'decline' as const, note: NOBODY }
    const { answer, by = 'person', note = null, plan } = given
    return { answer: { agent_id, call_id, kind, step, answer, note, ...(plan === undefined ? {} : { plan }) }, by }
  }
}

async function permission(
  person: Person,
  question: Extract<OpenQuestion, { kind: 'permission' }>,
  signal: AbortSignal,
): Promise<{ answer: Answer; by: string }> {
  const { agent_id, call_id, kind, tool, summary, reason, detail, grant } = question
  const named = { ...(agent_id === ROOT ? {} : { agent_id }), call_id }
  // The log has it in words alone: whoever decides by what is in it has to take it for something not understood.
  const call = { tool, effect: 'execute', paths: [], commands: null, unclear: 'a worker asks it in words' } as const
  const ask = async () => person.permit({ ...named, tool, summary, reason, detail, grant, call }, signal)
  const given = (await ask().catch(failed)) ?? { answer: 'deny', note: NOBODY }
  // As where it is asked in the process that works: what cannot be understood is no yes.
  const { data } = personAnswerSchema.safeParse(given)
  if (!data) return { answer: { agent_id, call_id, kind, answer: 'deny', note: NOT_UNDERSTOOD }, by: 'person' }
  const standing = data.grant === null ? {} : { standing: true }
  return { answer: { agent_id, call_id, kind, answer: data.answer, ...standing, note: data.note }, by: data.by }
}

/** null: it can be asked again. */
function notUnderstood({ agent_id, call_id, kind }: OpenQuestion): { answer: Answer; by: string } | null {
  if (kind === 'approval') return null
  const no = kind === 'permission' ? { kind, answer: 'deny' as const, note: NOT_UNDERSTOOD } : { kind, text: null }
  return { answer: { agent_id, call_id, ...no }, by: 'person' }
}

async function answered(
  person: Person,
  { agent_id, call_id, kind, text, options }: Extract<OpenQuestion, { kind: 'question' }>,
  signal: AbortSignal,
): Promise<{ answer: Answer; by: string }> {
  const ask = async (): Promise<unknown> => person.answer({ call_id, text, options }, signal)
  const said = await ask().catch(() => null)
  const words = typeof said === 'string' && said !== '' ? said : null
  return { answer: { agent_id, call_id, kind, text: words }, by: 'person' }
}

function codeOf(error: unknown): RetinueError['code'] | 'unknown' {
  return error instanceof RetinueError ? error.code : 'unknown'
}

function failed(): null {
  return null
}
