import { z } from 'zod'
import type { AgentEvent, StoredEvent } from './events.js'
import type { Rule } from './rules.js'

/** What a run waits for a person to say. `call_id`: of the call that cannot go on before that. */
export type OpenQuestion = { agent_id: string; call_id: string; asked_at: number } & (
  | {
      kind: 'permission'
      tool: string
      summary: string
      reason: string
      /** The whole command or change; null where the summary says it all. */
      detail: string | null
      /** Whether that is its head and tail only: a yes is to what is left out, too. */
      cut: boolean
      /** What a standing yes would allow for the rest of the run; null: there is only a yes to this once. */
      grant: Rule | null
    }
  | { kind: 'question'; text: string; options: string[] }
  /** `step`: that is about to begin; null: the plan as a whole. */
  | { kind: 'approval'; step: string | null; title: string; faults?: PlanFaults }
)

/** What is wrong with what a person made of a plan, so that it is asked about again. */
type PlanFaults = { path: string; message: string }[]

const MAX_TEXT = 20_000
const named = { agent_id: z.string().min(1), call_id: z.string().min(1) }
const note = z.string().max(MAX_TEXT).nullable().optional()

/** What a person says to one of these, from wherever they are. */
export const answerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...named,
    kind: z.literal('permission'),
    answer: z.enum(['allow', 'deny']),
    /** For the rest of the run. Only a yes can be that, and only where the question has a grant. */
    standing: z.boolean().optional(),
    note,
  }),
  z.strictObject({
    ...named,
    kind: z.literal('question'),
    /** null: they do not answer. */
    text: z.string().min(1).max(MAX_TEXT).nullable(),
  }),
  z.strictObject({
    ...named,
    kind: z.literal('approval'),
    step: z.string().nullable(),
    answer: z.enum(['approve', 'decline']),
    note,
    /** As it is to be instead, for whoever asks to look at. Only a yes can have one, to a plan as a whole. */
    plan: z.unknown().optional(),
  }),
])
export type Answer = z.infer<typeof answerSchema>

/** What tells one question of a run from all others: the same for a question and for its answer. */
export type QuestionKey = Pick<Answer, 'agent_id' | 'call_id' | 'kind'> & { step?: string | null }

export function questionKey({ agent_id, kind, call_id, step = null }: QuestionKey): string {
  return JSON.stringify([agent_id, kind, call_id, step])
}

/** Every question of a run that nobody has answered, oldest first. */
export function openQuestions(events: readonly StoredEvent[]): OpenQuestion[] {
  const open = new OpenQuestions()
  for (const event of events) open.add(event)
  return open.list()
}

/** The questions that are open after what has happened so far, event by event: of a run, or of one of its agents. */
export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>()
  /** What plans and their steps are called, by agent and call. */
  readonly #titles = new Map<string, string>()

  constructor(open: readonly OpenQuestion[] = []) {
    for (const question of open) this.#ask(question)
  }

  list(): OpenQuestion[] {
    return [...this.#open.values()]
  }

  get(key: QuestionKey): OpenQuestion | null {
    return this.#open.get(questionKey(key)) ?? null
  }

  add(event: AgentEvent): void {
    const { agent_id, at: asked_at } = event
    switch (event.type) {
      case 'permission.asked': {
        const { call_id, tool, summary, reason, detail = null, detail_cut: cut = false, grant = null } = event.data
        this.#ask({ kind: 'permission', agent_id, call_id, asked_at, tool, summary, reason, detail, cut, grant })
        return
      }
      case 'tool.called': {
        const { call_id, effect, args } = event.data
        this.#close({ agent_id, call_id, kind: 'permission' })
        if (effect !== 'ask_person') return
        const options = Array.isArray(args.options) ? args.options.map(String) : []
        this.#ask({ kind: 'question', agent_id, call_id, asked_at, text: String(args.question ?? ''), options })
        return
      }
      case 'permission.answered':
        this.#close({ agent_id, call_id: event.data.call_id, kind: 'permission' })
        return
      case 'tool.refused':
      case 'tool.finished':
      case 'plan.ended': {
        const { call_id } = event.data
        this.#closeAll((question) => question.agent_id === agent_id && question.call_id === call_id)
        return
      }
      case 'plan.proposed':
        this.#name(event, null, event.data.plan.goal)
        return
      case 'plan.adopted':
      case 'plan.steps_added':
        if (event.type === 'plan.adopted') this.#name(event, null, event.data.plan.goal)
        for (const { id, title } of event.data.steps) this.#name(event, id, title)
        return
      case 'plan.approval_asked': {
        const { call_id, step, faults } = event.data
        const title = this.#titles.get(titleKey(event, step)) ?? step ?? ''
        this.#ask({ kind: 'approval', agent_id, call_id, asked_at, step, title, ...(faults ? { faults } : {}) })
        return
      }
      case 'plan.approval_answered':
      case 'plan.step_started':
      case 'plan.step_ended':
        this.#close({ agent_id, call_id: event.data.call_id, kind: 'approval', step: event.data.step })
        return
      case 'agent.resumed':
      case 'agent.cancel_requested':
      case 'agent.finished':
      case 'agent.subagent_waiting_for_merge':
        // After a restart the same is asked again, by whoever works on it then.
        this.#closeAll((question) => question.agent_id === agent_id)
        return
      case 'agent.subagent_failed':
      case 'agent.subagent_closed': {
        const { sub_agent_id } = event.data
        this.#closeAll(({ agent_id: id }) => id === sub_agent_id || id.startsWith(`${sub_agent_id}.`))
        return
      }
      case 'run.cancel_requested':
      case 'run.closed':
        this.#open.clear()
        return
      default:
        return
    }
  }

  /** The last time that it was asked is what counts. */
  #ask(question: OpenQuestion): void {
    const key = questionKey(question)
    this.#open.delete(key)
    this.#open.set(key, question)
  }

  #close(key: QuestionKey): void {
    this.#open.delete(questionKey(key))
  }

  #closeAll(over: (question: OpenQuestion) => boolean): void {
    for (const [key, question] of this.#open) if (over(question)) this.#open.delete(key)
  }

  #name(event: PlanEvent, step: string | null, title: string): void {
    this.#titles.set(titleKey(event, step), title)
  }
}

type PlanEvent = Extract<AgentEvent, { type: `plan.${string}` }>

function titleKey({ agent_id, data }: PlanEvent, step: string | null): string {
  return JSON.stringify([agent_id, data.call_id, step])
}

/** What was said, as a person is told. */
export function answerInWords(answer: Answer): string {
  switch (answer.kind) {
    case 'permission': {
      if (answer.answer === 'allow') return answer.standing ? 'yes, for the rest of the run' : 'yes'
      return withNote('no', answer.note)
    }
    case 'question':
      return answer.text ?? 'no answer'
    case 'approval':
      return withNote(
        answer.answer === 'decline' ? 'declined' : answer.plan === undefined ? 'approved' : 'approved, changed',
        answer.note,
      )
    default:
      return answer satisfies never
  }
}

function withNote(word: string, note: string | null | undefined): string {
  return note ? `${word}: ${note}` : word
}
