import {
  type Budget,
  HANDLE,
  hasUnseen,
  ISOLATIONS,
  type Mode,
  narrowerMode,
  nearest,
  PROFILE_NAME,
  type Profile,
  plain,
  plainLine,
  profileSchema,
  quoted,
  serverNameFault,
} from '../../domain/index.js'
import { explain } from '../config/explain.js'
import { fieldsOf } from '../config/fields.js'
import { workspacePathFault } from '../config/paths.js'
import { readTool } from '../config/tools.js'
import type { Path } from '../config/yaml-nodes.js'
import { isHarmless, soundsLikeBoundary } from './boundary-words.js'
import { type Draft, inWords, keep, narrowList, note, readNames, refuse, took } from './draft.js'
import { readModel, readModels, readPool } from './model-field.js'
import { readPermission } from './permission-field.js'
import { readRules, readTools } from './tools-field.js'

type Reader = (draft: Draft, key: string, value: unknown) => void

/** The keys that mean something, ours and others'. `name`, `prompt` and what turns a file off are read with the file. */
const READERS: Readonly<Record<string, Reader>> = {
  description: readDescription,
  tools: readTools,
  disallowedTools: readRules('deny'),
  deny: readRules('deny'),
  ask: readRules('ask'),
  permission: readPermission,
  permissionMode: readPermissionMode,
  mode: readMode,
  model: readModel,
  models: readModels,
  pool: readPool,
  skills: readSkills,
  mcpServers: readServers,
  mcp_servers: readServers,
  maxTurns: readTurns,
  max_turns: readTurns,
  maxSteps: readTurns,
  steps: readTurns,
  timeout_mins: readMinutes,
  isolation: readIsolation,
  kind: readKind,
  hooks: readHooks,
  budget: native,
  read_paths: paths,
  write_paths: paths,
  bootstrap_files: paths,
  system_prompt_file: paths,
  context_share: native,
  attempt_timeout_ms: native,
  max_retries: native,
  label: native,
  can_spawn_children: native,
  may_spawn: readMaySpawn,
  cache: native,
}

/** Reads a key, or keeps it: what nobody knows may be somebody else's, unless it sounds like a boundary. */
export function readField(draft: Draft, key: string, value: unknown) {
  const reader = Object.hasOwn(READERS, key) ? READERS[key] : undefined
  if (reader) return reader(draft, key, value)
  const found = boundaryIn(draft, [key], value)
  if (found === null) return keep(draft, key, value)
  const which = quoted(found.path.join('.'))
  refuse(draft, found.path, `${which} is not understood, and may be a boundary: ${found.instead}`, 'key')
}

type Boundary = { path: Path; instead: string }

/** The first key that sounds like a boundary, of this one and those in it. */
function boundaryIn(draft: Draft, path: Path, value: unknown): Boundary | null {
  const key = path.at(-1)
  if (typeof key === 'string') {
    if (isHarmless(key)) return null
    const instead = (path.length === 1 ? meant(key) : null) ?? soundsLikeBoundary(key) ?? toolSwitch(draft, key, value)
    if (instead !== null) return { path, instead }
  }
  if (typeof value !== 'object' || value === null) return null
  for (const [inner, item] of Object.entries(value)) {
    const found = boundaryIn(draft, [...path, Array.isArray(value) ? Number(inner) : inner], item)
    if (found !== null) return found
  }
  return null
}

/** `grep: false` beside the other keys is a line of `tools` or `permission` that was not put there. */
function toolSwitch({ surroundings: { tools } }: Draft, key: string, value: unknown): string | null {
  const switches = typeof value === 'boolean' || value === 'allow' || value === 'ask' || value === 'deny'
  return switches && readTool(key, tools).ok ? 'write it under tools or permission' : null
}

const BOUNDARIES = [
  ...['tools', 'disallowedTools', 'permission', 'permissionMode', 'read_paths', 'write_paths', 'may_spawn', 'skills'],
  ...[
    'mcpServers',
    'mcp_servers',
    'isolation',
    'maxTurns',
    'budget',
    'hooks',
    'can_spawn_children',
    'attempt_timeout_ms',
  ],
]

function meant(key: string): string | null {
  // The opposite of a word is near to it.
  if (key.length < 4 || /^allow/i.test(key)) return null
  const near = nearest(key, BOUNDARIES)
  return near === null ? null : `did you mean ${near}?`
}

