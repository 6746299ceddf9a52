import type { FinishReason, ModelFault, ModelRequest, Part, Purpose, Usage } from '../domain/index.js'

/** A part as a model gives it: the runtime numbers its tool calls afterwards. */
export type AnswerPart = Exclude<Part, { type: 'tool_call' }> | Omit<Extract<Part, { type: 'tool_call' }>, 'call_id'>

export type ModelError = {
  ok: false
  code: Exclude<ModelFault, 'interrupted'>
  /** Says what the provider said, without keys, and what to do where that is known. */
  message: string
  retry_after_ms: number | null
}

export type ModelAnswer =
  | {
      ok: true
      /** The model that answered, as the provider names it. */
      model: string
      parts: AnswerPart[]
      finish_reason: FinishReason
      usage: Usage
      /** What it cost by the price table; null or absent: nobody knows. */
      cost_usd?: number | null
      /** `provider/model` of the member of a pool that answered. */
      answered_by?: string
      /** Members of a pool that were asked before it and gave nothing. */
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
}

export type GenerateOptions = {
  signal: AbortSignal
  caller: Caller
  /** Somebody watches: stream, and say what comes. Without it the answer is fetched whole, which costs half. */
  onDelta?: (delta: { type: 'text' | 'reasoning'; text: string }) => void
}

/** One model. Never rejects: what goes wrong is a value with a code. */
export interface Model {
  /** `provider/model`. */
  readonly name: string
  /** Tokens one request may have; null when nobody knows. */
  readonly window: number | null
  /** What usage costs in US dollars. Absent: nobody knows, so that no limit on cost can be held. */
  readonly price?: (usage: Usage) => number
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelAnswer>
}

export type ModelChoice =
  | { ok: true; model: Model }
  | { ok: false; code: 'unknown_provider' | 'no_key' | 'bad_name' | 'bad_script'; message: string }

/** Finds models by name. Providers are loaded when first used. */
export interface Models {
  resolve(name: string): Promise<ModelChoice>
  /** What can be used here, for `doctor` and for the message when there is none. */
  available(): { provider: string; ready: boolean; hint: string }[]
  /** A sensible model for when nobody named one; null when no provider is ready. */
  fallback(): string | null
}
