import { DELEGATION_TOOLS, matchesName, quoted } from '../../domain/index.js'
import type { Path } from '../config/yaml-nodes.js'
import { type ReadCall, readCall } from './calls.js'
import { type Draft, inWords, leaveOut, narrowList, note, readNames, refuse, took } from './draft.js'

/** `tools`: a list, a text with commas, or opencode's mapping from names to true and false. */
export function readTools(draft: Draft, key: string, value: unknown) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return readSwitches(draft, key, value)
  const read = readNames(key, value)
  if (!read.ok) return refuse(draft, read.path, read.message)
  narrowing(draft, () => allow(draft, key, read.names, inWords(value)))
}

/** `disallowedTools`, and the lists of rules `deny` and `ask`. */
export function readRules(use: 'deny' | 'ask'): (draft: Draft, key: string, value: unknown) => void {
  return (draft, key, value) => {
    const read = readNames(key, value)
    if (!read.ok) return refuse(draft, read.path, read.message)
    const before = spoken(draft)
    for (const { name, path } of read.names) forbid(draft, use, name, path)
    took(draft, key, `${inWords(value)} -> ${said(before, spoken(draft), use)}`)
  }
}

/** Of two keys that each have a list of tools, an agent has what both have. */
export function narrowing(draft: Draft, read: () => void) {
  const before = draft.tools
  draft.tools = null
  read()
  draft.tools = before === null || draft.tools === null ? (draft.tools ?? before) : common(before, draft.tools)
}

/** Calls that match two patterns cannot be told from those that match one: they are left out, which is narrower. */
function common(a: readonly string[], b: readonly string[]): string[] {
  const pairs = a.flatMap((x) => b.map((y) => [x, y] as const))
  const both = pairs.flatMap(([x, y]) => {
    const [one, other] = [toolOf(x), toolOf(y)]
    if (x === y || (x === one && matchesName(x, other))) return [y]
    return y === other && matchesName(y, one) ? [x] : []
  })
  return [...new Set(both)]
}

type Named = { name: string; path: Path }

/** Adds to the list of tools, which there is from now on, however short. */
function allow(draft: Draft, key: string, names: readonly Named[], written: string) {
  const { everything, missing } = grant(draft, names)
  took(draft, key, `${written} -> ${everything ? 'all that its parent has' : draft.tools?.join(', ') || 'none'}`)
  if (missing.length === 0 || everything) return
  leaveOut(
    draft,
    key,
    `${missing.join(', ')} left out: there is no such tool here, and without it the list is narrower`,
  )
}

/** The same without a report. `missing`: what Retinue does not have. */
export function grant(draft: Draft, names: readonly Named[]): { everything: boolean; missing: string[] } {
  const calls = names.map(({ name, path }) => ({ name, path, call: readCall(name, 'allow', draft.surroundings.tools) }))
  for (const { call, path } of calls) if (call.kind === 'fault') refuse(draft, path, call.message)
  const spawned = calls.flatMap(({ call }) => (call.kind === 'spawn' ? [call.names] : []))
  const agents = spawned.flatMap((one) => one ?? [])
  const skills = calls.flatMap(({ call }) => (call.kind === 'skill' ? [call.name] : []))
  if (spawned.length > 0) draft.profile.can_spawn_children = true
  if (agents.length > 0) narrowList(draft, 'may_spawn', agents)
  if (skills.length > 0) narrowList(draft, 'skills', skills)
  const everything = calls.some(({ call }) => call.kind === 'everything')
  const entries = calls.flatMap(({ call }) => entriesOf(call))
  if (!everything) draft.tools = [...new Set([...(draft.tools ?? []), ...entries])]
  return { everything, missing: calls.flatMap(({ call, name }) => (call.kind === 'missing' ? [name] : [])) }
}

function entriesOf(call: ReadCall): readonly string[] {
  if (call.kind === 'calls') return call.entries
  if (call.kind === 'spawn') return ['spawn_agent']
  return call.kind === 'skill' ? ['load_skill'] : []
}