/** What is in front of the examples, on one line, then the rest as it is. */
function readDescription(draft: Draft, key: string, value: unknown) {
  if (typeof value !== 'string') return refuse(draft, [key], `${key} must be text, not ${quoted(value)}`)
  // What is written on one line by a program has its line breaks spelled out.
  const text = (value.includes('\n') ? value : value.replaceAll('\\n', '\n')).trim()
  if (hasUnseen(text.replace(/[\n\r\t]/g, ' '))) {
    return refuse(draft, [key], `${key} has characters that cannot be seen, such as control characters: remove them`)
  }
  const end = /\r?\n\s*\r?\n|\s*(?=<example\b)|\r?\n(?=\s*(?:[-*] |Examples?:))/i.exec(text)
  const first = (end ? text.slice(0, end.index) : text).replace(/\s+/g, ' ').trim()
  const rest = end ? text.slice(end.index).trim() : ''
  if (text === '') return
  draft.profile.description = [first, rest].filter((part) => part !== '').join('\n\n')
  took(draft, key, first.length > 80 ? `${first.slice(0, 79)}…` : first)
}

const PERMISSION_MODES: Readonly<Record<string, Mode>> = {
  default: 'normal',
  manual: 'normal',
  plan: 'plan',
  acceptEdits: 'auto',
  auto: 'auto',
  bypassPermissions: 'dangerous',
}

function readPermissionMode(draft: Draft, key: string, value: unknown) {
  const mode = typeof value === 'string' && Object.hasOwn(PERMISSION_MODES, value) ? PERMISSION_MODES[value] : undefined
  if (mode !== undefined) {
    draft.profile.mode = narrowerMode(mode, draft.profile.mode ?? mode)
    if (value === 'acceptEdits') note(draft, key, 'commands behind a fence are not asked about either, in mode auto')
    return took(draft, key, `${value} -> mode: ${mode}`)
  }
  const known = Object.keys(PERMISSION_MODES).join(', ')
  const why =
    value === 'dontAsk'
      ? 'what asks is not refused here where a parent acts without asking: list its tools instead'
      : `write one of ${known}`
  refuse(draft, [key], `${key} ${quoted(value)} cannot be enforced: ${why}`)
}

/** Ours, or whether opencode offers an agent to people or to agents: here it is always offered to both. */
function readMode(draft: Draft, key: string, value: unknown) {
  const offered = value === 'primary' || value === 'subagent' || value === 'all'
  if (offered) return keep(draft, key, value)
  native(draft, key, value)
}

function readSkills(draft: Draft, key: string, value: unknown) {
  const read = readNames(key, value)
  if (!read.ok) return refuse(draft, read.path, read.message)
  const names = read.names.map(({ name }) => name.replace(/^skill:/, ''))
  const wrong = read.names.find(({ name }) => !/^[^\s*()]+$/.test(name))
  if (wrong) refuse(draft, wrong.path, `${quoted(wrong.name)} does not name a skill: list whole names, without *`)
  narrowList(draft, 'skills', names)
  took(draft, key, `${names.join(', ') || 'none'}, loaded when it asks for them`)
}

/** Names only: a definition would have a program started that nobody has looked at. */
function readServers(draft: Draft, key: string, value: unknown) {
  const inline = Array.isArray(value) ? value.findIndex((item) => typeof item === 'object') : -1
  if (inline >= 0 || (typeof value === 'object' && value !== null && !Array.isArray(value))) {
    const message = `${key} defines a server, and agent files start no programs: define it in .mcp.json or under mcp_servers in retinue.yaml, and list its name here`
    return refuse(draft, inline >= 0 ? [key, inline] : [key], message)
  }
  const read = readNames(key, value)
  if (!read.ok) return refuse(draft, read.path, read.message)
  for (const { name, path } of read.names) {
    const message = serverNameFault(name.replace(/^mcp:/, ''))
    if (message !== null) refuse(draft, path, `${quoted(name)}: ${message}`)
  }
  const names = read.names.map(({ name }) => name.replace(/^mcp:/, ''))
  narrowList(draft, 'mcp_servers', names)
  took(draft, key, `mcp_servers: ${names.join(', ') || 'none'}`)
}

function readTurns(draft: Draft, key: string, value: unknown) {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    return refuse(draft, [key], `${key} must be a whole number of at least 1, not ${quoted(value)}`)
  }
  limit(draft, key, 'turns', value as number)
}

function readMinutes(draft: Draft, key: string, value: unknown) {
  if (typeof value !== 'number' || !(value >= 0.1 && value <= 100_000)) {
    return refuse(draft, [key], `${key} must be a number of minutes of at least 0.1, not ${quoted(value)}`)
  }
  limit(draft, key, 'wall_ms', Math.round(value * 60_000))
}

