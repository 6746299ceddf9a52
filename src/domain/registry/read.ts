import { isObject, kindOf } from '../plain.js'
import { readEntry } from './entry.js'
import { type RegistryFault, unknownKeys } from './faults.js'
import { type AgentRegistry, REGISTRY_LIMITS, type RegistryEntry } from './registry.js'

export type ReadRegistry = { ok: true; value: AgentRegistry } | { ok: false; faults: RegistryFault[] }

const KEYS = ['version', 'agents']

/**
 * Reads a registry that somebody wrote: the value, or everything that is wrong with it. `profileIds`: the profiles that
 * there are; null where it is not asked, because a profile may go after its agent was registered.
 */
export function readRegistry(value: unknown, profileIds: Iterable<string> | null): ReadRegistry {
  if (!isObject(value)) {
    return no([{ path: '', message: `the registry must be an object with version and agents, not ${kindOf(value)}` }])
  }
  const faults = [...unknownKeys(value, KEYS, ''), ...versionFaults(value.version)]
  if (!Array.isArray(value.agents)) {
    const what =
      value.agents === undefined
        ? 'is missing: it is the list of agents'
        : `must be a list, not ${kindOf(value.agents)}`
    return no([...faults, { path: 'agents', message: `${what}; an empty list: none` }])
  }
  // One message, and no look at the agents: so many were not written by hand, and all their faults would be no help.
  if (value.agents.length > REGISTRY_LIMITS.agents) {
    const message = `there are ${value.agents.length} agents: a registry has at most ${REGISTRY_LIMITS.agents}`
    return no([...faults, { path: 'agents', message }])
  }
  const profiles = profileIds === null ? null : new Set(profileIds)
  const agents: RegistryEntry[] = []
  const first = new Map<string, number>()
  for (const [i, item] of Array.from(value.agents).entries()) {
    const read = readEntry(item, `agents[${i}]`, profiles)
    if (!read.ok) faults.push(...read.faults)
    else agents.push(read.entry)
    const handle = isObject(item) ? item.agentId : undefined
    if (typeof handle !== 'string' || (!read.ok && read.faults.some(({ path }) => path.endsWith('.agentId')))) continue
    const earlier = first.get(handle)
    if (earlier === undefined) first.set(handle, i)
    else faults.push({ path: `agents[${i}].agentId`, message: `${handle} is the handle of agents[${earlier}] too` })
  }
  return faults.length > 0 ? no(faults) : { ok: true, value: { version: 1, agents } }
}

function versionFaults(version: unknown): RegistryFault[] {
  if (version === 1) return []
  const what =
    version === undefined
      ? 'is missing'
      : `must be the number 1, not ${typeof version === 'string' ? JSON.stringify(version.slice(0, 20)) : kindOf(version)}`
  return [{ path: 'version', message: version === undefined ? `${what}: it is 1` : what }]
}

function no(faults: RegistryFault[]): ReadRegistry {
  return { ok: false, faults }
}
