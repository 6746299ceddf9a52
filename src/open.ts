import type { Retinue, Settings } from './api.js'
import { createConfigSurroundings } from './configuration.js'
import { configHome, formatProblems, loadConfig, type Origin, type ResolvedConfig } from './control/index.js'
import type { ModelSource } from './domain/index.js'
import { RetinueError } from './errors.js'
import { createHost } from './host/index.js'
import { createModels } from './models/index.js'
import { createRetinue, openFolder } from './retinue.js'

export type OpenOptions = {
  /** The project folder. */
  cwd: string
  env: Record<string, string | undefined>
  /** Instead of the configured one. */
  store?: string
}

/** Opens a project folder with the configuration that holds there: the user's file, the project's, the defaults. */
export async function openRetinue(options: OpenOptions): Promise<Retinue> {
  return (await openProject(options)).retinue
}

/** The same, with what it was made of. */
export async function openProject(options: OpenOptions) {
  const host = createHost()
  const root = await openFolder(host, options.cwd)
  const home = options.env.HOME ?? host.home
  const loaded = await loadConfig({
    project_dir: root,
    home,
    config_home: configHome(options.env, home),
    read: (path) => host.readText(path),
    surroundings: createConfigSurroundings(),
  })
  if (!loaded.ok) throw new RetinueError('config', formatProblems(loaded.problems))
  const { config, origin } = loaded
  const models = createModels({
    env: options.env,
    providers: config.providers,
    scripts_root: root,
    readText: host.readText,
    idle_timeout_ms: config.idle_timeout_ms,
  })
  const retinue = await createRetinue({
    cwd: root,
    host,
    models,
    store: options.store ?? config.store,
    settings: settingsOf(config, origin),
  })
  return { host, models, config: loaded, retinue }
}

function settingsOf(config: ResolvedConfig, origin: (path: string) => Origin): Settings {
  const { permissions } = config
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
    budget: Object.fromEntries(asked),
    instructions: config.instructions,
    limits: config.limits,
    max_attempts: config.retry.max_attempts,
    model_timeout_ms: config.model_timeout_ms,
  }
}
