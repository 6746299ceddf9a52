import type { Skill } from '../../control/index.js'
import type { Host } from '../../host/index.js'
import {
  type BuiltinOptions,
  builtinTools,
  connectServers,
  createToolRegistry,
  type McpConnections,
  type McpServer,
  type ToolRegistry,
} from '../../tools/index.js'
import { VERSION } from '../version.js'

/** What agents can reach beyond their folder: everything that is there, before a contract says who may use it. */
export type ReachSources = Pick<BuiltinOptions, 'web' | 'tests'> & {
  /** MCP servers. One that is not trusted is not started. */
  servers?: readonly McpServer[]
  skills?: readonly Skill[]
  /** What a person should know about them; said in each run's first event. */
  notes?: readonly string[]
}

/** A profile or agent that the tools for delegation offer. */
export type Offered = { name: string; description: string }

export type Reached = {
  /** All tools; those for delegation name these profiles. */
  registry: (profiles: readonly Offered[]) => ToolRegistry
  servers: McpConnections['servers']
  skills: readonly Skill[]
  notes: readonly string[]
}

/** Lists of profiles for which tools are kept: of a run, and of its sub-agents that may spawn only some. */
const REGISTRIES_KEPT = 20

/** Looked up and connected to when the first run needs it, once for all runs. */
export class Reach {
  #opening: Promise<{ reached: Reached; connections: McpConnections }> | null = null
  readonly #stop = new AbortController()

  constructor(
    private readonly host: Host,
    private readonly place: { cwd: string; env: Record<string, string | undefined>; has_labels: boolean },
    private readonly sources: () => Promise<ReachSources>,
  ) {}

  async open(): Promise<Reached> {
    this.#opening ??= this.#open().catch((error) => {
      // What went wrong once may be mended by the next time.
      this.#opening = null
      throw error
    })
    return (await this.#opening).reached
  }

  async #open() {
    const { servers = [], skills = [], notes = [], ...options } = await this.sources()
    const connections = await connectServers(servers, {
      servers: this.host.servers,
      root: this.place.cwd,
      env: this.place.env,
      client_info: { name: 'retinue', version: VERSION },
      signal: this.#stop.signal,
    })
    const has_servers = connections.tools.length > 0
    const made = new Map<string, ToolRegistry>()
    const registry = (profiles: readonly Offered[]) => {
      // Tools are made anew only for other names: what a provider makes of them is cached by them.
      const key = profiles.map(({ name }) => name).join(' ')
      const known = made.get(key)
      if (known) return known
      const tools = createToolRegistry([
        ...builtinTools({ ...options, skills, profiles, has_servers, has_labels: this.place.has_labels }),
        ...connections.tools,
      ])
      if (made.size >= REGISTRIES_KEPT) made.clear()
      made.set(key, tools)
      return tools
    }
    return { reached: { registry, servers: connections.servers, skills, notes }, connections }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    const opened = await this.#opening?.catch(() => null)
    await opened?.connections.close()
  }
}
