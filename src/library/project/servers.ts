import { type ListedServer, trustServer, untrustServer } from '../../control/index.js'
import { createRedactor } from '../../domain/index.js'
import { connectServers, type McpConnections, type McpServerSettings } from '../../tools/index.js'
import { RetinueError } from '../errors.js'
import { VERSION } from '../version.js'
import { type ProjectOptions, readProject } from './project.js'
import { secretsOfServer } from './sources.js'

export type ProjectServers = {
  servers: ListedServer<McpServerSettings>[]
  /** What is wrong with a file, with file and key. */
  problems: string[]
  notes: string[]
  /** A server as it may be shown: without the keys that somebody wrote into its settings. */
  shown: (server: ListedServer<McpServerSettings>) => ListedServer<McpServerSettings>
  /** Lets a server of a project file start from now on, exactly as it is written now. False when it could already. */
  trust: (name: string) => Promise<boolean>
  /** False when nothing had been said about it. */
  untrust: (name: string) => Promise<boolean>
  /** Starts what may start (one of them, with a name). Close what comes back. */
  connect: (name?: string) => Promise<McpConnections>
}

/** The MCP servers that there are for a folder, from the configuration files and from `.mcp.json`. Starts none. */
export async function openServers(options: ProjectOptions): Promise<ProjectServers> {
  const { host, places, listed } = await readProject(options)
  const { servers, problems, notes } = listed
  const place = { ...places, read: host.readText, writePrivate: host.writePrivate }

  const named = (name: string) => {
    const server = servers.find((candidate) => candidate.name === name)
    if (server) return server
    const known = servers.length === 0 ? 'There are none.' : `There are ${servers.map((s) => s.name).join(', ')}.`
    throw new RetinueError('not_found', `There is no server ${JSON.stringify(name)} here. ${known}`)
  }
  const done = (change: Awaited<ReturnType<typeof untrustServer>>) => {
    if (!change.ok) throw new RetinueError('input', change.message)
    return change.changed
  }
  return {
    servers,
    problems,
    notes,
    shown: (server) => createRedactor(secretsOfServer(server)).redactAll(server),
    trust: async (name) => {
      const server = named(name)
      if (server.from === 'user') return false
      return done(await trustServer(server, place))
    },
    untrust: async (name) => done(await untrustServer(name, place)),
    connect: (name) =>
      connectServers(name === undefined ? servers : [named(name)], {
        servers: host.servers,
        root: places.project_dir,
        env: options.env,
        client_info: { name: 'retinue', version: VERSION },
      }),
  }
}
