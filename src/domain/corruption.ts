/** Histories that no correct writer can produce. */
export const CORRUPTIONS = [
  'sequence_gap',
  'not_started',
  'already_started',
  'already_finished',
  'request_while_open',
  'answer_without_request',
  'call_unknown',
  'intent_repeated',
  'result_without_intent',
  'result_repeated',
  'child_repeated',
  'child_unknown',
  'child_closed_twice',
  'child_settled_twice',
  'budget_overdrawn',
  'tree_missing',
  'tree_repeated',
  'plan_unknown',
  'plan_over',
  'step_unknown',
  'step_repeated',
  'step_over',
  'illegal_transition',
  'unknown_event',
  'bad_payload',
  'digest_mismatch',
] as const
export type Corruption = (typeof CORRUPTIONS)[number]

/** Thrown, because a corrupt log is nothing that a caller can work around: it has to be looked at by a person. */
export class CorruptLogError extends Error {
  override name = 'CorruptLogError'
  constructor(
    readonly corruption: Corruption,
    /** In the log of a run, or, by its position alone, in the control log. */
    readonly where: { run_id: string; agent_id: string; seq: number } | { position: number },
    detail: string,
  ) {
    const place =
      'position' in where
        ? `The control log is corrupt at event ${where.position}`
        : `The log of run ${where.run_id} is corrupt at event ${where.seq} of agent ${where.agent_id}`
    super(`${place} (${corruption}): ${detail}`)
  }
}
