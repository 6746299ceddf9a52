import { lookup } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Fault, Http, HttpFault, HttpRequest } from './host.js'
import { type AddressCheck, refuseNotPublic } from './http-address.js'
import { ACCEPTED_ENCODINGS, readBody } from './http-body.js'
import { isListed, isSamePlace, readTarget, type Target } from './http-url.js'
import { fault } from './paths.js'

export type HttpOptions = {
  /** Addresses of a name, best first. The system's resolver when absent. */
  resolve?: (name: string) => Promise<string[]>
  refuse?: AddressCheck
}

const MAX_REDIRECTS = 5
/** With further addresses to try, one that does not answer is given up after this. */
const CONNECT_MS = 5000
const MAX_HEADER_BYTES = 32 * 1024
const USER_AGENT = 'Mozilla/5.0 (compatible; Retinue)'

type Answer = Awaited<ReturnType<Http['fetch']>>
type Hop = { target: Target; method: string; body: string | undefined }

/**
 * HTTP on Node's own client. A name is resolved here and the connection made to the very address that was checked, so
 * a name that answers otherwise a moment later changes nothing. No connection is used twice, no cookie is kept, and
 * proxies named in the environment are not used: what they would connect to could not be checked.
 */
export function createHttp({ resolve = systemResolve, refuse = refuseNotPublic }: HttpOptions = {}): Http {
  return {
    async fetch(request) {
      const started = readTarget(request.url)
      if (!started.ok) return started
      const stop = new AbortController()
      let why: Fault<HttpFault> | null = null
      const end = (reason: Fault<HttpFault>) => {
        why ??= reason
        stop.abort()
      }
      const late = () => end(fault('timeout', `${started.target.host} did not answer within ${request.timeout_ms} ms`))
      const aborted = () => end(fault('aborted', 'the request was stopped'))
      const timer = setTimeout(late, request.timeout_ms)
      request.signal?.addEventListener('abort', aborted, { once: true })
      if (request.signal?.aborted) aborted()
      try {
        const answer = await follow(started.target, request, stop.signal)
        return why ?? answer
      } catch (error) {
        // A header that HTTP does not have, above all.
        return fault('network', `the request could not be made: ${(error as Error).message}`)
      } finally {
        clearTimeout(timer)
        request.signal?.removeEventListener('abort', aborted)
      }
    },
  }

  async function follow(first: Target, request: HttpRequest, signal: AbortSignal): Promise<Answer> {
    let hop: Hop = { target: first, method: request.method ?? 'GET', body: request.body }
    for (let redirects = 0; ; redirects++) {
      const answer = await ask(hop, request, signal)
      const next = answer.ok ? nextHop(hop, answer) : null
      if (!next) return answer
      if (redirects === MAX_REDIRECTS) {
        return fault('too_many_redirects', `${first.host} redirects more than ${MAX_REDIRECTS} times`)
      }
      hop = next
    }
  }

  async function ask(hop: Hop, request: HttpRequest, signal: AbortSignal): Promise<Answer> {
    const permitted = await addressesOf(hop.target, request, signal)
    if (!permitted.ok) return permitted
    let failure: Answer = fault('network', `${hop.target.host} could not be reached`)
    for (const [i, address] of permitted.addresses.entries()) {
      const connect_ms = i + 1 < permitted.addresses.length ? CONNECT_MS : null
      const tried = await attempt({ hop, request, address, connect_ms, signal })
      if (tried.connected || signal.aborted) return tried.answer
      failure = tried.answer
    }
    return failure
  }

  async function addressesOf(target: Target, request: HttpRequest, signal: AbortSignal): Promise<Addresses> {
    const { host } = target
    const found = isIP(host) ? [host] : await unlessAborted(resolve(host), signal)
    if (found === null || found.length === 0) return fault('network', `there is no address for the name ${host}`)
    if (isListed(target, request.allow_private ?? [])) return { ok: true, addresses: found }
    const reasons = await Promise.all(found.map(refuse))
    const addresses = found.filter((_, i) => reasons[i] === null)
    if (addresses.length > 0) return { ok: true, addresses }
    const what = isIP(host) ? host : `the address of ${host}`
    return fault('forbidden_address', `${what} ${reasons[0]}: only addresses of the public internet are fetched`)
  }
}