/** Tools that hand work on. */
export const SPAWNING = ['spawn', 'spawn_agent', 'delegate_task']

/** Refuses calls, or has a person asked about them. */
export function forbid(draft: Draft, use: 'deny' | 'ask', name: string, path: Path) {
  const call = readCall(name, use, draft.surroundings.tools)
  if (call.kind === 'fault') refuse(draft, path, call.message)
  else if (call.kind === 'missing') note(draft, String(path[0]), `there is no ${name} here that could be used`)
  else if (call.kind === 'everything' && use === 'deny') draft.tools = []
  else if (call.kind === 'everything') draft.ask.push('*')
  else if (call.kind === 'calls') draft[use].push(...call.entries)
  else if (call.kind === 'spawn' && use === 'deny') draft.no_spawn = true
  else if (call.kind === 'spawn') draft.ask.push(...SPAWNING)
}

/** opencode: what is false is taken away; with `"*": false`, all but what is true. */
function readSwitches(draft: Draft, key: string, value: object) {
  const switches = Object.entries(value)
  for (const [name, on] of switches) {
    if (typeof on !== 'boolean') refuse(draft, [key, name], `${key}.${name} must be true or false, not ${quoted(on)}`)
  }
  const only = switches.some(([name, on]) => name === '*' && on === false)
  const names = switches.flatMap(([name, on]) => (name !== '*' && on === only ? [{ name, path: [key, name] }] : []))
  if (only) return narrowing(draft, () => allow(draft, key, names, inWords(value)))
  const before = spoken(draft)
  for (const { name, path } of names) {
    // One word for all three there: who has lost one of them changes no files.
    const all = /^(?:edit|write|patch)$/.test(name) ? ['write', 'edit'] : [name]
    for (const one of all) forbid(draft, 'deny', one, path)
  }
  took(draft, key, `${inWords(value)} -> ${said(before, spoken(draft), 'deny')}`)
}

function spoken({ deny, ask, no_spawn }: Draft): { deny: string[]; ask: string[]; no_spawn: boolean } {
  return { deny: [...deny], ask: [...ask], no_spawn }
}

function said(before: ReturnType<typeof spoken>, after: ReturnType<typeof spoken>, use: 'deny' | 'ask'): string {
  const more = after[use].slice(before[use].length)
  const spawns = before.no_spawn === after.no_spawn ? [] : ['can_spawn_children: false']
  return [...(more.length > 0 ? [`${use}: ${more.join(', ')}`] : []), ...spawns].join('; ') || 'nothing to take away'
}

/** The tools and rules that it all comes to. What is refused as a whole is not in the list of tools at all. */
export function settleTools(draft: Draft) {
  const { profile, tools } = draft
  if (draft.no_spawn) profile.can_spawn_children = false
  const deny = [...new Set(draft.deny)].filter((rule, _, all) => !rule.includes('(') || !all.includes(toolOf(rule)))
  const ask = [...new Set(draft.ask)]
  if (deny.length > 0) profile.deny = deny
  if (ask.length > 0) profile.ask = ask
  if (deny.includes('write_file') && !deny.includes('edit_file') && (tools?.includes('edit_file') ?? true)) {
    note(draft, 'write_file', 'edit_file is refused with it: who may not write a file may not change it either')
  }
  if (tools === null) return
  const is_gone = (tool: string) => {
    return deny.includes(tool) || (profile.can_spawn_children === false && DELEGATION_TOOLS.includes(tool))
  }
  profile.tools = tools.filter((entry) => !is_gone(toolOf(entry)))
  const has_loader = profile.tools.some((entry) => matchesName(entry, LOADER))
  if ((profile.skills?.length ?? 0) === 0 || has_loader || deny.includes(LOADER)) return
  profile.tools.push(LOADER)
  note(draft, 'skills', `${LOADER} is added to its tools, since that is how skills are loaded`)
}

const LOADER = 'load_skill'

function toolOf(entry: string): string {
  return entry.split('(', 1)[0] as string
}
