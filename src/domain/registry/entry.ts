import { nearest } from '../nearest.js'
import { codePoints, hasUnseen, isObject, kindOf, quoted } from '../plain.js'
import { serverNameFault } from '../server-name.js'
import { type RegistryFault, unknownKeys } from './faults.js'
import { HANDLE, HANDLE_FAULT, REGISTRY_LIMITS, type RegistryEntry } from './registry.js'

export type ReadEntry = { ok: true; entry: RegistryEntry } | { ok: false; faults: RegistryFault[] }

type NamesField = 'defaultForwardSkills' | 'allowedForwardSkills' | 'defaultMcpServers' | 'allowedMcpServers'

const NAMES: readonly { field: NamesField; prefix: string; fault: (name: string) => string | null }[] = [
  { field: 'defaultForwardSkills', prefix: 'skill:', fault: skillNameFault },
  { field: 'allowedForwardSkills', prefix: 'skill:', fault: skillNameFault },
  { field: 'defaultMcpServers', prefix: 'mcp:', fault: serverNameFault },
  { field: 'allowedMcpServers', prefix: 'mcp:', fault: serverNameFault },
]

/** What is forwarded unasked is within what may be. */
const WITHIN: readonly [NamesField, NamesField][] = [
  ['defaultForwardSkills', 'allowedForwardSkills'],
  ['defaultMcpServers', 'allowedMcpServers'],
]

const KEYS = ['agentId', 'profileId', 'description', ...NAMES.map(({ field }) => field), 'tags']

/** One agent of a registry, with names of skills and servers as they are without their prefixes. */
export function readEntry(value: unknown, path: string, profiles: ReadonlySet<string> | null): ReadEntry {
  if (!isObject(value)) return { ok: false, faults: [{ path, message: `an agent is an object, not ${kindOf(value)}` }] }
  const faults = unknownKeys(value, KEYS, path)
  const { agentId, profileId, description, tags } = value
  const at = (field: string, message: string | null) => {
    if (message !== null) faults.push({ path: path === '' ? field : `${path}.${field}`, message })
  }
  at('agentId', handleFault(agentId))
  at('profileId', profileFault(profileId, profiles))
  at('description', descriptionFault(description))

  const read: Partial<Record<NamesField | 'tags', Names>> = {}
  for (const { field, prefix, fault } of NAMES) {
    if (value[field] === undefined) continue
    const plain = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)
    read[field] = readList(value[field], { most: REGISTRY_LIMITS.names, plain, fault }, (index, message) =>
      at(`${field}${index}`, message),
    )
  }
  if (tags !== undefined) {
    const rules = { most: REGISTRY_LIMITS.tags, plain: (tag: string) => tag, fault: tagFault }
    read.tags = readList(tags, rules, (index, message) => at(`tags${index}`, message))
  }
  for (const [defaults, allowed] of WITHIN) {
    const most = read[allowed]
    if (most === undefined) continue
    for (const [name, i] of read[defaults] ?? []) {
      if (most.has(name)) continue
      at(`${defaults}[${i}]`, `${quoted(name)} is not in ${allowed}: add it there, or leave it out here`)
    }
  }
  if (faults.length > 0) return { ok: false, faults }
  const lists = Object.fromEntries(Object.entries(read).map(([field, names]) => [field, [...names.keys()]]))
  return {
    ok: true,
    entry: { agentId: agentId as string, profileId: profileId as string, description: description as string, ...lists },
  }
}

function handleFault(value: unknown): string | null {
  if (value === undefined) return `is missing: ${HANDLE_FAULT}`
  if (typeof value !== 'string') return `must be a text, not ${kindOf(value)}: ${HANDLE_FAULT}`
  return HANDLE.test(value) ? null : `${quoted(value)} is no handle: ${HANDLE_FAULT}`
}

function profileFault(value: unknown, profiles: ReadonlySet<string> | null): string | null {
  if (value === undefined) return 'is missing: it is the name of a profile'
  if (typeof value !== 'string') return `must be the name of a profile, not ${kindOf(value)}`
  if (profiles === null || profiles.has(value)) return null
  const near = nearest(value, [...profiles])
  return `there is no profile ${quoted(value)}${near === null ? '' : ` (did you mean ${near}?)`}: retinue agents (in a chat: /agents) lists those that there are`
}

function descriptionFault(value: unknown): string | null {
  const most = REGISTRY_LIMITS.description
  if (value === undefined) return `is missing: say in at most ${most} characters what the agent is good for`
  if (typeof value !== 'string') return `must be a text, not ${kindOf(value)}`
  if (value.trim() === '') return `is empty: say in at most ${most} characters what the agent is good for`
  const count = codePoints(value)
  if (count > most) return `has ${count} characters: it may have at most ${most}`
  return hasUnseen(value)
    ? 'has a line break or another character that cannot be seen: write it in one plain line'
    : null
}

/** Where in its list each of them is. */
type Names = ReadonlyMap<string, number>

type ListRules = { most: number; plain: (item: string) => string; fault: (item: string) => string | null }

/** As far as it can be read. `say`: what is wrong, and at which place, such as `[2]`. */
function readList(value: unknown, rules: ListRules, say: (index: string, message: string) => void): Names {
  if (!Array.isArray(value)) {
    say('', `must be a list of texts, not ${kindOf(value)}`)
    return new Map()
  }
  if (value.length > rules.most) {
    say('', `has ${value.length} entries: it may have at most ${rules.most}`)
    return new Map()
  }
  const seen = new Map<string, number>()
  for (const [i, item] of Array.from(value).entries()) {
    const fault = typeof item === 'string' ? rules.fault(rules.plain(item)) : null
    const name = typeof item === 'string' ? rules.plain(item) : ''
    const earlier = seen.get(name)
    if (typeof item !== 'string') say(`[${i}]`, `must be a text, not ${kindOf(item)}`)
    else if (fault !== null) say(`[${i}]`, `${quoted(item)}: ${fault}`)
    else if (earlier !== undefined) say(`[${i}]`, `${quoted(item)} is there twice: it is [${earlier}] too`)
    else seen.set(name, i)
  }
  return seen
}

function skillNameFault(name: string): string | null {
  if (/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$/u.test(name)) return null
  return 'the name of a skill begins with a letter or digit and has at most 64 letters, digits, dashes and underscores'
}

function tagFault(tag: string): string | null {
  const sound = tag.trim() === tag && tag !== '' && codePoints(tag) <= REGISTRY_LIMITS.tag
  if (sound && !hasUnseen(tag) && !/[<>&"'`,|]/.test(tag)) return null
  return `a tag has 1 to ${REGISTRY_LIMITS.tag} characters: no commas, quotes, bars, <, > and &, and no blanks at its ends`
}
