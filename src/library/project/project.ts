import { configHome, formatProblems, listServers, loadConfig } from '../../control/index.js'
import { createHost } from '../../host/index.js'
import { mcpServerSettingsSchema } from '../../tools/index.js'
import { RetinueError } from '../errors.js'
import { createConfigSurroundings } from './configuration.js'
import { openFolder } from './folder.js'

export type ProjectOptions = {
  /** The project folder. */
  cwd: string
  env: Record<string, string | undefined>
}

/** What the files of a project and of its user say: configuration and MCP servers. Starts nothing. */
export async function readProject({ cwd, env }: ProjectOptions) {
  const host = createHost()
  const project_dir = await openFolder(host, cwd)
  const home = env.HOME ?? host.home
  const places = { project_dir, home, config_home: configHome(env, home) }
  const read = (path: string) => host.readText(path)
  const loaded = await loadConfig({ ...places, read, surroundings: createConfigSurroundings() })
  if (!loaded.ok) throw new RetinueError('config', formatProblems(loaded.problems))
  const configured = Object.entries(loaded.mcp_servers).map(([name, server]) => ({ name, ...server }))
  const listed = await listServers({ ...places, read, configured, schema: mcpServerSettingsSchema })
  return { host, places, loaded, listed }
}
