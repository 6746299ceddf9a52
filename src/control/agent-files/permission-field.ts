import { quoted } from '../../domain/index.js'
import { workspacePathFault } from '../config/paths.js'
import type { Path } from '../config/yaml-nodes.js'
import { choiceFault, readCall } from './calls.js'
import { type Draft, inWords, narrowList, note, refuse, took } from './draft.js'
import { readName } from './name.js'
import { forbid, grant, narrowing, SPAWNING } from './tools-field.js'

type Decision = 'allow' | 'ask' | 'deny'
/** What is decided for everything of a kind, and for what matches patterns. */
type Ruling = { base: Decision | null; patterns: { pattern: string; decision: Decision; path: Path }[] }

/** What opencode's words for permissions are about, as the names of tools there. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  edit: ['write', 'edit'],
  write: ['write', 'edit'],
  patch: ['write', 'edit'],
  bash: ['bash'],
  shell: ['bash'],
  task: ['task'],
  skill: ['skill'],
}

/** What they are about that is not here, or always so. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  external_directory: 'agents never leave the project folder',
  doom_loop: 'budgets end what goes round in circles',
}

/**
 * opencode's `permission`: from kinds of tools to allow, ask or deny, or to a mapping from patterns to these, of which
 * the last that matches holds. Rules here have no exceptions, so that an exception from a question or a refusal is lost,
 * which is narrower and noted; all but what is listed can be refused, and then what is listed is all there is.
 */
export function readPermission(draft: Draft, key: string, value: unknown) {
  const is_mapping = typeof value === 'object' && value !== null && !Array.isArray(value)
  const entries: [string, unknown][] = is_mapping ? Object.entries(value) : [['*', value]]
  const read = entries.flatMap(([kind, says]) => {
    const path = is_mapping ? [key, kind] : [key]
    const ruling = readRuling(draft, path, says)
    return ruling === null ? [] : [{ kind, path, ruling }]
  })
  const at = read.findIndex(({ kind }) => kind === '*')
  const all = read[at]
  if (all && all.ruling.patterns.length > 0) {
    refuse(
      draft,
      all.path,
      `${all.path.join('.')} cannot have patterns here: write them under bash, edit, read or webfetch`,
    )
  }
  const base = all?.ruling.base ?? 'allow'
  // The last that matches holds, so what stands before `*` lets nothing through that `*` does not.
  const others = read.flatMap((one, i) => {
    if (i === at) return []
    return i > at ? [one] : [{ ...one, ruling: within(one.ruling, base) }]
  })
  narrowing(draft, () => {
    if (base === 'deny') onlyThese(draft, key, others)
    if (base === 'ask') askOfAllBut(draft, others)
    for (const { kind, path, ruling } of others) rule(draft, kind, path, ruling, base)
  })
  took(draft, key, `${inWords(value)} -> ${outcome(draft)}`)
}

function readRuling(draft: Draft, path: Path, says: unknown): Ruling | null {
  if (isDecision(says)) return { base: says, patterns: [] }
  if (typeof says !== 'object' || says === null || Array.isArray(says)) {
    refuse(
      draft,
      path,
      `${path.join('.')} must be allow, ask or deny, or a mapping from patterns to these, not ${quoted(says)}`,
    )
    return null
  }
  let base: Decision | null = null
  let patterns: Ruling['patterns'] = []
  for (const [pattern, decision] of Object.entries(says)) {
    if (!isDecision(decision)) {
      refuse(
        draft,
        [...path, pattern],
        `${path.join('.')}: ${quoted(pattern)} must be allow, ask or deny, not ${quoted(decision)}`,
      )
    } else if (/^\*+$/.test(pattern)) {
      base = decision
      // The last one that matches holds. What was refused or asked about before stays so: that is no wider.
      patterns = patterns.filter((one) => one.decision !== 'allow')
    } else patterns.push({ pattern, decision, path: [...path, pattern] })
  }
  return { base, patterns }
}

function within({ base, patterns }: Ruling, most: Decision): Ruling {
  const strictest = (['deny', 'ask'] as const).find((one) => one === base || one === most) ?? 'allow'
  return {
    base: strictest,
    patterns: most === 'allow' ? patterns : patterns.filter(({ decision }) => decision === 'deny'),
  }
}

function isDecision(value: unknown): value is Decision {
  return value === 'allow' || value === 'ask' || value === 'deny'
}

type Kind = { kind: string; path: Path; ruling: Ruling }

