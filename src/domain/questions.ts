import type { StoredEvent } from './events.js'
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
      /** What a standing yes would allow for the rest of the run; null: there is only a yes to this once. */
      grant: Rule | null
    }
  | { kind: 'question'; text: string; options: string[] }
  /** `step`: that is about to begin; null: the plan as a whole. */
  | { kind: 'approval'; step: string | null; title: string }
)

/** What a person says to one of these, from wherever they are. */
export type Answer = { agent_id: string; call_id: string } & (
  | { kind: 'permission'; answer: 'allow' | 'deny'; standing?: boolean; note?: string | null }
  /** null: they do not answer. */
  | { kind: 'question'; text: string | null }
  | { kind: 'approval'; step: string | null; answer: 'approve' | 'decline'; note?: string | null }
)

/** Every question of a run that nobody has answered, oldest first. */
export function openQuestions(events: readonly StoredEvent[]): OpenQuestion[] {
  throw new Error(`not written yet: ${events.length}`)
}
