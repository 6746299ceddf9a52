import type { DelegationSettings, Profile } from '../../domain/index.js'
import { DEFAULTS } from './defaults.js'
import type { Config } from './schema.js'
import type { ToolName } from './surroundings.js'
import { together } from './together.js'
import { mayNameServerTools, toolsNamed } from './tools.js'

/** `max_concurrent` is of all runs, and profiles stand beside. */
export type ResolvedDelegation = Omit<DelegationSettings, 'profiles'> & { max_concurrent: number }

export function resolveDelegation(files: readonly Config['delegation'][]): ResolvedDelegation {
  const budget = together(
    DEFAULTS.delegation.budget,
    files.map((file) => file?.budget),
  )
  return { ...together(DEFAULTS.delegation, files), budget }
}

/**
 * An earlier file's profile wins over a later one's of that name, as a whole: whoever asks for a profile of theirs must
 * not get a stranger's. Tools are under their own names; names of servers' tools and patterns for them stay as they are.
 */
export function resolveProfiles(
  files: readonly Config['profiles'][],
  tools: readonly ToolName[],
): Record<string, Profile> {
  const named = Object.entries(together<Record<string, Profile>>({}, files.toReversed()))
  return Object.fromEntries(
    named.map(([name, profile]) => {
      if (profile.tools === undefined) return [name, profile]
      const others = profile.tools.filter(mayNameServerTools)
      return [name, { ...profile, tools: [...new Set([...toolsNamed(profile.tools, tools), ...others])] }]
    }),
  )
}