/** Everything is refused but what these let through. Of which a part is let through, that is said with it. */
function onlyThese(draft: Draft, key: string, kinds: readonly Kind[]) {
  const left = kinds.filter(
    ({ kind, ruling }) => !isElsewhere(kind) && (ruling.base === 'allow' || ruling.base === 'ask'),
  )
  const { missing } = grant(
    draft,
    left.flatMap(({ kind, path }) => toolsOf(kind).map((name) => ({ name, path }))),
  )
  if (missing.length > 0) note(draft, key, `${missing.join(', ')} left out: there is no such tool here`)
}

/** A question about everything that has no entry of its own. */
function askOfAllBut(draft: Draft, kinds: readonly Kind[]) {
  const { tools } = draft.surroundings
  const own = kinds.flatMap(({ kind }) =>
    toolsOf(kind).flatMap((name) => {
      const call = readCall(name, 'allow', tools)
      if (call.kind === 'spawn') return SPAWNING
      return call.kind === 'calls' ? call.entries : []
    }),
  )
  draft.ask.push(...tools.map(({ name }) => name).filter((name) => !own.includes(name)), 'mcp__*')
}

function rule(draft: Draft, kind: string, path: Path, ruling: Ruling, above: Decision) {
  const base = ruling.base ?? above
  const where = path.join('.')
  if (isElsewhere(kind)) return note(draft, where, ELSEWHERE[kind] as string)
  const patterns = ruling.patterns.filter((one) => isSound(draft, kind, base, one))
  if (kind === 'task' && patterns.length > 0) return ruleTask(draft, path, { base, patterns })
  if (kind === 'skill' && patterns.length > 0) return ruleSkills(draft, path, { base, patterns })
  const names = toolsOf(kind)
  const lets = patterns.filter(({ decision }) => decision !== 'deny')
  if (base === 'deny' && lets.length > 0) confine(draft, kind, lets)
  else if (base !== 'allow') for (const name of names) forbid(draft, base, name, path)
  for (const { pattern, decision, path: at } of patterns) {
    if (decision !== 'allow') for (const name of names) forbid(draft, decision, call(name, pattern, true), at)
  }
  const lost = patterns.filter(({ decision }) => decision === 'allow')
  const has_rules = base === 'ask' || patterns.some(({ decision }) => decision !== 'allow')
  if (base !== 'deny' && has_rules && lost.length > 0) {
    const which = lost.map(({ pattern }) => quoted(pattern)).join(', ')
    note(draft, where, `no exception is made for ${which}: rules that ask and refuse have none here`)
  }
}

/** Kinds of which patterns are understood. */
const PATTERNED = ['edit', 'write', 'patch', 'read', 'bash', 'shell', 'webfetch', 'task', 'skill']

function isSound(
  draft: Draft,
  kind: string,
  base: Decision,
  { pattern, decision, path }: Ruling['patterns'][number],
): boolean {
  const wrong = patternFault(kind, pattern, decision)
  if (wrong === null) return true
  // What is allowed anyway is no loss.
  if (decision !== 'allow' || base === 'deny') refuse(draft, path, `${quoted(pattern)}: ${wrong}`, 'key')
  return false
}

