import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { ModelRequest, Usage } from '../domain/index.js'
import { toAnswer, toPart } from './answer.js'
import { aborted, cutShort, type FaultSubject, stalled, toFault } from './faults.js'
import {
  type AnswerPart,
  DEFAULT_IDLE_TIMEOUT_MS,
  type GenerateOptions,
  type Model,
  type ModelAnswer,
} from './model.js'
import type { Price } from './prices/pricing.js'
import { createCallBuilder, type Wire } from './prompt.js'
import { createReader, type Reader, stamp } from './provenance.js'
import { endedEarly } from './sdk-error.js'
import { modelVersion, readStream } from './stream.js'

/** How long a connection may stay open after the end mark before it is given up instead of kept for the next call. */
const DRAIN_MS = 1000

export type SdkModelOptions = {
  /** `provider/model`. */
  name: string
  model: LanguageModelV3
  window: number | null
  wire?: Wire
  /** What it can make of the parts of a conversation. Without it they go out as they are. */
  reader?: Reader
  /** Looked up when it is first wanted. */
  price?: () => Price | null
  now?: () => number
  /** How long a stream may be silent. */
  idle_timeout_ms?: number
  /** For messages: where requests go, which variable holds the key, and what must never be shown. */
  host?: string | null
  key_env?: string | null
  secrets?: readonly string[]
}

/** A model of the AI SDK as a model of Retinue. Makes each request once: whoever calls decides on retries. */
export function createSdkModel(options: SdkModelOptions): Model {
  const { name, model, window } = options
  const idle_timeout_ms = options.idle_timeout_ms ?? DEFAULT_IDLE_TIMEOUT_MS
  const build = createCallBuilder(options.wire ?? {})
  const { reader, now = Date.now } = options
  const adapt = reader ? createReader(reader) : (request: ModelRequest) => request
  const about: FaultSubject = {
    name,
    host: options.host ?? null,
    key_env: options.key_env ?? null,
    secrets: options.secrets ?? [],
  }

  async function whole(call: LanguageModelV3CallOptions, request: ModelRequest): Promise<ModelAnswer> {
    const result = await model.doGenerate(call)
    const parts: AnswerPart[] = []
    for (const content of result.content) {
      const part = toPart(content)
      if (part) parts.push(part)
    }
    const answered = result.response?.modelId ?? modelVersion(result.response?.body) ?? model.modelId
    return toAnswer({ parts, finish: result.finishReason, usage: result.usage, model: answered }, request, about)
  }

  async function streamed(
    call: LanguageModelV3CallOptions,
    request: ModelRequest,
    { onDelta, onBegin }: Required<Pick<GenerateOptions, 'onDelta' | 'onBegin'>>,
    controller: AbortController,
  ): Promise<ModelAnswer> {
    let timed_out = false
    const onIdle = () => {
      timed_out = true
      controller.abort()
    }
    let timer = setTimeout(onIdle, idle_timeout_ms)
    try {
      // Raw chunks are asked for because pings, which the SDK drops, are signs of life too.
      const { stream, response } = await model.doStream({ ...call, includeRawChunks: true })
      const end = await readStream(stream, {
        model: model.modelId,
        usage_last: options.wire?.usage_last ?? false,
        onDelta,
        onBegin,
        onSign: () => timer.refresh(),
        onEnd: () => {
          clearTimeout(timer)
          timer = setTimeout(onIdle, DRAIN_MS)
        },
      })
      if (end.ok) return toAnswer(end.answer, request, about)
      controller.abort()
      if (timed_out) return stalled(idle_timeout_ms, about)
      const cut = end.error === null || endedEarly(end.error)
      return cut ? cutShort(response?.headers?.['content-type'], about) : toFault(end.error, about)
    } catch (error) {
      if (timed_out) return stalled(idle_timeout_ms, about)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** What the provider did not count, nobody can price. */
  function costOf(usage: Usage, at: number): number | null {
    const counted = usage.input_tokens + usage.output_tokens > 0
    return counted ? (options.price?.()?.(usage, at) ?? null) : null
  }

  return {
    name,
    window,
    get price() {
      const price = options.price?.()
      return price ? (usage: Usage) => price(usage, now()) : undefined
    },
    async generate(request, { signal, caller, onDelta, onBegin = () => {} }) {
      if (signal.aborted) return aborted(about)
      // A controller per call, so that nothing of the call stays behind on a signal that lives as long as the run.
      const controller = new AbortController()
      const onAbort = () => controller.abort()
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        const started = now()
        const call = build(adapt(request), caller)
        call.abortSignal = controller.signal
        const answer = onDelta
          ? await streamed(call, request, { onDelta, onBegin }, controller)
          : await whole(call, request)
        if (!answer.ok) return signal.aborted ? aborted(about) : answer
        const parts = reader ? stamp(answer.parts, reader.provider) : answer.parts
        return { ...answer, parts, cost_usd: costOf(answer.usage, started) }
      } catch (error) {
        return signal.aborted ? aborted(about) : toFault(error, about)
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}
