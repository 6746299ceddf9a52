import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { Servers } from '../../host/index.js'
import { seconds } from '../text.js'
import { openHttp } from './http.js'
import type { MessageBounds } from './messages.js'
import type { McpTarget } from './settings.js'
import { type NamedTransport, startStdio } from './stdio.js'

type Library = typeof import('@modelcontextprotocol/client')

/** What every session of a run shares. */
export type Surroundings = {
  library: Library
  servers: Servers
  /** The workspace: where servers run, and what they are told is open. Absolute. */
  root: string
  rootUrl: string
  client_info: { name: string; version: string }
  start_timeout_ms: number
  bounds: MessageBounds
}

/** A tool as a server lists it, nothing of it checked yet. */
export type ListedTool = { name: string } & Record<string, unknown>

/** One conversation with one server, from its first word to its end. */
export type Session = {
  client: Client
  tools: ListedTool[]
  /** What was not taken of its list, in words. */
  notes: string[]
  version: string | null
  instructions: string | null
  isOpen: () => boolean
  /** Why it ended or why it does not answer, in words. */
  ending: () => string
  listTools: (signal?: AbortSignal) => Promise<{ tools: ListedTool[]; notes: string[] }>
  close: () => Promise<void>
}

export type Opened = { ok: true; session: Session } | { ok: false; message: string }

export async function openSession(
  target: McpTarget,
  around: Surroundings,
  events: { onToolsChanged: () => void },
  signal: AbortSignal,
): Promise<Opened> {
  const first = await attempt(target, around, events, signal, 'auto')
  // Some servers end when they are asked something before they were greeted in the old way.
  const isWorthAnother = !first.ok && first.endedEarly && target.kind === 'stdio' && !signal.aborted
  return isWorthAnother ? attempt(target, around, events, signal, 'legacy') : first
}

async function attempt(
  target: McpTarget,
  around: Surroundings,
  events: { onToolsChanged: () => void },
  signal: AbortSignal,
  mode: 'auto' | 'legacy',
): Promise<{ ok: true; session: Session } | { ok: false; message: string; endedEarly: boolean }> {
  const { library, start_timeout_ms } = around
  const started = await openTransport(target, around)
  if (!started.ok) return { ok: false, message: started.message, endedEarly: false }
  const { transport } = started
  const client = new library.Client(around.client_info, {
    capabilities: { roots: {} },
    versionNegotiation: { mode, probe: { timeoutMs: Math.ceil(start_timeout_ms / 3) } },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: events.onToolsChanged } },
  })
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: around.rootUrl, name: 'workspace' }] }))
  // Strange messages are a server's own business as long as its answers come.
  client.onerror = () => {}
  let open = true
  let isClosing = false
  client.onclose = () => {
    open = false
  }

  const close = async () => {
    isClosing = true
    if (target.kind === 'http' && open) await endHttpSession(transport as unknown as StreamableHTTPClientTransport)
    await transport.close().catch(() => {})
    await client.close().catch(() => {})
  }
  const deadline = AbortSignal.timeout(start_timeout_ms)
  const until = AbortSignal.any([signal, deadline])
  try {
    const request = { signal: until, timeout: start_timeout_ms }
    await orAborted(client.connect(transport, request), until)
    const listed = client.getServerCapabilities()?.tools
      ? await orAborted(listTools(client, until, start_timeout_ms), until)
      : { tools: [], notes: ['it offers no tools'] }
    const session: Session = {
      client,
      ...listed,
      version: client.getServerVersion()?.version ?? null,
      instructions: client.getInstructions() ?? null,
      isOpen: () => open && !isClosing,
      ending: () => transport.ending(),
      listTools: (until) => listTools(client, until, start_timeout_ms),
      close,
    }
    return { ok: true, session }
  } catch (error) {
    const endedEarly = !open || /clos/i.test((error as Error).message)
    const why = transport.ending()
    await close()
    if (signal.aborted) return { ok: false, message: 'it was not waited for', endedEarly: false }
    if (deadline.aborted) {
      return { ok: false, message: `it was not ready after ${seconds(start_timeout_ms)}: ${why}`, endedEarly: false }
    }
    const reason = endedEarly ? transport.ending() : `${(error as Error).message.slice(0, 500)}`
    return { ok: false, message: `it could not be connected to: ${reason}`, endedEarly }
  }
}

async function openTransport(
  target: McpTarget,
  around: Surroundings,
): Promise<{ ok: true; transport: NamedTransport } | { ok: false; message: string }> {
  if (target.kind === 'stdio') {
    const { command, env, cwd } = target
    return startStdio(around.servers, { command, env, cwd: cwd ?? around.root }, around.bounds)
  }
  return { ok: true, transport: openHttp(around.library.StreamableHTTPClientTransport, target, around.bounds) }
}

const MAX_PAGES = 50
const MAX_TOOLS = 500

/** Loose on purpose: one tool that is not as it should be must not cost all the others. */
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })

async function listTools(
  client: Client,
  signal: AbortSignal | undefined,
  timeout: number,
): Promise<{ tools: ListedTool[]; notes: string[] }> {
  const tools: ListedTool[] = []
  const notes: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const request = { method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) } as const
    const answer = await client.request(request, pageSchema, { timeout, ...(signal ? { signal } : {}) })
    for (const tool of answer.tools) {
      if (isNamed(tool)) tools.push(tool)
      else notes.push('it lists a tool without a name')
    }
    cursor = answer.nextCursor
    if (cursor === undefined) break
  }
  if (cursor !== undefined) notes.push(`its list of tools has more than ${MAX_PAGES} pages; the rest was not read`)
  if (tools.length > MAX_TOOLS) notes.push(`it has ${tools.length} tools; only the first ${MAX_TOOLS} are offered`)
  return { tools: tools.slice(0, MAX_TOOLS), notes: [...new Set(notes)] }
}

function isNamed(tool: unknown): tool is ListedTool {
  const name = (tool as { name?: unknown } | null)?.name
  return typeof name === 'string' && name !== '' && name.length <= 500
}

const GOODBYE_MS = 1000

/** Lets the server forget the session; one that does not answer is not waited for. */
async function endHttpSession(transport: StreamableHTTPClientTransport): Promise<void> {
  const late = new AbortController()
  const goodbye = transport.terminateSession().catch(() => {})
  const timer = setTimeout(() => late.abort(), GOODBYE_MS)
  await orAborted(goodbye, late.signal).catch(() => {})
  clearTimeout(timer)
}

/** The library's own promises mostly heed a signal; nothing here may wait for ever because one does not. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
