import type { z } from 'zod'
import { readMcpJson } from './mcp-json.js'
import type { ListedServer, NamedServer, ServerSettings } from './server.js'
import { formatTrust, readTrust, trustDigest, trustFile } from './trust-file.js'

export type ServersPlace = {
  /** Absolute and real. */
  project_dir: string
  /** The folder that holds `retinue/config.yaml`. */
  config_home: string
  read: (path: string) => Promise<string | null>
}

export type ListServersOptions<S> = ServersPlace & {
  /** From the configuration files, the user's before the project's. They win over `.mcp.json`. */
  configured: readonly NamedServer<S>[]
  schema: z.ZodType<S>
}

export type ServerList<S> = {
  servers: ListedServer<S>[]
  /** What is wrong with a file, with file and key. The rest of the list holds. */
  problems: string[]
  notes: string[]
}

/** Every server that there is for a project, by name, and whether it may start. */
export async function listServers<S extends ServerSettings>(options: ListServersOptions<S>): Promise<ServerList<S>> {
  const { project_dir, config_home, read } = options
  const [found, trust] = await Promise.all([
    readMcpJson(project_dir, read, options.schema),
    readTrust(config_home, read),
  ])
  const digests = new Set(trust.ok ? trust.trusted.map(({ digest }) => digest) : [])
  const byName = new Map([...found.servers, ...options.configured].map((server) => [server.name, server]))
  const servers = [...byName.values()].map((server) => ({
    ...server,
    trusted: server.from === 'user' || digests.has(trustDigest(project_dir, server.name, server.settings)),
  }))
  servers.sort((a, b) => (a.name < b.name ? -1 : 1))
  const problems = trust.ok ? found.problems : [...found.problems, trust.message]
  return { servers, problems, notes: found.notes }
}

type TrustChange = { ok: true; changed: boolean } | { ok: false; message: string }
type TrustPlace = ServersPlace & {
  writePrivate: (path: string, text: string) => Promise<{ ok: true } | { ok: false; message: string }>
}

/** Lets exactly this server start in this folder from now on. */
export async function trustServer<S extends ServerSettings>(
  { name, settings }: Pick<NamedServer<S>, 'name' | 'settings'>,
  place: TrustPlace,
): Promise<TrustChange> {
  const trust = await readTrust(place.config_home, place.read)
  if (!trust.ok) return trust
  const digest = trustDigest(place.project_dir, name, settings)
  if (trust.trusted.some((entry) => entry.digest === digest)) return { ok: true, changed: false }
  // What was said before about another command under this name is said no more.
  const others = trust.trusted.filter((entry) => entry.folder !== place.project_dir || entry.name !== name)
  return write(place, [...others, { folder: place.project_dir, name, digest }])
}

/** Takes back whatever was said about servers of this name in this folder. */
export async function untrustServer(name: string, place: TrustPlace): Promise<TrustChange> {
  const trust = await readTrust(place.config_home, place.read)
  if (!trust.ok) return trust
  const others = trust.trusted.filter((entry) => entry.folder !== place.project_dir || entry.name !== name)
  return others.length === trust.trusted.length ? { ok: true, changed: false } : write(place, others)
}

async function write(place: TrustPlace, trusted: Parameters<typeof formatTrust>[0]): Promise<TrustChange> {
  const written = await place.writePrivate(trustFile(place.config_home), formatTrust(trusted))
  return written.ok ? { ok: true, changed: true } : written
}
