import { z } from 'zod'

/** How an agent ended. One value, set by the runtime and the gates, never by the words of a model. */
export const OUTCOMES = [
  'completed',
  'budget_exceeded',
  'timeout',
  'cancelled',
  'policy_violation',
  'merge_conflict',
  'gate_failed',
  'interrupted',
  'error',
] as const

export const outcomeSchema = z.enum(OUTCOMES)
export type Outcome = z.infer<typeof outcomeSchema>
