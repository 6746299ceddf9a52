import type {
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider'
import type { FinishReason, ModelRequest, Part, Usage } from '../domain/index.js'
import { endedWithError, type FaultSubject, nothingSaid } from './faults.js'
import type { AnswerPart, ModelAnswer } from './model.js'

/** What a provider gave, whole or put together from a stream. */
export type RawAnswer = {
  parts: AnswerPart[]
  finish: LanguageModelV3FinishReason
  usage: LanguageModelV3Usage
  model: string
}

export function toAnswer(raw: RawAnswer, request: ModelRequest, about: FaultSubject): ModelAnswer {
  if (raw.finish.unified === 'error') return endedWithError(raw.finish.raw, about)
  const kept = request.tool_choice === 'none' ? raw.parts.filter((part) => part.type !== 'tool_call') : raw.parts
  const parts = kept.filter((part) => part.type !== 'text' || part.text !== '')
  if (!parts.some((part) => part.type !== 'reasoning' && !isBlank(part))) {
    return nothingSaid(raw.finish, kept.length < raw.parts.length, about)
  }
  tellApart(parts)
  return {
    ok: true,
    model: raw.model,
    parts,
    finish_reason: toFinishReason(raw.finish, parts),
    usage: toUsage(raw.usage),
  }
}

/** Null for what Retinue has no use for: sources, files, and calls that the provider made itself. */
export function toPart(content: LanguageModelV3Content): AnswerPart | null {
  switch (content.type) {
    case 'text':
    case 'reasoning':
      return { type: content.type, text: content.text, ...keep(content.providerMetadata) }
    case 'tool-call': {
      if (content.providerExecuted) return null
      // Some servers leave the text out for a call without arguments, and some give an object instead.
      const given: unknown = content.input
      const args = typeof given === 'string' ? given : JSON.stringify(given ?? {})
      return {
        type: 'tool_call',
        wire_id: content.toolCallId,
        tool: content.toolName,
        args: args.trim() === '' ? '{}' : args,
        ...keep(content.providerMetadata),
      }
    }
    default:
      return null
  }
}

/** Provider metadata as plain JSON: it goes through the log, which knows no undefined. */
export function keep(metadata: SharedV3ProviderMetadata | undefined): Pick<Part, 'provider'> {
  if (metadata === undefined) return {}
  const plain: NonNullable<Part['provider']> = {}
  for (const [provider, values] of Object.entries(metadata)) {
    if (Object.keys(values).length > 0) plain[provider] = JSON.parse(JSON.stringify(values))
  }
  return Object.keys(plain).length > 0 ? { provider: plain } : {}
}

function isBlank(part: AnswerPart): boolean {
  return part.type === 'text' && part.text.trim() === ''
}

/** Some servers give all calls of an answer the same id, or none. Results could not be told apart. */
function tellApart(parts: AnswerPart[]): void {
  const seen = new Set<string>()
  for (const part of parts) {
    if (part.type !== 'tool_call') continue
    if (part.wire_id === '' || seen.has(part.wire_id)) part.wire_id = `${part.wire_id || 'call'}_${seen.size}`
    seen.add(part.wire_id)
  }
}

function toFinishReason(finish: LanguageModelV3FinishReason, parts: readonly AnswerPart[]): FinishReason {
  const calls = parts.some((part) => part.type === 'tool_call')
  switch (finish.unified) {
    case 'length':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    case 'tool-calls':
    case 'stop':
      // Servers disagree on whether calls make it `stop`, and calls may have been dropped here.
      return calls ? 'tool_calls' : 'stop'
    default:
      return calls ? 'tool_calls' : 'other'
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage {
  return {
    input_tokens: count(inputTokens.total),
    output_tokens: count(outputTokens.total),
    cached_tokens: count(inputTokens.cacheRead),
    cache_write_tokens: count(inputTokens.cacheWrite),
    reasoning_tokens: count(outputTokens.reasoning),
  }
}

function count(value: number | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.round(value) : 0
}
