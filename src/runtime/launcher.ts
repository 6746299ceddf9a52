import type {
  AgentMemory,
  AgentResult,
  Check,
  Child,
  Contract,
  DelegationRequest,
  Reservation,
} from '../domain/index.js'
import type { TreeResult } from '../host/index.js'
import type { Blob } from '../store/index.js'
import type { Files } from '../workspaces/index.js'

/** How a sub-agent ended, before its parent has looked at it. `started` false: it has no stream of its own. */
export type ChildEnd = { result: AgentResult; used: Reservation; started: boolean }

/** A sub-agent under way, wherever it runs. */
export interface ChildRun {
  /** Rejects when this process lets go of it; it is then still open. */
  readonly ended: Promise<ChildEnd>
  /** Also after it has ended, as long as it is not forgotten: its checks may be under way. */
  cancel(by: string, reason: string): void
  /** Aborts when it is cancelled or let go of. */
  readonly stopped: AbortSignal
  /** Who cancelled it. */
  cancelled(): { by: string; reason: string } | null
  /** Whether it has begun. One that has not, and is not in this process, does not as long as its run is paused. */
  isBegun(): Promise<boolean>
  /** It is closed. */
  forget(): void
  /** Lets go of it without a word in the log. */
  abandon(why: string): void
}

/** What a sub-agent has from the agent above it. */
export type Above = {
  /** What that works in now; a sub-agent reads it until it has a tree of its own. */
  files: () => Files
  /** Whether it has a tree of its own from the beginning: there is something in it that nobody else has. */
  at_once: boolean
  /**
   * Waits until it may write, and gives the commit that its own tree begins with. `onWait`: whom it waits for. `resting`:
   * waits, and lends the place of one that works elsewhere meanwhile.
   */
  admit: (
    signal: AbortSignal,
    onWait: (behind: string[]) => void,
    resting?: Resting,
  ) => Promise<TreeResult<{ base: string }>>
}

/** `wait` null: there is nobody to wait for. It has its place when this resolves. */
export type Resting = (wait: (() => Promise<void>) | null) => Promise<void>

/**
 * What is known of one that is launched. `fresh`: it was created a moment ago, and nobody has worked on it or said anything
 * of it. `begun`: it had begun when this process took up its parent.
 */
export type Stage = 'fresh' | 'created' | 'begun'

export type PreparedChild =
  | { ok: true; contract: Contract; task: string; prompt: Blob; cache_key: string | null; reuse: Reuse | null }
  /** `short`: it may fit when running sub-agents have closed. */
  | { ok: false; message: string; short?: true }

/** An earlier result that stands for a sub-agent that would do the same again. */
export type Reuse = { from: { run_id: string; agent_id: string }; result: AgentResult }

/** What delegation needs from outside the runtime: who sub-agents are, and a place for them to run. */
export interface Launcher {
  readonly profiles: readonly { name: string; description: string }[]
  /** Whether a merge conflict gets a sub-agent that resolves it. */
  readonly repairs: boolean
  /** `files`: what sub-agents of the parent look at now. An earlier result stands only where that is what it was. */
  prepare(
    parent: AgentMemory,
    request: DelegationRequest,
    child: { id: string; step_idx: number },
    files: Files | null,
  ): Promise<PreparedChild>
  /** Those that have begun, of all that are open in the run of an agent. `ended`: they are to be joined and closed. */
  begun(parent: AgentMemory): Promise<{ ended: ReadonlySet<string>; working: ReadonlySet<string> }>
  launch(parent: AgentMemory, child: Child, stage: Stage, above: Above): ChildRun
  /**
   * Keeps the report of a closed sub-agent where people find it, and its result for whoever asks for the same. `files`: what
   * it looked at; null: that may be another by now.
   */
  file(parent: AgentMemory, child: Child, result: AgentResult, files: Files | null): Promise<{ fault: string | null }>
  /** Those with these ids that earlier runs of the session had: their results can still be read. */
  earlier(parent: AgentMemory, ids: readonly string[]): Promise<Child[]>
}

export function checksOf(child: Child): Check[] {
  return child.contract?.step.checks ?? []
}
