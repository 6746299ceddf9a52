import { HANDLE, isAtLeast, PIN_SCOPES, pinRecordId, type RegistryEntry } from '../../domain/index.js'
import { type ControlDone, done, refused } from '../done.js'
import { pinPlace } from '../pins/edit.js'
import { effectivePin, listPins, type PinView, profileFault } from '../pins/stored.js'
import type { ControlPlace } from '../place.js'
import { type Catalog, type CatalogEntry, resolveProfile } from '../profiles/catalog.js'
import { loadRegistry } from '../registry/stored.js'

/** Everything that a principal can see of the control plane. `in_effect`: the pin that the next run would have. */
export type AgentsView = {
  registry_version: number
  agents: (RegistryEntry & { fault: string | null })[]
  profiles: ProfileView[]
  pins: PinView[]
  in_effect: PinView | null
  /** What this folder is called in the ids of pins. */
  workspace: string
}

export type ProfileView = CatalogEntry & { handles: string[] }

/** In the order of their names, whatever the order in which they were registered. */
export async function viewAgents(place: ControlPlace): Promise<ControlDone<AgentsView>> {
  const registry = await loadRegistry(place.records)
  if (!registry.ok) return registry
  const catalog = await place.catalog()
  const session = place.session_id === null ? null : await place.session(place.session_id)
  const may_look = isAtLeast(place.principal.role, 'operator') || session?.owner === place.principal.id
  const here = may_look ? place : { ...place, session_id: null }
  const [pins, effective] = await Promise.all([
    listPins(place.records, catalog),
    effectivePin(place.records, pinPlace(here), catalog),
  ])
  const agents = registry.value.value.agents
    .map((entry) => ({ ...entry, fault: profileFault(entry.profileId, catalog) }))
    .sort((a, b) => (a.agentId < b.agentId ? -1 : 1))
  const view: AgentsView = {
    registry_version: registry.value.version,
    agents,
    profiles: [...catalog.profiles.values()].map((entry) => profileView(entry, catalog)),
    pins: pins.filter((pin) => isForEyesOf(here, pin)),
    in_effect: effective.ok ? (effective.pinned?.pin ?? null) : effective.pin,
    workspace: place.workspace,
  }
  return done(view, `${counted(view.agents.length, 'agent')}, ${counted(view.profiles.length, 'profile')}.`)
}

/** What others have pinned for themselves is nobody's business but that of those who keep the place. */
function isForEyesOf(place: ControlPlace, { record_id }: PinView): boolean {
  if (isAtLeast(place.principal.role, 'operator')) return true
  return PIN_SCOPES.some((scope) => pinRecordId(scope, pinPlace(place)) === record_id)
}

export async function showAgent(
  place: ControlPlace,
  asked: string,
): Promise<ControlDone<{ profile: ProfileView; entry: RegistryEntry | null }>> {
  const catalog = await place.catalog()
  const entry = HANDLE.test(asked) ? (catalog.agents.get(asked) ?? null) : null
  // One that is broken can be looked at: that is how somebody finds out why.
  const found = catalog.profiles.get(entry?.profileId ?? asked)
  if (found) return done({ profile: profileView(found, catalog), entry }, `${entry?.agentId ?? found.name} was shown.`)
  const resolved = resolveProfile(catalog, asked)
  return refused('not_found', resolved.ok ? `There is no agent ${asked}.` : resolved.message)
}

function profileView(entry: CatalogEntry, catalog: Catalog): ProfileView {
  const handles = [...catalog.agents.values()].filter(({ profileId }) => profileId === entry.name)
  return { ...entry, handles: handles.map(({ agentId }) => agentId) }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
