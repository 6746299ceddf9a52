import {
  type AgentRegistry,
  type ControlRecord,
  faultsInWords,
  HANDLE,
  HANDLE_FAULT,
  nearest,
  parseRegistryText,
  quoted,
  REGISTRY_ID,
  type RegistryFault,
  readEntry,
  readRegistry,
} from '../../domain/index.js'
import { type ControlDone, type ControlRefusal, done, refused } from '../done.js'
import { profileFault } from '../pins/stored.js'
import type { ControlPlace } from '../place.js'
import { secretIn } from '../secret-in.js'
import { loadRegistry, type StoredRegistry } from './stored.js'

/** Of all that want to change it at once, each try lets at least one through. */
const TRIES = 200

/** Replaces the registry, if it still has the version that was seen. `value`: it, or the text of its JSON. */
export async function replaceRegistry(
  place: ControlPlace,
  value: unknown,
  expected_version: number,
): Promise<ControlDone<StoredRegistry>> {
  const secret = secretIn(place, value)
  if (secret) return secret
  const profiles = (await place.catalog()).profiles.keys()
  const read = typeof value === 'string' ? parseRegistryText(value, profiles) : readRegistry(value, profiles)
  if (!read.ok) return faulty(read.faults)
  const put = await write(place, read.value, expected_version)
  if (!put.ok) {
    const now = put.current === 0 ? 'there is none now' : `it has version ${put.current} now`
    return refused(
      'conflict',
      `The registry was changed since version ${expected_version}, ${now}: read it again and make your change there.`,
    )
  }
  const { version } = put.record
  return done({ version, value: read.value }, `The registry has version ${version} and ${counted(read.value)}.`)
}

/**
 * Adds an agent, or puts it in place of the one that has its handle. `keep`: lists that are not given stay as that one
 * has them, so that a new description does not take a limit away.
 */
export async function registerAgent(
  place: ControlPlace,
  given: unknown,
  { keep = false }: { keep?: boolean } = {},
): Promise<ControlDone<StoredRegistry>> {
  const secret = secretIn(place, given)
  if (secret) return secret
  const catalog = await place.catalog()
  const read = readEntry(given, '', new Set(catalog.profiles.keys()))
  if (!read.ok) return faulty(read.faults)
  const broken = profileFault(read.entry.profileId, catalog)
  if (broken !== null) return faulty([{ path: 'profileId', message: broken }])
  return change(place, (registry) => {
    const replaced = registry.agents.find(({ agentId }) => agentId === read.entry.agentId)
    const entry = keep ? { ...replaced, ...read.entry } : read.entry
    const agents = replaced
      ? registry.agents.map((other) => (other === replaced ? entry : other))
      : [...registry.agents, entry]
    // Only the whole has a limit on how many there are. Profiles of others may be gone: that is no fault of this one.
    const checked = readRegistry({ version: 1, agents }, null)
    if (!checked.ok) return faulty(checked.faults)
    const before = replaced ? `, in place of the one for ${quoted(replaced.profileId)}` : ''
    const kept = Object.keys(entry).filter((field) => !Object.hasOwn(read.entry, field))
    const as_before = kept.length > 0 ? ` As before: ${kept.join(', ')}.` : ''
    return done(
      checked.value,
      `${entry.agentId} is registered for the profile ${entry.profileId}${before}.${as_before}`,
    )
  })
}

export async function unregisterAgent(place: ControlPlace, handle: string): Promise<ControlDone<StoredRegistry>> {
  if (!HANDLE.test(handle)) return refused('input', `${quoted(handle)} is no handle: ${HANDLE_FAULT}.`)
  return change(place, (registry) => {
    const agents = registry.agents.filter(({ agentId }) => agentId !== handle)
    if (agents.length < registry.agents.length)
      return done({ version: 1, agents }, `${handle} is not registered any more.`)
    const near = nearest(
      handle,
      registry.agents.map(({ agentId }) => agentId),
    )
    return refused('not_found', `There is no agent ${handle}${near === null ? '' : ` (did you mean ${near}?)`}.`)
  })
}

/** `profile`: of that profile in the store instead. */
export async function registryHistory(
  { records }: ControlPlace,
  profile?: string,
): Promise<ControlDone<ControlRecord[]>> {
  const versions = await (profile === undefined
    ? records.recordHistory('policy', REGISTRY_ID)
    : records.recordHistory('profile', profile))
  const what = profile === undefined ? 'The registry' : `The profile ${quoted(profile)}`
  return done(versions, `${what} had ${versions.length === 1 ? '1 version' : `${versions.length} versions`}.`)
}

/** A change of one entry is made again on what another editor wrote meanwhile. */
async function change(
  place: ControlPlace,
  make: (registry: AgentRegistry) => ControlDone<AgentRegistry>,
): Promise<ControlDone<StoredRegistry>> {
  for (let tried = 0; tried < TRIES; tried++) {
    const stored = await loadRegistry(place.records)
    if (!stored.ok) return stored
    const made = make(stored.value.value)
    if (!made.ok) return made
    const put = await write(place, made.value, stored.value.version)
    if (put.ok) return done({ version: put.record.version, value: made.value }, made.said)
  }
  return refused('conflict', 'The registry is being changed by others all the time: try again.')
}

function write({ records, principal }: ControlPlace, value: AgentRegistry, expected_version: number) {
  return records.putRecord({ type: 'policy', id: REGISTRY_ID, value, by: principal.id, expected_version })
}

function faulty(faults: readonly RegistryFault[]): ControlRefusal {
  return refused('input', faultsInWords(faults))
}

function counted({ agents }: AgentRegistry): string {
  return agents.length === 1 ? '1 agent' : `${agents.length} agents`
}
