import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

const CONNECT_TIMEOUT_MS = 30_000

/**
 * What providers need of `fetch`, on Node's own HTTP client. A call over it costs about a third less, and it has no
 * limit on how long a model may think before it answers, where the platform's `fetch` gives up after five minutes.
 * Redirects are not followed: keys do not go where nobody sent them.
 */
export function createTransport(): typeof globalThis.fetch {
  const http = new HttpAgent({ keepAlive: true })
  const https = new HttpsAgent({ keepAlive: true })

  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { signal, body, method = 'GET' } = init
      if (signal?.aborted) return reject(signal.reason)
      if (typeof body !== 'string' || typeof input !== 'string') return reject(new TypeError('only text can be sent'))
      const secure = input.startsWith('https:')
      const headers = {
        ...(init.headers as Record<string, string>),
        'content-length': String(Buffer.byteLength(body)),
        'accept-encoding': 'identity',
      }
      const request = secure
        ? httpsRequest(input, { method, headers, agent: https })
        : httpRequest(input, { method, headers, agent: http })

      const stop = () => request.destroy(signal?.reason)
      signal?.addEventListener('abort', stop, { once: true })
      request.once('close', () => signal?.removeEventListener('abort', stop))
      request.on('error', reject)
      request.once('socket', (socket) => {
        if (!socket.connecting) return
        const late = () => request.destroy(timeoutError())
        const timer = setTimeout(late, CONNECT_TIMEOUT_MS)
        request.once('close', () => clearTimeout(timer))
        socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(timer))
      })
      request.once('response', (message) => {
        const answer = (body: ReadableStream<Uint8Array> | Buffer) => {
          try {
            resolve(toResponse(message, body))
          } catch (error) {
            // A status or header that HTTP does not have.
            request.destroy()
            reject(error)
          }
        }
        if (message.headers['content-type']?.includes('event-stream')) answer(toStream(message))
        else {
          const whole = (body: Buffer) =>
            message.statusCode === 200 ? resolve(wholeResponse(message, body)) : answer(body)
          collect(message).then(whole, (error) => answer(broken(error)))
        }
      })
      request.end(body)
    })
}

function toResponse(message: IncomingMessage, body: ReadableStream<Uint8Array> | Buffer): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers)) if (value) headers.set(name, String(value))
  const status = message.statusCode ?? 0
  const empty = status === 204 || status === 304
  return new Response(empty ? null : body, { status, headers })
}

/**
 * What providers use of a response whose body is all there: for the most common answer of all, the platform's own
 * `Response`, with its streams, would cost a tenth of the whole call.
 */
function wholeResponse(message: IncomingMessage, body: Buffer): Response {
  let unread: Buffer | null = body
  const read = async () => {
    const value = unread
    unread = null
    return value ? { done: false, value } : { done: true, value: undefined }
  }
  const reader = { read, releaseLock: () => {}, cancel: async () => {} }
  const response = {
    ok: true,
    status: 200,
    statusText: message.statusMessage ?? '',
    headers: new Map(Object.entries(message.headers).map(([name, value]) => [name, String(value)])),
    body: { getReader: () => reader, cancel: async () => {} },
    text: async () => body.toString('utf8'),
    json: async () => JSON.parse(body.toString('utf8')),
  }
  return response as unknown as Response
}

function collect(message: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    message.on('error', reject)
  })
}

/** A body that cannot be read to its end. */
function broken(error: unknown): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.error(error) })
}

function toStream(message: IncomingMessage): ReadableStream<Uint8Array> {
  let open = true
  return new ReadableStream({
    start(controller) {
      message.on('data', (chunk: Buffer) => {
        if (!open) return
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) message.pause()
      })
      message.once('end', () => {
        if (open) controller.close()
        open = false
      })
      message.on('error', (error) => {
        if (open) controller.error(error)
        open = false
      })
    },
    pull() {
      message.resume()
    },
    cancel() {
      open = false
      message.destroy()
    },
  })
}

function timeoutError(): Error {
  return Object.assign(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`), { code: 'ETIMEDOUT' })
}
