import type { ServerSettings } from '../../control/index.js'
import { type ProjectOptions, readProject } from './project.js'

/** How the folder's server is reached, and by whom, as the person's own file says. */
export async function serverSettings(options: ProjectOptions): Promise<ServerSettings> {
  const { loaded } = await readProject(options)
  return loaded.config.server
}
