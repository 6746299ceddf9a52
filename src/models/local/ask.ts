import { request } from 'node:http'

/** Far more than any list of models takes. */
const MAX_BYTES = 4 * 1024 * 1024

export type Reply =
  | { kind: 'json'; status: number; value: unknown }
  /** Somebody is there, who does not speak JSON or does not stop speaking. */
  | { kind: 'other' }
  /** Nobody there, or nobody who answers in time. */
  | { kind: 'silent' }

export type Ask = (path: string, body?: unknown) => Promise<Reply>

/**
 * Asks what listens at an address of this machine. Bounded in time and size, because it may be anything at all, and
 * redirects are not followed. Never rejects.
 */
export function askAt(origin: string, timeout_ms: number): Ask {
  return (path, body) =>
    new Promise((resolve) => {
      const sent = body === undefined ? null : JSON.stringify(body)
      const headers = {
        accept: 'application/json',
        connection: 'close',
        ...(sent === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
      }
      // An agent of its own would keep connections: these are asked once.
      const asking = request(`${origin}${path}`, { method: sent === null ? 'GET' : 'POST', headers, agent: false })
      const end = (reply: Reply) => {
        clearTimeout(timer)
        asking.destroy()
        resolve(reply)
      }
      const timer = setTimeout(end, timeout_ms, { kind: 'silent' })
      asking.on('error', () => end({ kind: 'silent' }))
      asking.once('response', (response) => {
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > MAX_BYTES) end({ kind: 'other' })
          else chunks.push(chunk)
        })
        response.on('error', () => end({ kind: 'other' }))
        response.once('end', () => end(read(response.statusCode ?? 0, Buffer.concat(chunks))))
      })
      asking.end(sent ?? undefined)
    })
}

function read(status: number, body: Buffer): Reply {
  try {
    return { kind: 'json', status, value: JSON.parse(body.toString('utf8')) }
  } catch {
    return { kind: 'other' }
  }
}
