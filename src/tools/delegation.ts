import type { Adjustment, AgentResult, DelegationRequest } from '../domain/index.js'

/** What the delegation tools work with: the one mechanism behind all of them. */
export interface Delegator {
  /**
   * Creates a sub-agent, or finds the one that this call created before a restart. `index`: which of several of one
   * call. Resolves when it is durable that the sub-agent exists; it runs by itself from then on.
   */
  spawn(call_id: string, index: number, request: DelegationRequest): Promise<Spawned>
  /** Waits until each of them is closed, or until the call is stopped. In the order asked for. */
  wait(ids: readonly string[]): Promise<Job[]>
  /** The sub-agents of this agent, in the order of their creation. Nobody else's are ever known here. */
  jobs(): readonly Job[]
  /** Of earlier runs of the session, those with these ids. All of them are closed. */
  earlier(ids: readonly string[]): Promise<Job[]>
  /** The profiles that there are, in a stable order. */
  readonly profiles: readonly { name: string; description: string }[]
}

export type Spawned =
  | { ok: true; id: string; adjustments: readonly Adjustment[] }
  /** `short`: it may fit when running sub-agents have closed. */
  | { ok: false; message: string; short?: true }

export type Job = {
  id: string
  /** The call that asked for it, and which of several of that call it is. */
  call_id: string
  index: number
  title: string
  /** Whether its result has been handed over to this agent's model. */
  delivered: boolean
  adjustments: readonly Adjustment[]
  /** null: it is not closed yet. */
  closed: { final_status: 'completed' | 'failed'; close_reason: string; result: AgentResult } | null
  /** Where the result is an earlier one: whose. */
  reused_from: { run_id: string; agent_id: string } | null
}
