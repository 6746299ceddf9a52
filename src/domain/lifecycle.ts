import { z } from 'zod'
import type { Outcome } from './outcome.js'

/** Every agent goes through these, in this order, and is done only when it is closed. */
export const agentStateSchema = z.enum(['created', 'running', 'waiting_for_merge', 'completed', 'failed', 'closed'])
export type AgentState = z.infer<typeof agentStateSchema>

const NEXT: Record<AgentState, readonly AgentState[]> = {
  created: ['running', 'failed'],
  running: ['waiting_for_merge', 'failed'],
  waiting_for_merge: ['completed', 'failed'],
  completed: ['closed'],
  failed: ['closed'],
  closed: [],
}

export function mayFollow(from: AgentState, to: AgentState): boolean {
  return NEXT[from].includes(to)
}

/** Work that was cut short by a budget still goes to the merge, marked incomplete; the gates decide about it. */
export function endState(outcome: Outcome): AgentState {
  return outcome === 'completed' || outcome === 'budget_exceeded' ? 'waiting_for_merge' : 'failed'
}
