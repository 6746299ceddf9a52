import {
  type AgentMemory,
  type EventData,
  type ModelFault,
  type ModelRequest,
  NO_USAGE,
  type Part,
  type Purpose,
  type ToolCallPart,
} from '../domain/index.js'
import type { AnswerPart, Model, ModelAnswer } from '../models/index.js'
import type { AgentPlace } from './agent.js'
import { messagesToSummarize } from './compaction.js'
import type { Action } from './decide.js'
import { historyToSummarize } from './history.js'
import type { Recorder } from './recorder.js'
import { buildRequest, type Material, requestDigest } from './request.js'
import { showWords } from './shown.js'
import { estimateMessage, estimateRequest } from './tokens.js'

/** An agent, as far as asking its model goes. */
export type Asking = {
  place: AgentPlace
  recorder: Recorder
  material: Material
  signal: AbortSignal
  deadline: number
}

/** Faults after which the provider may have done its work, and charge for it. */
const MAY_COST: ReadonlySet<ModelFault> = new Set(['network', 'bad_output', 'aborted'])

/** One call of the model, from its intent to its answer or failure in the log. */
export async function askModel(asking: Asking, action: Extract<Action, { kind: 'ask_model' }>): Promise<void> {
  const { recorder, material, signal } = asking
  const { clock, model } = asking.place
  if (action.not_before > clock.now()) {
    // What is waited for must be durable: another process may be the one to go on.
    await recorder.commit()
    await clock.sleep(action.not_before - clock.now(), signal)
    if (signal.aborted) return
  }
  const { purpose, attempt } = action
  const request = buildRequest(recorder.memory, material, purpose)
  const request_id = `q${recorder.memory.seq + 1}`
  const estimated_tokens = model.unmetered ? 0 : estimateRequest(recorder.memory, material, purpose)
  const estimated_usd = model.price ? priceToRead(model, estimated_tokens) : null
  recorder.record('model.requested', {
    request_id,
    purpose,
    model: model.name,
    request_digest: requestDigest(model.name, recorder.memory.contract.agent.prompt_digest, request),
    messages: request.messages.length,
    estimated_tokens,
    estimated_usd,
    attempt,
  })
  await recorder.commit()
  const started = clock.now()
  const answer = await generate(asking, request, { request_id, purpose, attempt })
  const duration_ms = clock.now() - started
  if (!answer.ok) {
    const { code, message, retry_after_ms } = answer
    const spent = MAY_COST.has(code)
      ? { spent_tokens: estimated_tokens, spent_usd: estimated_usd }
      : { spent_tokens: 0, spent_usd: 0 }
    recorder.record('model.failed', { request_id, code, message, retry_after_ms, ...spent, duration_ms })
    return
  }
  const { finish_reason } = answer
  const parts = purpose === 'turn' ? numbered(answer.parts, recorder.memory, material) : withoutCalls(answer.parts)
  const replaced_history = historyToSummarize(recorder.memory, material.history)
  const replaced_messages = messagesToSummarize(recorder.memory)
  recorder.record('model.responded', {
    request_id,
    purpose,
    model: answer.model,
    answered_by: answer.answered_by ?? model.name,
    fell_over: answer.fell_over ?? [],
    parts,
    finish_reason,
    ...usageOf(answer, model, parts, estimated_tokens),
    duration_ms,
  })
  if (purpose === 'summary') {
    const summary = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    const replaced = replaced_history > 0 ? { replaced_messages: 0, replaced_history } : { replaced_messages }
    recorder.record('context.summarized', { request_id, summary, ...replaced })
  }
}

/** What so many tokens cost to read; 0 where nobody knows. */
export function priceToRead(model: Model, input_tokens: number): number {
  return model.price?.({ ...NO_USAGE, input_tokens }) ?? 0
}

