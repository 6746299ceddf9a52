import type { FinishReason, ModelFault, ModelRequest, Part, Purpose, Usage } from '../domain/index.js'
import type { LocalServer } from './local/server.js'

/** A part as a model gives it: the runtime numbers its tool calls afterwards. */
export type AnswerPart = Exclude<Part, { type: 'tool_call' }> | Omit<Extract<Part, { type: 'tool_call' }>, 'call_id'>

export type ModelError = {
  ok: false
  code: Exclude<ModelFault, 'interrupted'>
  /** Says what the provider said, without keys, and what to do where that is known. */
  message: string
  retry_after_ms: number | null
  /** Members of a pool that were passed over before it failed. */
  fell_over?: FellOver[]
}

export type ModelAnswer =
  | {
      ok: true
      /** The model that answered, as the provider names it. */
      model: string
      parts: AnswerPart[]
      finish_reason: FinishReason
      usage: Usage
      /** The usage is right even where it says nothing was used. Absent: then nobody counted. */
      counted?: true
      /** What it cost, at the prices of the time when it was asked; null or absent: nobody knows. */
      cost_usd?: number | null
      /** `provider/model` of the member of a pool that answered. */
      answered_by?: string
      /** Members of a pool that come before it and were passed over, asked or not. */
      fell_over?: FellOver[]
    }
  | ModelError

/** A member of a pool that was passed over, and why. */
export type FellOver = { model: string; code: ModelError['code']; message: string }

/** Who asks, and why. The scripted model matches on it; providers never see it. */
export type Caller = {
  run_id: string
  agent_id: string
  request_id: string
  purpose: Purpose
  /** From 1; counts how often this request was tried, as in `model.requested`. */
  attempt: number
  /** From 1; counts how often the whole agent was tried, as in `agent.subagent_attempt`. Absent: 1. */
  agent_attempt?: number
}

export type GenerateOptions = {
  signal: AbortSignal
  caller: Caller
  /** Somebody watches: stream, and say what comes. Without it the answer is fetched whole, which costs half. */
  onDelta?: (delta: { type: 'text' | 'reasoning'; text: string }) => void
  /** The first token of a streamed answer has come, which may be one of a tool call that no delta shows. */
  onBegin?: () => void
}

/** How long a model may be silent where nobody said so. */
export const DEFAULT_IDLE_TIMEOUT_MS = 120_000

/** One model. Never rejects: what goes wrong is a value with a code. */
export interface Model {
  /** `provider/model`. */
  readonly name: string
  /** Tokens one request may have; null when nobody knows. */
  readonly window: number | null
  /**
   * What usage costs in US dollars if it is used now; of a pool, with its dearest member. Absent: nobody knows, so that
   * no limit on cost can be held. Reading it may load the table of prices.
   */
  readonly price?: ((usage: Usage) => number) | undefined
  /** Reads without a limit and costs nothing: a program that stands where a model would. */
  readonly unmetered?: true
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelAnswer>
}

export type ModelChoice =
  | { ok: true; model: Model }
  | {
      ok: false
      code: 'unknown_provider' | 'unknown_model' | 'no_tools' | 'no_key' | 'bad_name' | 'bad_script' | 'bad_pool'
      message: string
    }

/** Finds models by name. Providers are loaded when first used. */
export interface Models {
  resolve(name: string): Promise<ModelChoice>
  /** What can be used here, for `doctor` and for the message when there is none. */
  available(): { provider: string; ready: boolean; hint: string }[]
  /** Model servers that run on this machine and that nobody configured. Takes up to a few hundred milliseconds. */
  discover(): Promise<LocalServer[]>
  /** A sensible model for when nobody named one; null when no provider is ready and no local model can do it. */
  fallback(): Promise<string | null>
}
