import type { Decision, DelegationSettings, Profile } from '../../domain/index.js'
import { DEFAULTS } from './defaults.js'
import type { Config } from './schema.js'
import type { ToolName } from './surroundings.js'
import { together } from './together.js'
import { mayNameServerTools, readRule, toolsNamed } from './tools.js'

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
 * not get a stranger's.
 */
export function resolveProfiles(
  files: readonly Config['profiles'][],
  tools: readonly ToolName[],
): Record<string, Profile> {
  const named = Object.entries(together<Record<string, Profile>>({}, files.toReversed()))
  return Object.fromEntries(named.map(([name, profile]) => [name, underOwnNames(profile, tools)]))
}

/** With the tools' own names, which alone are compared with calls. What can mean tools of servers stays as it is. */
export function underOwnNames(profile: Profile, tools: readonly ToolName[]): Profile {
  const { tools: had, deny, ask } = profile
  return {
    ...profile,
    ...(had === undefined ? {} : { tools: ownTools(had, tools) }),
    ...(deny === undefined ? {} : { deny: ownRules('deny', deny, tools) }),
    ...(ask === undefined ? {} : { ask: ownRules('ask', ask, tools) }),
  }
}

function ownTools(had: readonly string[], tools: readonly ToolName[]): string[] {
  const calls = had.filter((text) => text.includes('('))
  const names = had.filter((text) => !text.includes('('))
  const others = names.filter(mayNameServerTools)
  return [...new Set([...toolsNamed(names, tools), ...others, ...ownRules('allow', calls, tools)])]
}

function ownRules(decision: Decision, texts: readonly string[], tools: readonly ToolName[]): string[] {
  return texts.map((text) => {
    const read = readRule(decision, text, tools)
    // The schema refuses what cannot be read, so files have been through it.
    if (!read.ok) throw new Error(read.fault.message)
    const { tool, pattern } = read.rule
    return pattern === null ? tool : `${tool}(${pattern})`
  })
}
