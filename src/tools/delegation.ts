import type {
  Adjustment,
  AgentMemory,
  AgentResult,
  Check,
  DelegationRequest,
  EventData,
  EventType,
  Plan,
  PlanState,
  StepSpec,
} from '../domain/index.js'

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
  readonly plans: PlanKeeper
  /** Whether no more of them begin: what is at work is finished, and the agent is let go of then. */
  readonly pausing: boolean
}

/** How commands of checks are judged: as in plan mode where nobody is to write anything. */
export type Bounds = { read_only: boolean }

type PlanEventType = Extract<EventType, `plan.${string}`>

/** What whoever carries out a plan works with besides: how far it has come is in the log and nowhere else. */
export interface PlanKeeper {
  /** The plan of a call as it stands. null: it is not begun. */
  state(call_id: string): PlanState | null
  /** Writes down what happens to it. Durable with the next sub-agent that is created, or with `commit`. */
  note<T extends PlanEventType>(type: T, data: EventData<T>): void
  commit(): Promise<void>
  /**
   * Waits until a sub-agent is closed or begins to wait for others, something is noted, one of these settles, or the
   * call is stopped. To be waited for to its end: meanwhile this agent has no place among those at work.
   */
  next(also: readonly Promise<unknown>[]): Promise<void>
  /** Waits until all of them are closed, also where the call is stopped. */
  closed(ids: readonly string[]): Promise<void>
  /** Runs the checks of the whole on what has been integrated, and notes what they find; none twice in one round. */
  check(call_id: string, round: number, checks: readonly Check[], bounds: Bounds): Promise<void>
  /** Why a command would not be run without asking, or null. */
  refusal(command: string, bounds: Bounds): Promise<string | null>
  /** All that this agent's log says. */
  readonly memory: AgentMemory
  /** Of its sub-agents, at work at once. */
  readonly limit: number
  /** For a tool that hands out steps which depend on each other. */
  carryOut: CarryOut
  /** Asks the person; null: nobody is there. `moot`: aborts when nobody needs the answer any more. */
  approve(proposal: Proposal, moot?: AbortSignal): Promise<Approval | null>
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
  /** Whether it waits for others: until it may write, or until its work may be joined. */
  waits: boolean
  /** Whether its result has been handed over to this agent's model. */
  delivered: boolean
  adjustments: readonly Adjustment[]
  /** null: it is not closed yet. */
  closed: { final_status: 'completed' | 'failed'; close_reason: string; result: AgentResult } | null
  /** Where the result is an earlier one: whose. */
  reused_from: { run_id: string; agent_id: string } | null
}

/** Carries out steps of a call, to the end of all of them. What is known of them from before a restart is not done again. */
export type CarryOut = (
  call: { call_id: string; delegator: Delegator; signal: AbortSignal },
  steps: readonly StepSpec[],
  /** What every one of them is told of the whole. */
  context: string,
) => Promise<PlanState>

/** What a person is asked before something of a plan is carried out. */
export type Proposal = {
  /** The call that carries it out. */
  call_id: string
  plan: Plan
  /** The step that is about to begin: yes or no, and a changed plan is not taken. null: the plan as a whole. */
  step: string | null
  /** What it comes to, and what is wrong with what the person made of it, in words. */
  preview: unknown
  faults: readonly { path: string; message: string }[]
}

/** `plan`: as the person wants it instead. Only where the plan as a whole was proposed. */
export type Approval = { answer: 'approve' | 'decline'; by?: string; note?: string | null; plan?: unknown }
