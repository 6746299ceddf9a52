import { type ImportOptions, type ImportReport, importAgentFiles } from '../../control/index.js'
import { type ProjectOptions, readProject } from './project.js'
import { agentFileSurroundings } from './sources.js'

/** Copies agents that other tools have, in a project and in the home folder, into files of ours. */
export async function importAgents({ cwd, env, ...options }: ProjectOptions & ImportOptions): Promise<ImportReport> {
  const { host, places, loaded } = await readProject({ cwd, env })
  return importAgentFiles(host, places, agentFileSurroundings(loaded), options)
}
