import { createHash } from 'node:crypto'
import type { ProfileSource } from '../../domain/index.js'
import { HANDLE, type NamedProfile, nearest, type RegistryEntry } from '../../domain/index.js'
import type { FoundProfile } from './found.js'

/** Every profile and agent that there is at one moment. A run keeps the one that it began, or went on, with. */
export type Catalog = {
  /** In the order of their names. */
  profiles: ReadonlyMap<string, CatalogEntry>
  /** In the order of their handles. */
  agents: ReadonlyMap<string, RegistryEntry>
}

/** `shadows`: those of its name that it stands before, the nearest first. */
export type CatalogEntry = FoundProfile & { shadows: ProfileSource[] }

export const NO_CATALOG: Catalog = { profiles: new Map(), agents: new Map() }

/** `found`: later ones stand before earlier ones of their name. */
export function createCatalog(found: readonly FoundProfile[], agents: readonly RegistryEntry[]): Catalog {
  const profiles = new Map<string, CatalogEntry>()
  for (const one of found) {
    const before = profiles.get(one.name)
    profiles.set(one.name, { ...one, shadows: before ? [before.source, ...before.shadows] : [] })
  }
  return {
    profiles: new Map([...profiles].sort(([a], [b]) => (a < b ? -1 : 1))),
    agents: new Map(agents.map((entry) => [entry.agentId, entry] as const).sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** What a catalog had in it, by which it is known again: names and handles with digests. */
export type CatalogDigests = { profiles: Record<string, string>; agents: Record<string, string> }

export function catalogDigests({ profiles, agents }: Catalog): CatalogDigests {
  const usable = [...profiles].flatMap(([name, { profile }]) =>
    profile === null ? [] : [[name, shortDigest(profile)]],
  )
  return {
    profiles: Object.fromEntries(usable),
    agents: Object.fromEntries([...agents].map(([handle, entry]) => [handle, shortDigest(entry)])),
  }
}

/**
 * Of a catalog, what a run may still use that began with another one: what is the same. A file that was changed since,
 * by an agent of that run for all anybody knows, must not be what its sub-agents are held to.
 */
export function sameAsBefore(catalog: Catalog, before: CatalogDigests): Catalog {
  const profiles = [...catalog.profiles].map(([name, entry]): [string, CatalogEntry] => {
    const isSame = entry.profile === null || before.profiles[name] === shortDigest(entry.profile)
    return [name, isSame ? entry : { ...entry, profile: null, fault: CHANGED }]
  })
  const agents = [...catalog.agents].filter(([handle, entry]) => before.agents[handle] === shortDigest(entry))
  return { profiles: new Map(profiles), agents: new Map(agents) }
}

const CHANGED = 'it was changed after this run began; a new run can use it'

export type ResolvedProfile =
  | { ok: true; profile: NamedProfile; entry: RegistryEntry | null }
  | { ok: false; message: string }

/** What a name or a handle stands for. */
export function resolveProfile(catalog: Catalog, asked: string): ResolvedProfile {
  if (!asked.startsWith('@')) return profileOf(catalog, asked, null)
  const entry = catalog.agents.get(asked)
  if (entry) return profileOf(catalog, entry.profileId, entry)
  const handles = [...catalog.agents.keys()]
  if (!HANDLE.test(asked)) return no(`"${asked}" is no handle: @ and 2 to 32 lower-case letters, digits, - and _.`)
  return no(
    handles.length > 0
      ? `There is no agent ${asked}${hint(asked, handles)}. Agents: ${handles.join(', ')}.`
      : `There is no agent ${asked}: none is registered.`,
  )
}

function profileOf(catalog: Catalog, name: string, entry: RegistryEntry | null): ResolvedProfile {
  const found = catalog.profiles.get(name)
  if (!found && entry)
    return no(`The agent ${entry.agentId} points at the profile "${name}", which does not exist any more.`)
  if (!found) {
    const names = [...catalog.profiles.keys()]
    return no(
      names.length > 0
        ? `Unknown profile "${name}"${hint(name, names)}. Profiles: ${names.join(', ')}.`
        : `Unknown profile "${name}": no profiles are configured. Leave it out.`,
    )
  }
  // Never one that it stands before: whoever asks for a profile gets that one or an error.
  if (found.profile === null) return no(`The profile ${name} cannot be used: ${found.fault}`)
  const { profile, kept } = found
  const unmet = typeof kept.model === 'string' ? { unmet_model: kept.model } : {}
  return { ok: true, profile: { name, profile, digest: digestOf(profile), ...unmet }, entry }
}

function hint(asked: string, names: readonly string[]): string {
  const near = nearest(asked, names)
  return near === null ? '' : ` (did you mean ${near}?)`
}

function no(message: string): ResolvedProfile {
  return { ok: false, message }
}

/** Enough to tell versions of one profile from each other. */
function shortDigest(value: object): string {
  return digestOf(value).slice(0, 16)
}

/** Files that did not change give the same object again, and what it says may be long. */
const digests = new WeakMap<object, string>()

function digestOf(value: object): string {
  const known = digests.get(value)
  if (known !== undefined) return known
  const digest = createHash('sha256').update(JSON.stringify(value)).digest('hex')
  digests.set(value, digest)
  return digest
}
