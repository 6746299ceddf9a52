import type { Budget, Mode, PrincipalRole, Profile, ToolLimits, WorkspaceSettings } from '../../domain/index.js'
import { DEFAULTS, type SandboxSetting } from './defaults.js'
import { DEFAULT_ENGINE, type EngineName } from './engine.js'
import { type ResolvedDelegation, resolveDelegation, resolveProfiles } from './resolve-delegation.js'
import { type ResolvedPermissions, resolvePermissions } from './resolve-permissions.js'
import type { Config } from './schema.js'
import { SERVER_DEFAULTS, type ServerSettings } from './server.js'
import { storeOf } from './store.js'
import type { Places, Surroundings } from './surroundings.js'
import { together } from './together.js'
import { type SearchSettings, searchSettings } from './web.js'
import { WORKER_DEFAULTS, type WorkerSettings } from './workers.js'

/** Configuration with nothing left open. */
export type ResolvedConfig<P = unknown> = {
  /** `provider/model`, or the name of a pool; null when nobody chose one. */
  model: string | null
  /** By name; each with at least one model. */
  pools: Record<string, string[]>
  mode: Mode
  permissions: ResolvedPermissions
  sandbox: SandboxSetting
  budget: Budget
  delegation: ResolvedDelegation
  /** By name, with the tools' own names. */
  profiles: Record<string, Profile>
  workspace: WorkspaceSettings
  providers: Record<string, P>
  /** `all`: each file has to be there. `first`: the first that is there, if any. */
  instructions: { take: 'all' | 'first'; files: string[] }
  limits: ToolLimits
  retry: { max_attempts: number }
  model_timeout_ms: number
  idle_timeout_ms: number
  /** An absolute path, or the URL of a PostgreSQL database. */
  store: string
  engine: EngineName
  workers: WorkerSettings
  /** Environment variables whose values are secret, whatever they are called. */
  secrets: string[]
  /** `allow_private` in lower case. */
  web: { allow_private: string[]; search: SearchSettings | null }
  tests: { command: string | null }
  local_models: boolean
  /** What others than the person may do, by name; `*` for everybody else. */
  principals: Record<string, PrincipalRole>
  /** How `retinue serve` is reached, and by whom. */
  server: ServerSettings
}

/**
 * Puts files, widest reach first, and the defaults together. A later file wins setting by setting, a list is replaced
 * as a whole, and so is a provider: half of one must not end up with the key of another. Permissions are different,
 * because nothing may widen them, secrets add up, and of profiles an earlier file's wins.
 */
export function resolveConfig<P>(
  files: readonly Config<P>[],
  surroundings: Omit<Surroundings, 'providers' | 'mcp_servers'>,
  places: Places,
): ResolvedConfig<P> {
  const each = <K extends keyof Config<P>>(key: K) => files.map((file) => file[key])
  const last = <K extends keyof Config<P>>(key: K) => each(key).findLast((said) => said !== undefined)
  const { allow_private, search } = together<NonNullable<Config['web']>>({}, each('web'))
  const instructions = last('instructions')
  return {
    model: last('model') ?? null,
    pools: together<Record<string, string[]>>({}, each('pools')),
    mode: last('mode') ?? DEFAULTS.mode,
    permissions: resolvePermissions(each('permissions'), surroundings.tools),
    sandbox: last('sandbox') ?? DEFAULTS.sandbox,
    budget: together(DEFAULTS.budget, each('budget')),
    delegation: resolveDelegation(each('delegation')),
    profiles: resolveProfiles(each('profiles'), surroundings.tools),
    workspace: together(DEFAULTS.workspace, each('workspace')),
    providers: together<Record<string, P>>({}, each('providers')),
    instructions: instructions
      ? { take: 'all', files: instructions }
      : { take: 'first', files: [...DEFAULTS.instructions] },
    limits: together(surroundings.limits, each('limits')),
    retry: together(DEFAULTS.retry, each('retry')),
    model_timeout_ms: last('model_timeout_ms') ?? DEFAULTS.model_timeout_ms,
    idle_timeout_ms: last('idle_timeout_ms') ?? DEFAULTS.idle_timeout_ms,
    store: storeOf(last('store') ?? DEFAULTS.store, places),
    engine: last('engine') ?? DEFAULT_ENGINE,
    workers: together(WORKER_DEFAULTS, each('workers')),
    secrets: [...new Set(each('secrets').flatMap((said) => said ?? []))],
    web: {
      allow_private: (allow_private ?? []).map((host) => host.toLowerCase()),
      search: search ? searchSettings(search) : null,
    },
    tests: together<{ command: string | null }>({ command: null }, each('tests')),
    local_models: last('local_models') ?? DEFAULTS.local_models,
    principals: together<Record<string, PrincipalRole>>({}, each('principals')),
    server: together(SERVER_DEFAULTS, each('server')),
  }
}
