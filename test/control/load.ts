import { loadConfig, type Surroundings } from '../../src/control/index.js'
import { createConfigSurroundings } from '../../src/library/project/configuration.js'
import { type ProviderSettings, providersSettingsSchema } from '../../src/models/settings.js'
import { DEFAULT_LIMITS } from '../../src/tools/tool.js'

export const HOME = '/home/ada'
export const PROJECT = '/home/ada/shop'
export const USER_FILE = '/home/ada/.config/retinue/config.yaml'

/** Other rooms as these tests need them: the real providers, servers and limits, few tools. */
export const surroundings: Surroundings<ProviderSettings> = {
  providers: providersSettingsSchema,
  mcp_servers: createConfigSurroundings().mcp_servers,
  tools: [
    { name: 'read_file', aliases: ['read', 'cat'] },
    { name: 'write_file', aliases: ['write'] },
    { name: 'run_command', aliases: ['bash', 'exec_command'] },
    { name: 'git_diff' },
    { name: 'git_log' },
  ],
  limits: DEFAULT_LIMITS,
}

/** Loads from texts: `user` and `project` are the usual files, other keys are paths. */
export function load(texts: Record<string, string>) {
  return loadWith(surroundings, texts)
}

export function loadWith<P, S>(surroundings: Surroundings<P, S>, { user, project, ...others }: Record<string, string>) {
  const files: Record<string, string | undefined> = {
    [USER_FILE]: user,
    [`${PROJECT}/retinue.yaml`]: project,
    ...others,
  }
  return loadConfig({
    read: async (path) => files[path] ?? null,
    project_dir: PROJECT,
    home: HOME,
    config_home: `${HOME}/.config`,
    surroundings,
  })
}
