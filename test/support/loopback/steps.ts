import type { Usage } from '../../../src/domain/index.js'

/** One answer, in no provider's words. */
export type LoopbackStep = {
  reasoning?: string
  text?: string
  /** Arguments as text go out as they are, valid or not. */
  calls?: { name: string; args: Record<string, unknown> | string; id?: string }[]
  usage?: Partial<Usage>
  finish?: 'stop' | 'length' | 'content_filter'
  delay_ms?: number
  /** Write the body in pieces of so many bytes. */
  piece_bytes?: number
  fault?: LoopbackFault
}

export type LoopbackFault = {
  /** Only for the first so many requests for this step; then it is answered. Default: always. */
  times?: number
} & (
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: unknown }
  /** `end`: the body ends as if complete. `fin`: the connection is closed. `rst`: it is reset. */
  | { kind: 'cut'; after_bytes: number; how: 'end' | 'fin' | 'rst' }
  /** Sends so many bytes, and then nothing more. */
  | { kind: 'stall'; after_bytes: number }
  /** Never ends: a word, or what is given, again and again. */
  | { kind: 'trickle'; every_ms: number; tick?: string }
  /** 200, and a body that is no JSON. */
  | { kind: 'garbage'; body?: string }
  /** 200, and nothing said. */
  | { kind: 'empty' }
  /** The provider's own error inside a stream that had begun; without a stream, its body with status 200. */
  | { kind: 'stream_error'; type: string; message: string; at_start?: boolean }
)

const DEFAULT_USAGE: Usage = {
  input_tokens: 10,
  output_tokens: 5,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
}

/** A step with everything that a protocol needs to know, and its place in the conversation. */
export type Answer = {
  turn: number
  reasoning: string
  text: string
  calls: { id: string; name: string; args: string }[]
  usage: Usage
  finish: 'stop' | 'length' | 'content_filter' | 'tool_calls'
}

export function toAnswer(step: LoopbackStep, turn: number): Answer {
  const empty = step.fault?.kind === 'empty'
  const calls = empty ? [] : (step.calls ?? [])
  return {
    turn,
    reasoning: empty ? '' : (step.reasoning ?? ''),
    text: empty ? '' : (step.text ?? ''),
    calls: calls.map((call, index) => ({
      id: call.id ?? `call_${turn}_${index}`,
      name: call.name,
      args: typeof call.args === 'string' ? call.args : JSON.stringify(call.args),
    })),
    usage: { ...DEFAULT_USAGE, ...step.usage },
    finish: step.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
  }
}

/** Words with the space after them, so that they can be put together again. */
export function words(text: string): string[] {
  return text.match(/\S+\s*|^\s+/g) ?? []
}

export function parseArgs(args: string): unknown {
  try {
    return args === '' ? {} : JSON.parse(args)
  } catch {
    return args
  }
}