type Addresses = { ok: true; addresses: string[] } | Fault<HttpFault>

/** Where a redirect leads, if it is to be followed. One to another place is the caller's to decide about. */
function nextHop(hop: Hop, answer: Extract<Answer, { ok: true }>): Hop | null {
  const { location } = answer.headers
  if (![301, 302, 303, 307, 308].includes(answer.status) || location === undefined) return null
  const next = readTarget(location, hop.target.url.href)
  if (!next.ok || !isSamePlace(hop.target, next.target)) return null
  const again = answer.status === 307 || answer.status === 308
  return again ? { ...hop, target: next.target } : { target: next.target, method: 'GET', body: undefined }
}

type Attempt = {
  hop: Hop
  request: HttpRequest
  address: string
  /** How long a connection may take to come about; null: as long as there is time. */
  connect_ms: number | null
  signal: AbortSignal
}

/** One exchange over one connection to one address. `connected` false: another address may do better. */
function attempt(exchange: Attempt): Promise<{ connected: boolean; answer: Answer }> {
  const { hop, request, connect_ms, signal } = exchange
  const { url, host } = hop.target
  return new Promise((resolve) => {
    const sent = open(exchange)
    let connected = false
    let answered = false
    let timer: NodeJS.Timeout | undefined
    const settle = (answer: Answer) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      resolve({ connected, answer })
    }
    const stop = () => sent.destroy()
    sent.on('error', (error) => settle(explain(error, host)))
    sent.once('close', () => {
      if (!answered) settle(fault('network', `${host} closed the connection without an answer`))
    })
    sent.once('socket', (socket) =>
      socket.once('connect', () => {
        connected = true
        clearTimeout(timer)
      }),
    )
    sent.once('response', async (message) => {
      answered = true
      const content = await readBody(message, request.max_bytes)
      sent.destroy()
      const status = message.statusCode ?? 0
      settle(content.ok ? { ...content, url: url.href, status, headers: headersOf(message) } : content)
    })
    if (connect_ms !== null) timer = setTimeout(stop, connect_ms)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    sent.end(hop.body)
  })
}

function open({ hop, request, address }: Attempt): ClientRequest {
  const { url, host, port, secure } = hop.target
  const send = secure ? httpsRequest : httpRequest
  return send({
    host: address,
    port,
    method: hop.method,
    path: `${url.pathname}${url.search}`,
    headers: {
      'user-agent': USER_AGENT,
      'accept-encoding': ACCEPTED_ENCODINGS,
      ...request.headers,
      host: url.host,
      ...(hop.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(hop.body)) }),
    },
    // The certificate is that of the name, whatever the address.
    ...(secure && !isIP(host) ? { servername: host } : {}),
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
}

function headersOf(message: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
}

async function systemResolve(name: string): Promise<string[]> {
  try {
    const found = await lookup(name, { all: true })
    // Where IPv6 leads nowhere, as in many a container, its addresses would cost time first.
    return found.sort((a, b) => a.family - b.family).map(({ address }) => address)
  } catch {
    return []
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve) => {
    const stop = () => resolve(null)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const done = (value: T | null) => {
      signal.removeEventListener('abort', stop)
      resolve(value)
    }
    work.then(done, () => done(null))
  })
}

function explain(error: NodeJS.ErrnoException, host: string): Fault<HttpFault> {
  const code = error.code ?? ''
  if (code === 'HPE_HEADER_OVERFLOW') return fault('too_large', `the headers of ${host} are too large`)
  if (code.startsWith('HPE_')) return fault('network', `${host} does not speak HTTP here`)
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)
  if (certificate) return fault('network', `the certificate of ${host} is not accepted (${code})`)
  if (code === 'ECONNREFUSED') return fault('network', `${host} refuses connections there`)
  return fault('network', `${host} could not be reached${code === '' ? '' : ` (${code})`}`)
}
