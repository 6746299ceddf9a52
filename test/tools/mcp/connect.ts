import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createRedactor, type EventData, type EventType } from '../../../src/domain/index.js'
import { createHost } from '../../../src/host/index.js'
import {
  callTools,
  connectServers,
  createToolRegistry,
  DEFAULT_LIMITS,
  type McpConnections,
  type McpOptions,
  type McpServerSettings,
  type Pipeline,
  type ToolContext,
  type ToolLimits,
} from '../../../src/tools/index.js'
import type { WhenFinished } from '../../support/project.js'

export const BAD_SERVER = fileURLToPath(new URL('./bad-server.mjs', import.meta.url))

const require = createRequire(import.meta.url)
const OFFICIAL = {
  everything: () => require.resolve('@modelcontextprotocol/server-everything/package.json'),
  filesystem: () => require.resolve('@modelcontextprotocol/server-filesystem/package.json'),
  memory: () => require.resolve('@modelcontextprotocol/server-memory/package.json'),
}

/** The file that an official server starts with. */
export function officialServer(name: keyof typeof OFFICIAL): string {
  return join(dirname(OFFICIAL[name]()), 'dist/index.js')
}

export function node(...args: string[]): McpServerSettings {
  return { command: process.execPath, args }
}

export type Extra = Partial<McpOptions> & { finished?: WhenFinished; limits?: Partial<ToolLimits>; trusted?: boolean }

/** Real servers, connected to, and their tools called through the pipeline. All of it ends with the test. */
export async function connect(servers: Record<string, McpServerSettings>, extra: Extra = {}) {
  const finished = extra.finished ?? onTestFinished
  const root = await realpath(await mkdtemp(join(tmpdir(), 'retinue-mcp-')))
  finished(() => rm(root, { recursive: true, force: true }))
  const host = createHost()
  const connections = await connectServers(
    Object.entries(servers).map(([name, settings]) => ({ name, settings, trusted: extra.trusted ?? true })),
    {
      servers: host.servers,
      root,
      env: process.env,
      client_info: { name: 'retinue-test', version: '0' },
      ...extra,
    },
  )
  finished(() => connections.close())
  const workspace = await host.workspace(root)
  const call = async (
    tool: string,
    args: unknown,
    options: { signal?: AbortSignal; onProgress?: (text: string) => void; network?: 'none' | 'tools' } = {},
  ) => {
    const events: { type: EventType; data: Record<string, unknown> }[] = []
    const signal = options.signal ?? new AbortController().signal
    const context: ToolContext = {
      workspace,
      processes: host.processes,
      fence: null,
      http: host.http,
      redactor: createRedactor([]),
      repository: async () => null,
      limits: { ...DEFAULT_LIMITS, ...extra.limits },
      signal,
      time_left_ms: () => 60_000,
      mayRead: () => true,
      readOutput: async () => null,
      call_id: 'c1',
      delegation: null,
      askPerson: async () => null,
      onProgress: options.onProgress ?? (() => {}),
    }
    const registry = createToolRegistry(connections.tools)
    const pipeline: Pipeline = {
      registry,
      authority: {
        mode: 'dangerous',
        allowed_tools: registry.names(),
        allowed_skills: [],
        allowed_mcp_servers: Object.keys(servers),
        read_paths: [['**']],
        write_paths: [['**']],
        rules: [{ mode: 'dangerous', rules: [] }],
        network: options.network ?? 'tools',
        can_ask_person: false,
        can_spawn_children: false,
        max_delegation_depth: 0,
      },
      depth: 0,
      context,
      now: () => Date.now(),
      grants: () => [],
      callsLeft: () => 1,
      onBudgetEnd: () => {},
      record: <T extends EventType>(type: T, data: EventData<T>) => void events.push({ type, data }),
      commit: async () => {},
      commitSoon: () => {},
      ask: async () => null,
      keepOutput: () => ({ digest: '', bytes: 0 }),
      hasOwnFiles: () => true,
      getOwnFiles: async () => true,
      alone: (work) => work(),
      carryFiles: async () => {},
      abortStatus: () => 'cancelled',
    }
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    const part = { type: 'tool_call' as const, call_id: 'c1', tool, args: text }
    await callTools(pipeline, [{ part, intent: null } as unknown as Parameters<typeof callTools>[1][number]])
    const last = events.at(-1)
    return { type: last?.type, status: last?.data.status, content: String(last?.data.content), events }
  }
  return { connections, root, call, host }
}

/** A bad server with a file that it notes in what it hears. */
export async function badServer(behaviour: string, extra: Extra & { settings?: Partial<McpServerSettings> } = {}) {
  const finished = extra.finished ?? onTestFinished
  const folder = await mkdtemp(join(tmpdir(), 'retinue-bad-'))
  finished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'notes')
  const connected = await connect({ bad: { ...node(BAD_SERVER, behaviour, file), ...extra.settings } }, extra)
  const heard = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
  const pids = async () =>
    (await heard()).filter((line) => line.startsWith('pid ')).map((line) => Number(line.slice(4)))
  const state = stateOf(connected.connections)
  return { ...connected, heard, pids, state }
}

export function stateOf(connections: McpConnections, name = 'bad') {
  const found = connections.servers.find((server) => server.name === name)
  if (!found) throw new Error(`no server ${name}`)
  return found
}