function patternFault(kind: string, pattern: string, decision: Decision): string | null {
  if (!PATTERNED.includes(kind))
    return `patterns of ${kind} are not understood here: write allow, ask or deny for all of it`
  const names = toolsOf(kind)
  if (names.includes('bash'))
    return pattern.includes('?') ? 'a ? stands for itself in commands here: write * or the words' : null
  if (kind === 'webfetch' && /[?#]/.test(pattern))
    return 'addresses are compared without what follows a ? or #: write *'
  if (!names.includes('edit') && kind !== 'read') return null
  if (/^(?:[/~]|\$HOME)/.test(pattern)) return 'write paths relative to the project folder, which agents never leave'
  return choiceFault(pattern, decision)
}

/** Of a kind that is refused, what is let through. Files are told by paths, all else by patterns in the list of tools. */
function confine(draft: Draft, kind: string, lets: Ruling['patterns']) {
  const names = toolsOf(kind)
  const files = kind === 'read' ? 'read_paths' : names.includes('edit') ? 'write_paths' : null
  if (files !== null) {
    const globs = lets.map(({ pattern, path }) => ({ glob: crossing(pattern, false), path }))
    for (const { glob, path } of globs) {
      const message = workspacePathFault(glob)
      if (message !== null) refuse(draft, path, message)
    }
    if (draft.profile[files] !== undefined) {
      refuse(draft, lets[0]?.path ?? [], `there are ${files} in this file, too: say it in one place`)
    }
    draft.profile[files] = globs.map(({ glob }) => glob)
    if (draft.tools !== null)
      grant(
        draft,
        names.map((name) => ({ name, path: lets[0]?.path ?? [] })),
      )
    return
  }
  const [name = kind] = names
  const whole = readCall(name, 'deny', draft.surroundings.tools)
  const taken = whole.kind === 'calls' ? whole.entries : []
  // With a list, and the other tools on it, the one tool is there for these calls alone.
  const others = draft.tools ?? [...draft.surroundings.tools.map((tool) => tool.name), 'mcp__*']
  draft.tools = others.filter((tool) => !taken.includes(tool))
  grant(
    draft,
    lets.map(({ pattern, path }) => ({ name: call(name, pattern, false), path })),
  )
}

/** Which agents it may hand work to. */
function ruleTask(draft: Draft, path: Path, { base, patterns }: Ruling) {
  const names = patterns.filter(({ decision }) => decision !== 'deny')
  const refused = patterns.find(({ decision }) => decision === 'deny')
  if (base !== 'deny') {
    if (refused) {
      const message = `${quoted(refused.pattern)}: single agents cannot be refused here: list those that it may have under may_spawn`
      refuse(draft, refused.path, message)
    }
    if (base === 'ask' || patterns.some(({ decision }) => decision === 'ask')) forbid(draft, 'ask', 'task', path)
    return
  }
  const listed = names.flatMap(({ pattern, path: at }) => {
    const read = readName(pattern)
    if (!read.ok) refuse(draft, at, `${read.message}; patterns of names are not understood here`)
    return read.ok ? [read.name] : []
  })
  narrowList(draft, 'may_spawn', listed)
  if (names.length > 0) draft.profile.can_spawn_children = true
  if (names.length > 0 && draft.tools !== null) draft.tools.push('spawn_agent')
  if (names.some(({ decision }) => decision === 'ask')) forbid(draft, 'ask', 'task', path)
}

function ruleSkills(draft: Draft, path: Path, { base, patterns }: Ruling) {
  const refused = patterns.find(({ decision, pattern }) => decision === 'deny' || pattern.includes('*'))
  const asked = base === 'ask' || patterns.some(({ decision }) => decision === 'ask')
  if (refused && (base !== 'deny' || refused.pattern.includes('*'))) {
    const message = `${quoted(refused.pattern)}: single skills cannot be refused here, nor patterns of them told apart: list those that it may load under skills`
    refuse(draft, refused.path, message)
  }
  if (asked) forbid(draft, 'ask', 'skill', path)
  if (base !== 'deny') return
  const listed = patterns.filter(({ decision }) => decision !== 'deny').map(({ pattern }) => pattern)
  narrowList(draft, 'skills', listed)
}

function isElsewhere(kind: string): boolean {
  return Object.hasOwn(ELSEWHERE, kind)
}

function toolsOf(kind: string): readonly string[] {
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind] as readonly string[]) : [kind]
}

/** A pattern in the words of `readCall`. `wide`: it is to refuse or ask, and so rather means too much. */
function call(name: string, pattern: string, wide: boolean): string {
  if (/^(?:write|edit|read)$/.test(name)) return `${name}(./${crossing(pattern, wide)})`
  if (name !== 'webfetch') return `${name}(${pattern})`
  const [site = '', ...rest] = pattern.replace(/^https?:\/\//, '').split('/')
  const below = rest.length === 0 ? '' : `/${crossing(rest.join('/'), wide)}`
  return `${name}(${wide ? crossing(site, true) : site}${below})`
}

/** There, a * goes through folders, and so does a ?. */
function crossing(pattern: string, wide: boolean): string {
  const path = (wide ? pattern.replaceAll('?', '*') : pattern).replace(/^\.\//, '')
  const crossed = path.replace(/\*+/g, (run, at: number) => (!wide && path[at + run.length] === '/' ? run : '**'))
  return crossed.replace(/^\*\*(?=[^/*])/, '**/*')
}

function outcome({ tools, deny, ask, no_spawn, profile }: Draft): string {
  const parts = [
    ...(tools === null ? [] : [`tools: ${tools.join(', ') || 'none'}`]),
    ...(deny.length > 0 ? [`deny: ${[...new Set(deny)].join(', ')}`] : []),
    ...(ask.length > 0 ? [`ask: ${[...new Set(ask)].join(', ')}`] : []),
    ...(['write_paths', 'read_paths', 'may_spawn', 'skills'] as const).flatMap((name) => {
      return profile[name] === undefined ? [] : [`${name}: ${profile[name]?.join(', ') || 'none'}`]
    }),
    ...(no_spawn ? ['can_spawn_children: false'] : []),
  ]
  return parts.join('; ') || 'nothing that narrows'
}
