import type { Authority } from './authority.js'
import { readToolEntry, type ToolEntry } from './call-patterns.js'
import type { Adjustment } from './contract.js'
import { DELEGATION_TOOLS, type DelegationRequest } from './delegation.js'
import type { NamedProfile } from './derive.js'
import { globFault } from './glob-fault.js'
import type { Profile } from './profile.js'
import type { RegistryEntry } from './registry/registry.js'
import { matchesName, parseRule, type Rule } from './rules.js'

/** What an agent's authority is made from: what there is to be had, and everybody who says how much of it. */
export type Narrowing = {
  /** Its parent's authority; for a root agent, what its run was given. */
  above: Authority
  /** Whose that is, in words. */
  giver: 'its parent' | 'the run'
  profile: NamedProfile | null
  entry: RegistryEntry | null
  request: Pick<DelegationRequest, 'tools' | 'mode' | 'skills' | 'mcp_servers' | 'owns' | 'isolation'>
  /** Every tool there is, and those that ship and are not set up here. */
  known_tools: readonly string[]
  nameable_tools: readonly string[]
}

/** Tools whose calls have no command, path or address that a pattern could match, and where to say it instead. */
const PATTERNLESS: Record<string, string> = {
  ...Object.fromEntries(DELEGATION_TOOLS.map((tool) => [tool, 'say in may_spawn whom it may spawn'])),
  load_skill: 'say in skills which it has',
  ask_user: 'write the tool alone',
  read_output: 'write the tool alone',
}

/** Why an agent cannot be held to what its profile says, or null: a boundary that nobody understands is none. */
export function profileObstacle({
  profile,
  known_tools,
  nameable_tools,
}: Pick<Narrowing, 'profile' | 'known_tools' | 'nameable_tools'>): string | null {
  if (profile === null) return null
  const { name, profile: says } = profile
  const faults = profileEntries(says)
    .map(({ field, text }) => entryFault(field, text))
    .concat(globsOf(says).map(({ field, glob }) => globFault(glob, field)))
    .filter((fault) => fault !== null)
  if (faults.length > 0) return `the profile ${name} cannot be enforced: ${faults.join('; ')}`
  const names = [...known_tools, ...nameable_tools]
  // A server that is not connected today may be tomorrow.
  const isNameable = (tool: string) => tool.startsWith('mcp__') || names.some((one) => matchesName(tool, one))
  const unknown = profileEntries(says)
    .filter(({ text }) => !isNameable(toolOf(text)))
    .map(({ text }) => text)
  return unknown.length === 0 ? null : `the profile ${name} names unknown tools: ${[...new Set(unknown)].join(', ')}`
}

/** A list of tools as values. What cannot be read names nothing. */
export function toolEntries(list: readonly string[]): ToolEntry[] {
  return list.flatMap((text) => {
    const read = readToolEntry(text)
    return read.ok ? [read.entry] : []
  })
}

/** What a profile refuses and asks about. */
export function profileRules({ deny = [], ask = [] }: Profile): Rule[] {
  const rules = [...deny.map((text) => parseRule('deny', text)), ...ask.map((text) => parseRule('ask', text))]
  return rules.flatMap((parsed) => (parsed.ok ? [parsed.rule] : []))
}

/** Whether a profile says that its agents may have sub-agents; undefined where it says nothing. */
export function wantsSubAgents(profile: NamedProfile | null): boolean | undefined {
  const { can_spawn_children, may_spawn } = profile?.profile ?? {}
  if (can_spawn_children === false || may_spawn?.length === 0) return false
  return can_spawn_children ?? (may_spawn === undefined ? undefined : true)
}

/** Whom a profile's agents may spawn, of those that whoever is above may; absent: whomever. */
export function allowedProfiles({ above, giver, profile }: Pick<Narrowing, 'above' | 'giver' | 'profile'>): {
  names: string[] | undefined
  adjustments: Adjustment[]
} {
  const { allowed_profiles } = above
  const listed = profile?.profile.may_spawn
  if (listed === undefined || allowed_profiles === undefined)
    return { names: listed ?? allowed_profiles, adjustments: [] }
  const reason = `${giver} may only spawn ${allowed_profiles.join(', ') || 'nobody'}`
  const missing = [...new Set(listed)].filter((name) => !allowed_profiles.includes(name))
  return {
    names: listed.filter((name) => allowed_profiles.includes(name)),
    adjustments: missing.map((asked) => ({ field: 'permissions.allowed_profiles', asked, given: 'none', reason })),
  }
}

type Entry = { field: 'tools' | 'deny' | 'ask'; text: string }

function profileEntries({ tools = [], deny = [], ask = [] }: Profile): Entry[] {
  return [
    ...tools.map((text) => ({ field: 'tools' as const, text })),
    ...deny.map((text) => ({ field: 'deny' as const, text })),
    ...ask.map((text) => ({ field: 'ask' as const, text })),
  ]
}

function globsOf({ read_paths = [], write_paths = [] }: Profile): { field: string; glob: string }[] {
  return [
    ...read_paths.map((glob) => ({ field: 'read_paths', glob })),
    ...write_paths.map((glob) => ({ field: 'write_paths', glob })),
  ]
}

function entryFault(field: Entry['field'], text: string): string | null {
  const read = field === 'tools' ? readToolEntry(text) : parseRule(field, text)
  if (!read.ok) return `${field}: ${read.message}`
  const { tool, pattern } = 'entry' in read ? read.entry : read.rule
  if (pattern === null) return null
  const instead = tool.startsWith('mcp__') ? 'write the tool alone' : PATTERNLESS[tool]
  return instead === undefined ? null : `${field}: "${text}" has a pattern that no call could match: ${instead}`
}

function toolOf(text: string): string {
  return text.trim().split('(', 1)[0] as string
}