/** Of two that say it, the smaller holds. */
function limit(draft: Draft, key: string, name: 'turns' | 'wall_ms', value: number) {
  const { budget } = draft.profile
  const least = Math.min(value, budget?.[name] ?? value)
  draft.profile.budget = { ...budget, [name]: least }
  took(draft, key, `budget.${name}: ${least}`)
}

function readIsolation(draft: Draft, key: string, value: unknown) {
  const isolation = ISOLATIONS.find((one) => one === value)
  if (isolation === undefined) {
    const message = `${key} must be one of ${ISOLATIONS.join(', ')}, not ${quoted(value)}: what it means elsewhere cannot be enforced here`
    return refuse(draft, [key], message)
  }
  draft.profile.isolation = isolation
  took(draft, key, isolation)
}

function readKind(draft: Draft, key: string, value: unknown) {
  if (value === 'local') return keep(draft, key, value)
  refuse(
    draft,
    [key],
    `${key} ${quoted(value)}: agents that run elsewhere cannot be used here: write local, or remove the file`,
  )
}

/** Hooks that only do something besides. All others may say whether something is done, or are not known. */
const BESIDE = [
  ...['Stop', 'SubagentStart', 'SubagentStop', 'PostToolUse', 'PostToolUseFailure', 'Notification', 'SessionStart'],
  ...['SessionEnd', 'PreCompact', 'PostCompact', 'PreCompress', 'AfterAgent'],
].map(plain)

function readHooks(draft: Draft, key: string, value: unknown) {
  const is_mapping = typeof value === 'object' && value !== null && !Array.isArray(value)
  const deciding = is_mapping ? Object.keys(value).find((event) => !BESIDE.includes(plain(event))) : undefined
  if (is_mapping && deciding === undefined) return keep(draft, key, value, 'hooks are not run here')
  const which = deciding === undefined ? 'hooks' : `the hook ${plainLine(deciding, 60)}`
  const message = `${which} may refuse calls, and hooks are not run here: say what it may do with tools, deny, ask or write_paths, and remove it`
  refuse(draft, deciding === undefined ? [key] : [key, deciding], message, 'key')
}

function readMaySpawn(draft: Draft, key: string, value: unknown) {
  const read = readNames(key, value)
  if (!read.ok) return refuse(draft, read.path, read.message)
  const wrong = read.names.find(({ name }) => !PROFILE_NAME.test(name) && !HANDLE.test(name))
  if (wrong)
    return refuse(draft, wrong.path, `${quoted(wrong.name)} is neither a profile nor a handle such as @reviewer`)
  const names = read.names.map(({ name }) => name)
  narrowList(draft, 'may_spawn', names)
  took(draft, key, names.join(', ') || 'none')
}

/** Files and globs of the project folder. */
function paths(draft: Draft, key: string, value: unknown) {
  const all = Array.isArray(value) ? value : [value]
  for (const [i, path] of all.entries()) {
    const message = typeof path === 'string' ? workspacePathFault(path) : null
    if (message !== null) refuse(draft, Array.isArray(value) ? [key, i] : [key], message)
  }
  native(draft, key, value)
}

/** A field of ours, as the domain has it. */
function native(draft: Draft, key: string, value: unknown) {
  const parsed = profileSchema.safeParse({ [key]: value })
  if (!parsed.success) {
    for (const { path, at, message } of explain(parsed.error.issues, { [key]: value }, fieldsOf(profileSchema))) {
      refuse(draft, path, message, at)
    }
    return
  }
  const { budget, mode, ...rest } = parsed.data
  if (rest.can_spawn_children === false) draft.no_spawn = true
  if (mode !== undefined) draft.profile.mode = narrowerMode(mode, draft.profile.mode ?? mode)
  Object.assign(draft.profile, rest)
  if (budget !== undefined) draft.profile.budget = mergedBudget(budget, draft.profile.budget)
  took(draft, key, inWords(value))
}

/** A budget may have been begun by `maxTurns`. */
function mergedBudget(budget: NonNullable<Profile['budget']>, before: Profile['budget']): Profile['budget'] {
  const merged = { ...budget }
  for (const name of ['turns', 'wall_ms'] as const satisfies (keyof Budget)[]) {
    const both = [budget[name], before?.[name]].filter((one) => one !== undefined)
    if (both.length > 0) merged[name] = Math.min(...both)
  }
  return merged
}
