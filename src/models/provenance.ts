import type { Message, ModelRequest, Part } from '../domain/index.js'
import type { Endpoint } from './endpoints.js'
import type { AnswerPart } from './model.js'

/**
 * Signatures, sealed reasoning and item ids mean something only to the service that made them, and others refuse them.
 * Parts carry them under the name of their provider; the SDK knows only the kind of provider, which several may share.
 */

/** The parts of an answer, with what is opaque in them under the name of the provider that gave them. */
export function stamp(parts: readonly AnswerPart[], provider: string): AnswerPart[] {
  return parts.map((part) => {
    // Some give reasoning without anything to know it by. Its maker has to be known all the same.
    if (part.provider === undefined && part.type !== 'reasoning') return part
    return { ...part, provider: { [provider]: Object.assign({}, ...Object.values(part.provider ?? {})) } }
  })
}

export type Reader = {
  /** Our name for the provider that gets the request. */
  provider: string
  /** What the SDK's package for it calls its options. */
  options_key: string
  /** Ids of calls that it takes. Others are replaced by our own. */
  ids: RegExp | null
}

/** How a kind of provider reads. The compatible ones look for signatures, which only Gemini has, in Google's place. */
export function readerOf(kind: Endpoint['kind'], provider: string): Reader {
  switch (kind) {
    case 'openai-responses':
      return { provider, options_key: 'openai', ids: /^.{1,64}$/ }
    case 'openai-chat':
      return { provider, options_key: 'openai', ids: /^.{1,40}$/ }
    case 'anthropic':
      return { provider, options_key: 'anthropic', ids: /^[a-zA-Z0-9_-]{1,64}$/ }
    case 'google':
    case 'openai-compatible':
      return { provider, options_key: 'google', ids: null }
  }
}

/** Makes requests fit for one provider. A message is looked at once, for as long as it lives. */
export function createReader(reader: Reader): (request: ModelRequest) => ModelRequest {
  const known = new WeakMap<Message, Message>()
  const read = (message: Message): Message => {
    const before = known.get(message)
    if (before) return before
    const fit = fitted(message, reader)
    known.set(message, fit)
    return fit
  }
  return (request) => ({ ...request, messages: request.messages.map(read) })
}

function fitted(message: Message, reader: Reader): Message {
  const idOf = ({ wire_id, call_id }: { wire_id: string; call_id: string }) =>
    reader.ids === null || reader.ids.test(wire_id) ? wire_id : call_id
  switch (message.role) {
    case 'user':
      return message
    case 'tool':
      if (message.results.every((result) => idOf(result) === result.wire_id)) return message
      return { role: 'tool', results: message.results.map((result) => ({ ...result, wire_id: idOf(result) })) }
    case 'assistant': {
      const parts = message.parts.flatMap((part) => {
        const own = part.provider?.[reader.provider]
        if (part.type === 'reasoning' && own === undefined) return []
        return [
          part.type === 'tool_call' ? { ...strip(part, own, reader), wire_id: idOf(part) } : strip(part, own, reader),
        ]
      })
      return { role: 'assistant', parts }
    }
  }
}

function strip<P extends Part>(part: P, own: NonNullable<Part['provider']>[string] | undefined, reader: Reader): P {
  const { provider: _, ...rest } = part
  const kept = own && Object.keys(own).length > 0 ? { provider: { [reader.options_key]: own } } : {}
  return { ...rest, ...kept } as P
}
