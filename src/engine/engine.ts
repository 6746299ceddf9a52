import type { AgentResult } from '../domain/index.js'
import type { AgentLoop, Resting, Stage } from '../runtime/index.js'
import type { Lease, Signal } from '../store/index.js'
import type { Answers } from './answers.js'

export type Cancel = { by: string; reason: string }

export type Taken = { ok: true; lease: Lease } | { ok: false; held_by: string }

export type Ended = { ok: true; result: AgentResult } | { ok: false; code: 'abandoned' | 'rests'; message: string }

/** A sub-agent that is to be worked on. */
export type ChildTask<T> = {
  run_id: string
  agent_id: string
  stage: Stage
  /** Its siblings take turns with those of other groups; so many of them work at once. */
  group: string
  group_limit: number | undefined
  /** How it ended, where it has; null: it has not. */
  end: () => Promise<T | null>
  /** Called when it is its turn; or without a turn, because it was cancelled before that. The signal: it is stopped. */
  open: (cancelled: Cancel | null, stopped: AbortSignal) => Promise<{ lease: Lease; loop: AgentLoop } | { done: T }>
  done: (loop: AgentLoop, result: AgentResult) => T
  /**
   * Answers one that works elsewhere and asks to write, which has no place while it waits for that. false: it was stopped
   * before there was an answer.
   */
  admit: (stopped: AbortSignal, resting: Resting) => Promise<boolean>
}

export type ChildWork<T> = {
  /** Rejects with AbandonedError when this process lets go of it. */
  ended: Promise<T>
  cancel(by: string, reason: string): void
  abandon(why: string): void
  stopped: AbortSignal
  cancelled(): Cancel | null
  /** Whether it has begun, or does without anybody else having to let it. */
  isBegun(): Promise<boolean>
  /** It can be cancelled until then. */
  forget(): void
}

/** Where agents run, how many at once, and what happens when that place dies. */
export interface Engine {
  /** What is said from elsewhere to those that ask in this process. */
  readonly answers: Answers
  /** How long a lease lives without a word from its owner. */
  readonly ttl_ms: number
  /** Begins to hear signals. Before an agent is owned, so that nothing said to its owner is missed. */
  listen(): Promise<void>
  /**
   * Takes the lease of an agent, unless a living process holds it. `resting`: also of one that rests, as whoever has its
   * parent may.
   */
  take(run_id: string, agent_id: string, options?: { resting?: boolean }): Promise<Taken>
  isHeld(lease: Lease): boolean
  /** While it is made ready to be worked on: its lease is kept, and what is said to it is heard. */
  keep<T>(lease: Lease, work: () => Promise<T>): Promise<T>
  /** Hears what was said to a run while nobody worked on it. */
  catchUp(run_id: string): Promise<Signal[]>
  /** Works a root agent until it is finished, under its lease. */
  work(lease: Lease, loop: AgentLoop): Promise<Ended>
  /** Works on a sub-agent when it is its turn, until it is finished. */
  workOnChild<T>(task: ChildTask<T>): ChildWork<T>
  /** Lets go of everything that is at work, and waits until it is let go. What is open can be resumed. */
  close(): Promise<void>
}
