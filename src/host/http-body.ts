import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { Fault, HttpFault } from './host.js'
import { fault } from './paths.js'

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br'

export type Body = { ok: true; body: Uint8Array; truncated: boolean } | Fault<HttpFault>

/** Unpacks as it comes and stops at max_bytes of unpacked content, so that a small answer cannot fill the memory. */
export async function readBody(message: IncomingMessage, max_bytes: number): Promise<Body> {
  const encodings = String(message.headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  const [encoding, ...others] = encodings
  if (others.length > 0) return unknownEncoding(encodings.join(', '))
  try {
    if (encoding === undefined) return await collect(message, max_bytes)
    const unpack = await unpacker(encoding, message)
    if (unpack === undefined) return unknownEncoding(encoding)
    // An empty body, which some servers mark as packed all the same.
    if (unpack === null) return { ok: true, body: new Uint8Array(), truncated: false }
    message.once('error', (error) => unpack.destroy(error))
    return await collect(message.pipe(unpack), max_bytes)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    const why = /^(Z_|ERR_|BROTLI)/.test(code) ? 'it is packed wrongly' : 'the connection was lost'
    return fault('network', `the answer could not be read to its end: ${why}`)
  }
}

async function unpacker(encoding: string, message: IncomingMessage): Promise<Transform | null | undefined> {
  const make = UNPACKERS[encoding]
  if (make === undefined) return undefined
  const first = await firstByte(message)
  return first === null ? null : make(first)
}

const UNPACKERS: Record<string, (first: number) => Transform> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // Half of the world sends it with the header that the standard asks for, the other half without.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
}

async function firstByte(message: IncomingMessage): Promise<number | null> {
  let chunk = message.read() as Buffer | null
  if (chunk === null && !message.readableEnded) {
    await once(message, 'readable')
    chunk = message.read() as Buffer | null
  }
  if (chunk === null) return null
  message.unshift(chunk)
  return chunk[0] ?? null
}

async function collect(stream: Readable, max_bytes: number): Promise<Body> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const room = max_bytes - bytes
    chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    bytes += chunk.length
    // Leaving the loop destroys the stream.
    if (bytes > max_bytes) return { ok: true, body: Buffer.concat(chunks), truncated: true }
  }
  return { ok: true, body: Buffer.concat(chunks), truncated: false }
}

function unknownEncoding(name: string): Fault<HttpFault> {
  return fault('network', `the answer is packed as ${name.slice(0, 100)}, which is not understood`)
}
