import { basename } from 'node:path'
import { parseAgentFile } from '../../control/index.js'
import type { Profile } from '../../domain/index.js'
import { RetinueError } from '../errors.js'
import { type ProjectOptions, readProject } from './project.js'
import { agentFileSurroundings } from './sources.js'

/** The profile that the text of an agent file makes, handed over by the person: as free as one of their own files. */
export async function readAgentFile({
  cwd,
  env,
  file,
  text,
}: ProjectOptions & { file: string; text: string }): Promise<Profile> {
  const { loaded } = await readProject({ cwd, env })
  const parsed = await parseAgentFile(
    { shown: file, base: basename(file), text, scope: 'home', folder: null },
    agentFileSurroundings(loaded),
  )
  if (parsed.profile === null) throw new RetinueError('input', parsed.fault)
  return parsed.profile
}
