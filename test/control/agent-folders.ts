import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type AgentFileSurroundings, discoverAgentFiles } from '../../src/control/index.js'
import { createHost } from '../../src/host/index.js'
import { createConfigSurroundings } from '../../src/library/project/configuration.js'
import { put } from '../host/helpers.js'

export const host = createHost()

export const SURROUNDINGS: AgentFileSurroundings = {
  tools: createConfigSurroundings().tools,
  pools: ['fast'],
  models_listed: null,
}

/** A project, a home and a folder of configuration below a temporary folder. */
export function placesIn(top: string) {
  for (const name of ['project', 'home', 'config']) mkdirSync(join(top, name), { recursive: true })
  return { project_dir: join(top, 'project'), home: join(top, 'home'), config_home: join(top, 'config') }
}

export type Given = { surroundings?: Partial<AgentFileSurroundings>; prepare?: (top: string) => void }

/** Puts files below a temporary folder and reads the agents in them. */
export async function discover(
  top: string,
  files: Record<string, string | Buffer>,
  { surroundings, prepare }: Given = {},
) {
  const places = placesIn(top)
  put(top, files)
  prepare?.(top)
  return discoverAgentFiles(host, places, { ...SURROUNDINGS, ...surroundings })
}

export const agent = (header: string, body = 'Do it.\n') => `---\n${header}\n---\n${body}`
