import { relative } from 'node:path'
import type { FoundProfile } from '../profiles/found.js'
import { isWithin } from './paths.js'
import { underOwnNames } from './resolve-delegation.js'
import type { Config } from './schema.js'
import type { Places, ToolName } from './surroundings.js'

/** The profiles of one file, each with the file as a person would write it. A file with a mistake never gets here. */
export function configuredProfiles(
  scope: 'project' | 'user',
  source: { file: string; config: Config },
  tools: readonly ToolName[],
  places: Places,
): FoundProfile[] {
  const file = shown(source.file, places)
  return Object.entries(source.config.profiles ?? {}).map(([name, profile]) => ({
    name,
    source: { kind: 'config', scope, file },
    notes: [],
    kept: {},
    profile: underOwnNames(profile, tools),
    fault: null,
  }))
}

function shown(file: string, { project_dir, home }: Places): string {
  if (isWithin(project_dir, file)) return relative(project_dir, file)
  return isWithin(home, file) ? `~/${relative(home, file)}` : file
}
