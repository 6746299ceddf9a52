import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../domain/index.js'
import type { Server, Servers } from '../../host/index.js'
import { oneLine, size } from '../text.js'
import { createMessageReader, type MessageBounds } from './messages.js'
import { printable } from './printable.js'

/** A transport that knows why it ended, in words. */
export type NamedTransport = Transport & { ending: () => string }

const NOISE_CHARS = 200

/** What nobody here listens to. Some servers say it so often that the library would do nothing else but look at it. */
const UNHEARD: ReadonlySet<string> = new Set([
  'notifications/message',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
])

/**
 * Messages to and from a process. It has the members `stderr` and `pid` because the library takes a transport with
 * them for one that starts a process, and a process that is silent about a new question for an old server.
 */
export async function startStdio(
  servers: Servers,
  spec: { command: readonly string[]; cwd: string; env: Record<string, string> },
  bounds: MessageBounds,
): Promise<{ ok: true; transport: NamedTransport } | { ok: false; message: string }> {
  const started = await servers.start(spec)
  if (!started.ok) return started
  const { server } = started
  let broken: string | null = null
  let exit: string | null = null
  let noise: string | null = null
  let isClosed = false
  /** What was sent and not yet read. A server that asks without end and never listens would make it grow without end. */
  let waiting = 0

  const end = (reason: string) => {
    broken ??= reason
    void transport.close()
  }
  const transport: NamedTransport & { stderr: null; pid: null } = {
    stderr: null,
    pid: null,
    start: async () => {},
    send: async (message) => {
      const line = `${JSON.stringify(message)}\n`
      waiting += line.length
      if (waiting > bounds.max_message_bytes) end('it was ended because it does not read what it is sent')
      const isTaken = await server.write(line)
      waiting -= line.length
      if (!isTaken) throw new Error('the server has ended')
    },
    close: async () => {
      await server.stop()
      closed()
    },
    ending: () => describeEnding(server, { broken, exit, noise }),
  }
  const closed = () => {
    if (isClosed) return
    isClosed = true
    transport.onclose?.()
  }
  /** One after the other: the library looks at notifications a moment after it got them, and at answers at once. */
  let given = Promise.resolve()
  const heard = (line: string) => {
    noise ??= oneLine(line.slice(0, 2 * NOISE_CHARS), NOISE_CHARS)
  }
  const read = createMessageReader(
    bounds,
    (json) => {
      if (!isObject(json) || json.jsonrpc !== '2.0') heard(JSON.stringify(json))
      else if (!UNHEARD.has(String(json.method)))
        given = given.then(() => transport.onmessage?.(json as unknown as JSONRPCMessage))
    },
    heard,
  )
  server.onStdout((chunk) => {
    if (broken !== null || read(chunk)) return
    end(`it was ended because a message was larger than ${size(bounds.max_message_bytes)}`)
  })
  void server.ended.then(({ code, signal }) => {
    exit = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`
    closed()
  })
  return { ok: true, transport }
}

const STDERR_CHARS = 600

function describeEnding(
  server: Server,
  { broken, exit, noise }: { broken: string | null; exit: string | null; noise: string | null },
): string {
  const stderr = server.stderr().trim()
  const said = stderr === '' ? '' : `; its last words: ${printable(stderr.slice(-STDERR_CHARS))}`
  const wrote = noise === null ? '' : `; it wrote to stdout what is no message: ${printable(noise)}`
  return `${broken ?? exit ?? 'it does not answer'}${wrote}${said}`
}
