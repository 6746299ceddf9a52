import {
  type EngineName,
  environmentEngine,
  environmentStore,
  type Origin,
  type Places,
  type ResolvedConfig,
} from '../control/index.js'
import { isDatabaseUrl, type ModelSource } from '../domain/index.js'
import { createModels } from '../models/index.js'
import type { Retinue, Settings } from './api.js'
import { createRetinue } from './create.js'
import { RetinueError } from './errors.js'
import { checkOptions, openOptionsSchema } from './options.js'
import { type ProjectOptions, readProject } from './project/project.js'
import { configuredSecrets, findReach, profileFinder } from './project/sources.js'
import { startWorker, type Worker, type WorkerOptions } from './workers/worker.js'

export type OpenOptions = ProjectOptions & {
  /** Instead of the configured one. */
  store?: string
  /** The same. */
  engine?: EngineName
  max_concurrent?: number
}

/** Opens a project folder with the configuration that holds there: the user's file, the project's, the defaults. */
export async function openRetinue(options: OpenOptions): Promise<Retinue> {
  checkOptions(openOptionsSchema, options)
  return (await openProject(options)).retinue
}

/** The same, with what it was made of. */
export async function openProject(options: OpenOptions) {
  const { made, ...project } = await projectOptions(options)
  return { ...project, retinue: await createRetinue(made), store: made.store }
}

export type OpenWorkerOptions = Omit<OpenOptions, 'engine' | 'max_concurrent'> &
  Pick<WorkerOptions, 'concurrency' | 'labels' | 'at_once' | 'per_run' | 'say'>

/** A worker of a project folder, with the configuration that holds there: what is said here stands before that. */
export async function openWorker(given: OpenWorkerOptions): Promise<Worker> {
  const { concurrency, labels, at_once, per_run, say, ...options } = given
  checkOptions(openOptionsSchema, options)
  const { made, config } = await projectOptions({ ...options, engine: 'dbos' })
  if (!isDatabaseUrl(made.store)) {
    throw new RetinueError(
      'config',
      'A worker takes runs from a PostgreSQL database, and the store here is a file: name one with --store postgres://…, RETINUE_STORE, or store in your own configuration',
    )
  }
  const { workers, delegation } = config.config
  const all = at_once ?? workers.at_once
  const run = per_run ?? workers.per_run
  return startWorker({
    ...made,
    concurrency: concurrency ?? workers.concurrency ?? delegation.max_concurrent,
    labels: labels ?? workers.labels,
    ...(all === null ? {} : { at_once: all }),
    ...(run === null ? {} : { per_run: run }),
    ...(say ? { say } : {}),
  })
}

async function projectOptions(options: OpenOptions) {
  const { env, max_concurrent } = options
  const { host, places, loaded, listed } = await readProject(options)
  const { config, origin } = loaded
  const models = createModels({
    env,
    now: host.clock.now,
    providers: config.providers,
    pools: config.pools,
    scripts_root: places.project_dir,
    readText: host.readText,
    idle_timeout_ms: config.idle_timeout_ms,
    ...(config.local_models ? {} : { discover: false as const }),
  })
  const made = {
    cwd: places.project_dir,
    host,
    models,
    env,
    store: options.store ?? storeFromEnvironment(env, places) ?? config.store,
    engine: options.engine ?? engineFromEnvironment(env) ?? config.engine,
    // The person's, as a store that the environment names is.
    ...(env.RETINUE_PROJECT ? { project: env.RETINUE_PROJECT } : {}),
    settings: { ...settingsOf(config, origin), ...(max_concurrent === undefined ? {} : { max_concurrent }) },
    reach: () => findReach(host, places, { config, listed, env }),
    profiles: profileFinder(host, places, loaded),
    secrets: configuredSecrets(config, listed.servers, env),
  }
  return { host, models, config: loaded, listed, made }
}

/** What `RETINUE_STORE` names: it is the person's, as their own file is, and stands before both files. */
function storeFromEnvironment(env: ProjectOptions['env'], places: Places): string | null {
  const named = environmentStore(env, places)
  if (named === null || named.ok) return named?.store ?? null
  throw new RetinueError('config', `RETINUE_STORE: ${named.message}`)
}

/** The same for `RETINUE_ENGINE`. */
function engineFromEnvironment(env: ProjectOptions['env']): EngineName | null {
  const named = environmentEngine(env)
  if (named === null || named.ok) return named?.engine ?? null
  throw new RetinueError('config', `RETINUE_ENGINE: ${named.message}`)
}

function settingsOf(config: ResolvedConfig, origin: (path: string) => Origin): Settings {
  const { permissions } = config
  const { max_concurrent, ...delegation } = config.delegation
  const source: ModelSource = origin('model') === 'project' ? 'project' : 'user'
  // What nobody asked for is left to the contract's own defaults, so that a clamp of it is no news.
  const asked = Object.entries(config.budget).filter(([name]) => origin(`budget.${name}`) !== 'default')
  return {
    ...(config.model === null ? {} : { model: { name: config.model, source } }),
    mode: config.mode,
    rules: permissions.rules,
    tools: permissions.tools,
    read_paths: permissions.read_paths,
    write_paths: permissions.write_paths,
    ...(permissions.network === null ? {} : { network: permissions.network }),
    ...(permissions.mcp_servers === null ? {} : { mcp_servers: permissions.mcp_servers }),
    ...(permissions.skills === null ? {} : { skills: permissions.skills }),
    mcp_tools: permissions.mcp_tools,
    sandbox: config.sandbox,
    secrets: config.secrets,
    budget: Object.fromEntries(asked),
    instructions: config.instructions,
    limits: config.limits,
    max_attempts: config.retry.max_attempts,
    model_timeout_ms: config.model_timeout_ms,
    max_concurrent,
    labels: config.workers.labels,
    workspace: config.workspace,
    delegation,
    principals: config.principals,
  }
}
