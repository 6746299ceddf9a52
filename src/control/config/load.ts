import { join } from 'node:path'
import type { z } from 'zod'
import type { FoundProfile } from '../profiles/found.js'
import { configuredProfiles } from './configured-profiles.js'
import { type ReadFile, readEither } from './either.js'
import { modelsNamed, poolFault, poolNameFault } from './models.js'
import { inFileOrder, type Problem } from './problem.js'
import { type ResolvedConfig, resolveConfig } from './resolve.js'
import { type Config, createConfigSchema } from './schema.js'
import type { Source } from './source.js'
import { storeFault } from './store.js'
import type { Places, Surroundings } from './surroundings.js'
import { isTrusted, trustFaults } from './trust.js'

export type Origin = 'project' | 'user' | 'default'

export type LoadOptions<P, S = unknown> = Places & {
  /** The folder that holds `retinue/config.yaml`. */
  config_home: string
  read: ReadFile
  surroundings: Surroundings<P, S>
}

/** An MCP server that a file names, with the file: what a project's file names needs a person's trust. */
export type ConfiguredServer<S = unknown> = { settings: S; from: 'user' | 'project'; file: string }

export type LoadedConfig<P, S = unknown> =
  | {
      ok: true
      config: ResolvedConfig<P>
      /** What each file said, the user's first: resolveConfig takes them again, with flags as one more. */
      files: Config<P, S>[]
      /** By name. The user's wins over the project's. */
      mcp_servers: Record<string, ConfiguredServer<S>>
      /** The project's, then the user's, which stand before those of their names. */
      profiles: FoundProfile[]
      sources: { file: string; keys: string[] }[]
      /** Whether the project's file could widen what holds without it. */
      trusted: boolean
      /** Where a setting such as `model` or `budget.turns` comes from. */
      origin: (path: string) => Origin
    }
  | { ok: false; problems: Problem[] }

/** Reads the user's and the project's file. All problems of both are reported at once. */
export async function loadConfig<P, S>(options: LoadOptions<P, S>): Promise<LoadedConfig<P, S>> {
  const { surroundings, project_dir, home } = options
  const places = { project_dir, home }
  // Made at most once, and not at all where there is no file: it costs some milliseconds of every start.
  let made: z.ZodType<Config<P, S>> | undefined
  const schema = () => {
    made ??= createConfigSchema(surroundings)
    return made
  }
  const [user, project] = await Promise.all([
    readEither(options.read, join(options.config_home, 'retinue'), 'config', schema),
    readEither(options.read, project_dir, 'retinue', schema),
  ])
  const problems = [...user.problems, ...project.problems]

  const trusted = isTrusted(user.config, places)
  // With a user's file that cannot be read, nobody knows what the project's may say.
  if (user.problems.length === 0) {
    const without = resolveConfig([user.config], surroundings, places)
    const trust = { trusted, user_file: user.file, places }
    problems.push(...trustFaults(project.config, user.config, without, trust).map(project.problem))
  }
  const files = [user.config, project.config]
  const config = resolveConfig(files, surroundings, places)
  for (const { keys, message } of crossFaults(config, places)) {
    const [source, key] =
      [project, user].flatMap((s) => keys.filter((k) => sets(s, k)).map((k) => [s, k] as const))[0] ?? []
    if (source && key) problems.push(source.problem({ path: key.split('.'), at: 'value', message, nearest: null }))
  }
  const pools = Object.keys(config.pools)
  for (const source of [user, project]) {
    for (const { path, name, is_pool } of modelsNamed(source.config)) {
      const fault = is_pool ? poolNameFault(name, pools) : poolFault(name, pools)
      if (fault) problems.push(source.problem({ path, at: 'value', ...fault }))
    }
  }

  if (problems.length > 0) return { ok: false, problems: inFileOrder(problems) }
  const sources = [user, project].filter((source) => source.found)
  return {
    ok: true,
    config,
    files,
    mcp_servers: { ...serversOf(project, 'project'), ...serversOf(user, 'user') },
    profiles: [
      ...configuredProfiles('project', project, surroundings.tools, places),
      ...configuredProfiles('user', user, surroundings.tools, places),
    ],
    sources: sources.map(({ file, keys }) => ({ file, keys })),
    trusted,
    origin: (path) => (sets(project, path) ? 'project' : sets(user, path) ? 'user' : 'default'),
  }
}

/** What can only be seen when all files and the defaults are together, with the settings that could be the cause. */
function crossFaults(config: ResolvedConfig, places: Places): { keys: string[]; message: string }[] {
  const faults: { keys: string[]; message: string }[] = []
  const { command_timeout_ms: usual, command_max_timeout_ms: most } = config.limits
  if (usual > most) {
    const message = `command_timeout_ms (${usual}) is over command_max_timeout_ms (${most})`
    faults.push({ keys: ['limits.command_timeout_ms', 'limits.command_max_timeout_ms'], message })
  }
  const store = storeFault(config.store, places)
  if (store) faults.push({ keys: ['store'], message: store })
  return faults
}

function serversOf<P, S>({ config, file }: Source<P, S>, from: 'user' | 'project') {
  const named = Object.entries(config.mcp_servers ?? {})
  return Object.fromEntries(
    named.map(([name, settings]): [string, ConfiguredServer<S>] => [name, { settings, from, file }]),
  )
}

function sets({ keys }: { keys: readonly string[] }, path: string): boolean {
  return keys.some((key) => key === path || key.startsWith(`${path}.`))
}