function usageOf(
  { usage, counted, cost_usd = null }: Extract<ModelAnswer, { ok: true }>,
  model: Model,
  parts: Part[],
  input_tokens: number,
): Pick<EventData<'model.responded'>, 'usage' | 'usage_source' | 'cost_usd'> {
  if (counted || usage.input_tokens + usage.output_tokens > 0) {
    return { usage, usage_source: 'provider', cost_usd: cost_usd ?? model.price?.(usage) ?? null }
  }
  const estimate = { ...usage, input_tokens, output_tokens: estimateMessage({ role: 'assistant', parts }) }
  return { usage: estimate, usage_source: 'estimate', cost_usd: model.price?.(estimate) ?? null }
}

async function generate(
  { place, recorder, signal, deadline }: Asking,
  request: ModelRequest,
  call: { request_id: string; purpose: Purpose; attempt: number },
): Promise<ModelAnswer> {
  // It may have been stopped while the intent was being written. Not every model looks at a signal that came before it.
  if (signal.aborted)
    return { ok: false, code: 'aborted', message: 'stopped before it was asked', retry_after_ms: null }
  const { clock, model, onDelta, model_timeout_ms } = place
  const { run_id, agent_id, attempt } = recorder.memory
  const shown = showWords(place.redactor, { agent_id, request_id: call.request_id }, onDelta)
  const aborter = new AbortController()
  const abort = () => aborter.abort()
  signal.addEventListener('abort', abort, { once: true })
  // What comes first ends it: the deadline is the signal's, and no second timer may be a little ahead of it.
  const timer = model_timeout_ms < deadline - clock.now() ? setTimeout(abort, model_timeout_ms) : undefined
  try {
    const asked = model
      .generate(request, {
        signal: aborter.signal,
        caller: { run_id, agent_id, ...call, agent_attempt: attempt.number },
        ...(onDelta && call.purpose !== 'summary' ? { onDelta: (delta) => shown.show(delta) } : {}),
      })
      .catch((error) => thrown(error, aborter.signal))
    const answer = await Promise.race([asked, deaf(aborter.signal)])
    shown.end()
    if (!answer.ok && answer.code === 'aborted' && !signal.aborted) {
      const message = `no complete answer within ${Math.round(model_timeout_ms / 1000)} s (model_timeout_ms)`
      return { ok: false, code: 'network', message, retry_after_ms: null }
    }
    return answer
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** How long a model has to answer that it was aborted. */
const ABORT_GRACE_MS = 1000

/** Somebody's own model may not listen to its signal; that must hold up neither a cancel nor a deadline. */
function deaf(signal: AbortSignal): Promise<ModelAnswer> {
  return new Promise((resolve) => {
    const message = 'the model did not stop when it was told to'
    const late = () => resolve({ ok: false, code: 'aborted', message, retry_after_ms: null })
    const wait = () => setTimeout(late, ABORT_GRACE_MS).unref()
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
}

/** Models do not throw, but somebody's own may: that ends its agent, and nobody else. */
function thrown(error: unknown, signal: AbortSignal): ModelAnswer {
  const message = error instanceof Error ? error.message : String(error)
  return { ok: false, code: signal.aborted ? 'aborted' : 'bad_request', message, retry_after_ms: null }
}

/** Gives each call an id of our own; the provider's is kept for the wire unless it has been used before. */
function numbered(parts: AnswerPart[], memory: AgentMemory, { history }: Material): Part[] {
  let number = memory.calls_made
  const used = new Set<string>()
  for (const message of [...history, ...memory.messages]) {
    if (message.role === 'tool') for (const result of message.results) used.add(result.wire_id)
  }
  return parts.map((part): Part => {
    if (part.type !== 'tool_call') return part
    const call_id = `c${++number}`
    const wire_id = part.wire_id === '' || used.has(part.wire_id) ? call_id : part.wire_id
    used.add(wire_id)
    const { type, tool, args, provider } = part
    const numbered: ToolCallPart = { type, call_id, wire_id, tool, args }
    return provider ? { ...numbered, provider } : numbered
  })
}

function withoutCalls(parts: AnswerPart[]): Part[] {
  return parts.filter((part): part is Exclude<AnswerPart, { type: 'tool_call' }> => part.type !== 'tool_call')
}
