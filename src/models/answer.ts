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

/**
 * One meaning for all providers: input with what was read from and written to a cache, output with the reasoning. The
 * SDK's packages see to that for OpenAI, Anthropic and Google; compatible servers differ in ways that it does not know.
 */
function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV3Usage): Usage {
  const input_tokens = count(inputTokens.total)
  const output_tokens = count(outputTokens.total)
  const reasoning_tokens = count(outputTokens.reasoning)
  const details = raw?.prompt_tokens_details
  const written = typeof details === 'object' && details !== null && 'cache_write_tokens' in details ? details : null
  // xAI counts reasoning beside the output. Its total tells.
  const beside = raw?.total_tokens === input_tokens + output_tokens + reasoning_tokens
  return {
    input_tokens,
    output_tokens: output_tokens + (beside ? reasoning_tokens : 0),
    // DeepSeek's own name for it, which not all who serve its models translate.
    cached_tokens: count(inputTokens.cacheRead) || count(raw?.prompt_cache_hit_tokens),
    // OpenRouter passes on what Anthropic wrote.
    cache_write_tokens: count(inputTokens.cacheWrite) || count(written?.cache_write_tokens),
    reasoning_tokens,
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.round(value) : 0
}
