import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { size } from '../text.js'
import { createStringCutter } from './cut-strings.js'
import type { MessageBounds } from './messages.js'
import type { NamedTransport } from './stdio.js'

/** What the library's own error codes are not used for: the answer to a request will not come any more. */
export const STREAM_ENDED = -32_099

/**
 * The library's transport for streamable HTTP, with bounds on what it reads, and with an answer to requests whose
 * stream ended without one, which would otherwise wait for their timeout.
 */
export function openHttp(
  Transport: typeof StreamableHTTPClientTransport,
  target: { url: URL; headers: Record<string, string> },
  bounds: MessageBounds,
): NamedTransport {
  let failure: string | null = null
  const inner = new Transport(target.url, {
    requestInit: { headers: target.headers },
    fetch: async (url, init) => {
      try {
        return bounded(await fetch(url, init), bounds)
      } catch (error) {
        failure = causeOf(error)
        throw error
      }
    },
    reconnectionOptions: {
      initialReconnectionDelay: 200,
      maxReconnectionDelay: 2000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  })
  const send = inner.send.bind(inner)
  inner.send = async (message, options) => {
    const { id } = message as { id?: string | number }
    const isRequest = 'method' in message && id !== undefined
    const onRequestStreamEnd = () => {
      const error = { code: STREAM_ENDED, message: 'the connection ended before the answer' }
      if (isRequest) inner.onmessage?.({ jsonrpc: '2.0', id, error } as JSONRPCMessage)
    }
    return send(message, { onRequestStreamEnd, ...options })
  }
  return Object.assign(inner, { ending: () => (failure === null ? 'it does not answer' : `${failure}`) })
}

/** A body in which no event and no document is larger than the bounds say. */
function bounded(response: Response, bounds: MessageBounds): Response {
  if (!response.body) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
  const cut = createStringCutter(bounds.max_string_bytes)
  let bytes = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      // In a stream every event is on lines of its own, and an empty line ends it.
      const border = isStream ? Math.max(lastIndexOf(chunk, '\n\n'), lastIndexOf(chunk, '\r\n\r\n')) : -1
      if (border >= 0) bytes = chunk.length - border
      if (bytes > bounds.max_message_bytes) {
        controller.error(new Error(`a message was larger than ${size(bounds.max_message_bytes)}`))
        return
      }
      for (const part of cut(chunk)) controller.enqueue(part)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers })
}

function lastIndexOf(chunk: Uint8Array, text: string): number {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).lastIndexOf(text)
}

function causeOf(error: unknown): string {
  const { message, cause } = error as Error
  const inner = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : null
  return `it cannot be reached: ${inner ? `${message} (${inner})` : message}`
}
