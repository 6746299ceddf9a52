import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Servers } from '../../host/index.js'
import type { Tool } from '../tool.js'
import { type Connection, openConnection } from './connection.js'
import type { MessageBounds } from './messages.js'
import { createNames, type Named } from './names.js'
import { createSchemaCompiler, type SchemaCompiler } from './outside-schema.js'
import { printable } from './printable.js'
import type { ListedTool, Surroundings } from './session.js'
import { type McpServerSettings, type McpTarget, targetOf } from './settings.js'
import { descriptionOf, toolFrom } from './tool.js'

export type McpServer = {
  name: string
  settings: McpServerSettings
  /** Whether a person said yes to exactly this. One that is not trusted is not started. */
  trusted: boolean
}

export type McpOptions = {
  servers: Servers
  /** The workspace. Absolute and real. */
  root: string
  /** Where `${VAR}` in settings comes from. */
  env: Readonly<Record<string, string | undefined>>
  client_info: { name: string; version: string }
  /** Stops the connecting. */
  signal?: AbortSignal
  start_timeout_ms?: number
  bounds?: Partial<MessageBounds>
}

export type McpServerState = {
  name: string
  state: 'ready' | 'failed' | 'untrusted' | 'disabled'
  /** What a person should know: why it failed, which tools were left out, what changed since they were offered. */
  message: string | null
  /** Names as they are offered. */
  tools: string[]
  version: string | null
  instructions: string | null
}

export type McpConnections = {
  tools: Tool[]
  /** Their messages grow when something happens later. */
  servers: McpServerState[]
  close: () => Promise<void>
}

const START_TIMEOUT_MS = 30_000
const CALL_TIMEOUT_MS = 60_000
const BOUNDS: MessageBounds = { max_message_bytes: 64 * 1024 * 1024, max_string_bytes: 8 * 1024 * 1024 }
const INSTRUCTIONS_CHARS = 2000

/** Starts and reaches all servers, side by side. One that fails costs its own tools and nothing else. */
export async function connectServers(servers: readonly McpServer[], options: McpOptions): Promise<McpConnections> {
  const wanted = servers.filter(({ settings, trusted }) => trusted && settings.enabled !== false)
  if (wanted.length === 0) {
    return { tools: [], servers: servers.map(({ name, ...server }) => unstarted(name, server)), close: async () => {} }
  }
  const [library, compile] = await Promise.all([import('@modelcontextprotocol/client'), createSchemaCompiler()])
  const around: Surroundings = {
    library,
    servers: options.servers,
    root: options.root,
    rootUrl: pathToFileURL(options.root).href,
    client_info: options.client_info,
    start_timeout_ms: options.start_timeout_ms ?? START_TIMEOUT_MS,
    bounds: { ...BOUNDS, ...options.bounds },
  }
  const signal = options.signal ?? new AbortController().signal
  const results = await Promise.all(
    servers.map(async (server) => {
      const { name, settings } = server
      if (!wanted.includes(server)) return { state: unstarted(name, server) }
      const target = targetOf(settings, options.env)
      return target.ok ? connectOne(server, target.target, around, signal) : { state: failed(name, target.message) }
    }),
  )
  const close = async () => {
    await Promise.all(results.map((result) => 'connected' in result && result.connected.connection.close()))
  }
  try {
    // In the order of the servers, whoever was ready first: the same servers always give the same names.
    const names = createNames()
    const tools = results.flatMap((result) => ('connected' in result ? offer(result.connected, names, compile) : []))
    return { tools, servers: results.map(({ state }) => state), close }
  } catch (error) {
    // Nobody else could close them.
    await close()
    throw error
  }
}

type Connected = {
  server: McpServer
  target: McpTarget
  connection: Connection
  state: McpServerState
  /** Descriptions as they were offered, by the server's own names. */
  offered: Map<string, string>
  note: (text: string) => void
}

async function connectOne(
  server: McpServer,
  target: McpTarget,
  around: Surroundings,
  signal: AbortSignal,
): Promise<{ state: McpServerState; connected: Connected } | { state: McpServerState }> {
  const { name } = server
  const offered = new Map<string, string>()
  const notes = new Set<string>()
  const state: McpServerState = { name, state: 'ready', message: null, tools: [], version: null, instructions: null }
  const note = (text: string) => {
    notes.add(printable(text))
    state.message = [...notes].join('; ')
  }
  const onList = (tools: readonly ListedTool[]) => {
    for (const tool of tools) {
      const before = offered.get(tool.name)
      if (before !== undefined && before !== descriptionOf(tool)) {
        note(`the description of ${tool.name} changed after it was offered`)
      }
    }
  }
  const placed = target.kind === 'stdio' ? { ...target, cwd: resolve(around.root, target.cwd ?? '.') } : target
  const opened = await openConnection(name, placed, around, { onList }, signal)
  if (!opened.ok) return { state: failed(name, opened.message) }
  const { first } = opened.connection
  state.version = first.version === null ? null : printable(first.version).slice(0, 100)
  state.instructions = first.instructions === null ? null : printable(first.instructions).slice(0, INSTRUCTIONS_CHARS)
  for (const text of first.notes) note(text)
  return { state, connected: { server, target, connection: opened.connection, state, offered, note } }
}

function offer(
  { server, target, connection, state, offered, note }: Connected,
  names: ReturnType<typeof createNames>,
  compile: SchemaCompiler,
): Tool[] {
  const { name, settings } = server
  // Sorted, because the list is part of every request, and some servers give it in another order each time.
  const listed = [...connection.first.tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const full = names(
    name,
    listed.map((tool) => tool.name),
  )
  const origin = {
    server: name,
    connection,
    address: target.kind === 'http' ? `${target.url.host}${target.url.pathname}` : null,
    timeout_ms: settings.timeout_ms ?? CALL_TIMEOUT_MS,
    compile,
  }
  return listed.flatMap((tool, i) => {
    const named = full[i] as Named
    if (!named.ok) {
      note(named.message)
      return []
    }
    const made = toolFrom(tool, named.name, origin)
    if (!made.ok) {
      note(`the tool ${tool.name} is left out: ${made.message}`)
      return []
    }
    offered.set(tool.name, descriptionOf(tool))
    state.tools.push(named.name)
    return [made.tool]
  })
}

function failed(name: string, message: string): McpServerState {
  return { name, state: 'failed', message: printable(message), tools: [], version: null, instructions: null }
}

function unstarted(name: string, { settings, trusted }: Omit<McpServer, 'name'>): McpServerState {
  const blank = { name, tools: [], version: null, instructions: null }
  if (settings.enabled === false) return { ...blank, state: 'disabled', message: null }
  if (trusted) return { ...blank, state: 'failed', message: 'it was not started' }
  const message = `it comes from a project file and nobody has trusted it here yet: retinue mcp trust ${name}`
  return { ...blank, state: 'untrusted', message }
}
