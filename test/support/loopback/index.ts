import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from './anthropic.js'
import { chat } from './chat.js'
import { sendFault } from './faults.js'
import { google } from './google.js'
import type { Protocol } from './protocol.js'
import { responses } from './responses.js'
import { type LoopbackStep, toAnswer } from './steps.js'

export type { LoopbackFault, LoopbackStep } from './steps.js'

const PROTOCOLS = { chat, responses, anthropic, google }
export type ProtocolName = keyof typeof PROTOCOLS

type LoopbackRequest = {
  path: string
  headers: IncomingHttpHeaders
  /** Parsed when read. */
  readonly body: Record<string, unknown>
  /** How many answers the conversation already had. */
  turn: number
  stream: boolean
  /** The client went away before the answer was complete. */
  aborted: boolean
}

export type Asked = Pick<LoopbackRequest, 'path' | 'headers' | 'body' | 'turn' | 'stream'>

export type LoopbackOptions = {
  protocol: ProtocolName
  /**
   * The answers, by how many the conversation in the request already has, so that any number of agents can share
   * them; with `order: 'sequential'`, as they come. A function is asked each time.
   */
  steps: readonly LoopbackStep[] | ((asked: Asked) => LoopbackStep)
  order?: 'by_turn' | 'sequential'
  /** False for benchmarks: nothing is kept. */
  record?: boolean
}

export type Loopback = {
  /** Base URL, with the version, as the SDK takes it. */
  url: string
  port: number
  requests: LoopbackRequest[]
  close(): Promise<void>
}

/** A real HTTP server on 127.0.0.1 that speaks a provider's protocol and says what it was told to. */
export async function startLoopback(options: LoopbackOptions): Promise<Loopback> {
  const { steps, order = 'by_turn', record = true } = options
  const protocol: Protocol = PROTOCOLS[options.protocol]
  const requests: LoopbackRequest[] = []
  const rendered = new WeakMap<LoopbackStep, Map<string, Buffer>>()
  const faults = new WeakMap<LoopbackStep, number>()
  let served = 0

  function render(step: LoopbackStep, turn: number, stream: boolean): Buffer {
    const known = rendered.get(step) ?? new Map<string, Buffer>()
    rendered.set(step, known)
    const key = `${turn} ${stream}`
    const bytes = known.get(key) ?? renderAnswer(options.protocol, step, turn, stream)
    known.set(key, bytes)
    return bytes
  }

  function answer(req: IncomingMessage, res: ServerResponse, bytes: Buffer): void {
    const path = req.url ?? ''
    if (!protocol.accepts(path.split('?')[0] as string)) {
      plain(res, 404, `loopback: no ${path} here`)
      return
    }
    const stream = protocol.isStream(path, bytes)
    const turn = order === 'sequential' ? served : protocol.turns(bytes)
    served += 1
    const request: LoopbackRequest = {
      path,
      headers: req.headers,
      get body() {
        return JSON.parse(bytes.toString()) as Record<string, unknown>
      },
      turn,
      stream,
      aborted: false,
    }
    if (record) requests.push(request)
    res.on('close', () => {
      request.aborted = !res.writableFinished
    })
    const step = typeof steps === 'function' ? steps(request) : steps[turn]
    if (!step) {
      plain(res, 400, `loopback: no step ${turn}`)
      return
    }
    const send = () => {
      const given = faults.get(step) ?? 0
      if (step.fault && given < (step.fault.times ?? Number.POSITIVE_INFINITY)) {
        faults.set(step, given + 1)
        return sendFault(res, step.fault, protocol, stream, () => render(step, turn, stream))
      }
      sendBody(res, stream, render(step, turn, stream), step.piece_bytes)
    }
    if (step.delay_ms) setTimeout(send, step.delay_ms)
    else send()
  }

  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => answer(req, res, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
  })
  // Longer than any test, so that no client finds its connection closed under it.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${protocol.base}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The bytes of an answer, and with `borders` where its events end. */
export function renderAnswer(protocol: ProtocolName, step: LoopbackStep, turn: number, stream: boolean): Buffer {
  const answer = toAnswer(step, turn)
  const { whole, events } = PROTOCOLS[protocol]
  return Buffer.from(stream ? events(answer).join('') : JSON.stringify(whole(answer)))
}

export function eventBorders(protocol: ProtocolName, step: LoopbackStep, turn: number): number[] {
  let at = 0
  return PROTOCOLS[protocol].events(toAnswer(step, turn)).map((event) => {
    at += Buffer.byteLength(event)
    return at
  })
}

function sendBody(res: ServerResponse, stream: boolean, bytes: Buffer, piece_bytes: number | undefined): void {
  const type = stream ? 'text/event-stream' : 'application/json'
  if (!piece_bytes) {
    res.writeHead(200, { 'content-type': type, 'content-length': bytes.length })
    res.end(bytes)
    return
  }
  res.writeHead(200, { 'content-type': type })
  const next = (at: number) => {
    if (at >= bytes.length) return void res.end()
    res.write(bytes.subarray(at, at + piece_bytes), () => setImmediate(next, at + piece_bytes))
  }
  next(0)
}

function plain(res: ServerResponse, status: number, message: string): void {
  res.writeHead(status, { 'content-type': 'application/json' })
  res.end(JSON.stringify({ error: { message } }))
}
