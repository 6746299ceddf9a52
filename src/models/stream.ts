import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider'
import { keep, type RawAnswer, toPart } from './answer.js'
import type { AnswerPart, GenerateOptions } from './model.js'

export type StreamEnd =
  | { ok: true; answer: RawAnswer }
  /** The provider said what went wrong. */
  | { ok: false; error: unknown }
  /** It just ended: what came so far is not an answer. */
  | { ok: false; error: null }

type Block = { type: 'text' | 'reasoning'; text: string; metadata: SharedV3ProviderMetadata | undefined }

/**
 * Puts the parts of a stream together. Only the provider's own end mark makes an answer of them. `onSign` is called
 * for every sign of life, `onEnd` at the end mark, after which the connection only has to be read empty.
 */
export async function readStream(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  options: {
    model: string
    usage_last: boolean
    onDelta: NonNullable<GenerateOptions['onDelta']>
    /** Called once. */
    onBegin: () => void
    onSign: () => void
    onEnd: () => void
  },
): Promise<StreamEnd> {
  const entries: (Block | AnswerPart)[] = []
  const open = new Map<string, Block>()
  let end: { finish: LanguageModelV3FinishReason; usage: LanguageModelV3Usage } | null = null
  let model = options.model
  let begun = false

  function begin(): void {
    if (!begun) options.onBegin()
    begun = true
  }

  function take(part: LanguageModelV3StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const block: Block = { type: kindOf(part.type), text: '', metadata: part.providerMetadata }
        entries.push(block)
        open.set(`${block.type} ${part.id}`, block)
        return
      }
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end': {
        const type = kindOf(part.type)
        const block = open.get(`${type} ${part.id}`)
        if (!block) return
        block.metadata = merge(block.metadata, part.providerMetadata)
        if (!('delta' in part) || part.delta === '') return
        block.text += part.delta
        begin()
        options.onDelta({ type, text: part.delta })
        return
      }
      case 'tool-input-start':
      case 'tool-input-delta':
        begin()
        return
      case 'tool-call': {
        begin()
        const call = toPart(part)
        if (call) entries.push(call)
        return
      }
      case 'response-metadata':
        model = part.modelId ?? model
        return
      case 'raw':
        model = modelVersion(part.rawValue) ?? model
        return
      case 'finish':
        if (!isEndMark(part.finishReason)) return
        if (options.usage_last && part.usage.inputTokens.total === undefined) return
        end = { finish: part.finishReason, usage: part.usage }
        options.onEnd()
        return
    }
  }

  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!end) options.onSign()
      if (value.type === 'error' && !end) return { ok: false, error: value.error ?? 'unknown error' }
      take(value)
    }
  } catch (error) {
    if (!end) return { ok: false, error }
  } finally {
    reader.cancel().catch(() => {})
  }
  if (!end) return { ok: false, error: null }
  const { finish, usage } = end
  return { ok: true, answer: { parts: entries.map(toAnswerPart), finish, usage, model } }
}

/**
 * The SDK closes a stream that was cut as if all had been said, with reason `other` that no provider gave. (Anthropic's
 * sends no `finish` at all then, and the one for compatible servers an error.)
 */
function isEndMark(finish: LanguageModelV3FinishReason): boolean {
  return finish.unified !== 'other' || finish.raw !== undefined
}

function toAnswerPart(entry: Block | AnswerPart): AnswerPart {
  return 'metadata' in entry ? { type: entry.type, text: entry.text, ...keep(entry.metadata) } : entry
}

function kindOf(type: `${'text' | 'reasoning'}-${string}`): 'text' | 'reasoning' {
  return type.startsWith('text') ? 'text' : 'reasoning'
}

/** Signatures come with the last delta or the end, ids with the start: both are wanted. */
function merge(
  old: SharedV3ProviderMetadata | undefined,
  added: SharedV3ProviderMetadata | undefined,
): SharedV3ProviderMetadata | undefined {
  if (!old || !added) return added ?? old
  const merged = { ...old }
  for (const [provider, values] of Object.entries(added)) merged[provider] = { ...merged[provider], ...values }
  return merged
}

/** Google's name for the model that answered, which the SDK does not pass on. */
export function modelVersion(raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null || !('modelVersion' in raw)) return undefined
  return typeof raw.modelVersion === 'string' ? raw.modelVersion : undefined
}
