import {
  type AgentFileSurroundings,
  discoverAgentFiles,
  discoverSkills,
  type FoundProfile,
  type KnownAgentFiles,
  type ListedServer,
  type LoadedConfig,
  type ResolvedConfig,
  type SearchSettings,
  type ServerList,
  type SkillPlaces,
} from '../../control/index.js'
import type { Secret } from '../../domain/index.js'
import type { Host } from '../../host/index.js'
import type { ProviderSettings } from '../../models/index.js'
import type { McpServerSettings, SearchSettings as SearchService } from '../../tools/index.js'
import { createConfigSurroundings } from './configuration.js'
import type { ReachSources } from './reach.js'
import { findSecrets, secretsInHeaders, secretVariables } from './secrets.js'

type Env = Record<string, string | undefined>
type Loaded = Extract<LoadedConfig<ProviderSettings, McpServerSettings>, { ok: true }>
type Found = { config: ResolvedConfig; listed: ServerList<McpServerSettings>; env: Env }

/** What the configuration, `.mcp.json` and the folders of skills offer. */
export async function findReach(
  host: Host,
  places: SkillPlaces,
  { config, listed, env }: Found,
): Promise<ReachSources> {
  const skills = await discoverSkills(host, places)
  const { allow_private, search } = config.web
  const found = search === null ? null : searchWith(search, env)
  return {
    web: { allow_private, search: found },
    tests: config.tests,
    servers: listed.servers,
    skills: skills.skills,
    notes: [
      ...listed.problems,
      ...skills.problems.map(({ file, message }) => `${file}: ${message}`),
      ...(search !== null && found === null ? [`web_search is not there: ${keyVariable(search)} is not set`] : []),
    ],
  }
}

/** Finds the profiles of agent files and of the configuration, the ones that stand before others last. */
export function profileFinder(host: Host, places: SkillPlaces, loaded: Loaded): () => Promise<FoundProfile[]> {
  const surroundings = agentFileSurroundings(loaded)
  const known: KnownAgentFiles = new Map()
  return async () => [...(await discoverAgentFiles(host, places, surroundings, known)), ...loaded.profiles]
}

/** What agent files are read with. A project that is trusted chooses and spends like the person. */
export function agentFileSurroundings({ config, files, trusted }: Loaded): AgentFileSurroundings {
  const { tools } = createConfigSurroundings()
  const { models, budget, max_retries } = trusted ? {} : (files[0]?.delegation ?? {})
  const fixed = { ...(budget && { budget }), ...(max_retries !== undefined && { max_retries }) }
  return { tools, pools: Object.keys(config.pools), models_listed: models ?? null, fixed }
}

/** The configured search with its key; null where the key is not there. */
function searchWith(search: SearchSettings, env: Env): SearchService | null {
  if (search.type === 'searxng') return search
  const api_key = env[search.api_key_env]?.trim()
  return api_key ? { type: search.type, api_key, url: search.url } : null
}

function keyVariable(search: SearchSettings | null): string | null {
  return search === null || search.type === 'searxng' ? null : search.api_key_env
}

/** What the configuration makes secret: the variables it takes keys from, and keys that somebody wrote into it. */
export function configuredSecrets(
  { providers, web }: ResolvedConfig<ProviderSettings>,
  servers: readonly ListedServer<McpServerSettings>[],
  env: Env,
): Secret[] {
  const sent = Object.entries(providers).map(([name, { headers = {} }]) => ({ where: `provider ${name}`, headers }))
  const written = servers.flatMap(({ settings }) => [settings.env ?? {}, settings.headers ?? {}])
  const used = written.flatMap(secretVariables)
  const keys = Object.values(providers).map(({ api_key_env }) => api_key_env)
  const named = [...used, ...keys, keyVariable(web.search)].filter((name) => typeof name === 'string')
  return [
    ...findSecrets({ env: only(env, named), named }),
    ...servers.flatMap(secretsOfServer),
    ...sent.flatMap(({ where, headers }) => secretsInHeaders(where, headers)),
  ]
}

function only(env: Env, names: readonly string[]): Env {
  return Object.fromEntries(names.map((name) => [name, env[name]]))
}

/** What stands for a variable is no secret; the variable's value is. */
function withoutVariables(values: Record<string, string>): Env {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => !value.includes('${')))
}

/** Keys that somebody wrote into the settings of a server. */
export function secretsOfServer({ name, settings }: ListedServer<McpServerSettings>): Secret[] {
  return [
    ...findSecrets({ env: withoutVariables(settings.env ?? {}) }),
    ...secretsInHeaders(`mcp ${name}`, withoutVariables(settings.headers ?? {}) as Record<string, string>),
  ]
}
