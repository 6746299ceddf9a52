import { z } from 'zod'

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
