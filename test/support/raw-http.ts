import { type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

export type Asked = {
  method?: string
  /** Sent as it is, however it is written. */
  path: string
  headers?: Record<string, string | string[] | undefined>
  /** Several parts are sent in chunks, without a word about how long they are together. */
  body?: string | Buffer | Buffer[]
  /** The address it comes from: see `stranger`. */
  from?: string | undefined
}

let strangers = 1

/**
 * Another address of this machine each time, where it has more than one: how often somebody may ask is counted for each
 * address, and a test that tries a thousand things is not to be stopped by that.
 */
export function stranger(): string | undefined {
  if (process.platform !== 'linux') return undefined
  strangers += 1
  return `127.0.${Math.floor(strangers / 250)}.${1 + (strangers % 250)}`
}

export type Reply = { status: number; headers: IncomingHttpHeaders; body: string }

/** A request with exactly these headers and this path, as no browser would send it. A header of undefined is left out. */
export function ask(address: string, { method = 'GET', path, headers = {}, body, from }: Asked): Promise<Reply> {
  const { hostname, port, host } = new URL(address)
  const sent = Object.entries({ host, ...headers }).filter(([, value]) => value !== undefined)
  if (typeof body === 'string' || Buffer.isBuffer(body)) sent.push(['content-length', String(Buffer.byteLength(body))])
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        ...{ hostname, port, path, method, setHost: false, agent: false, headers: Object.fromEntries(sent) },
        ...(from === undefined ? {} : { localAddress: from }),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        const done = () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          })
        response.on('end', done)
        response.on('error', done)
        // A stream does not end by itself, and that it began is all there is to know.
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          response.destroy()
          done()
        }
      },
    )
    asked.on('error', reject)
    if (Array.isArray(body)) for (const part of body) asked.write(part)
    else if (body !== undefined) asked.write(body)
    asked.end()
  })
}

/** Bytes as they are, and all that comes back until the server ends the connection or is silent for a while. */
export function speak(address: string, bytes: string, silence_ms = 300): Promise<string> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    let heard = ''
    const done = () => {
      socket.destroy()
      resolve(heard)
    }
    socket.setTimeout(silence_ms, done)
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1')
    })
    socket.on('close', done)
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? done() : reject(error)))
  })
}
