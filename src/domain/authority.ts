import { z } from 'zod'
import { type CallPattern, callPatternSchema, isAmong, patternsFor } from './call-patterns.js'
import type { CommandPart } from './commands.js'
import { MAX_GLOB } from './glob-fault.js'
import { matchesAny } from './globs.js'
import { type Mode, modeSchema, narrowerMode, widerMode } from './modes.js'
import { isProtected, isRecord } from './protected.js'
import {
  type Decision,
  formatRule,
  narrower,
  type Rule,
  type RuleLayer,
  ruleLayerSchema,
  ruleMatches,
  type Subject,
} from './rules.js'

const globSchema = z.string().max(MAX_GLOB)

/** Narrowest first. `tools`: the tools that are there for it reach the network, commands do not. */
export const NETWORKS = ['none', 'tools', 'all'] as const
export const networkSchema = z.enum(NETWORKS)
export type Network = z.infer<typeof networkSchema>

/**
 * What an agent may do, as a value. Lists of names and single values intersect directly. Path globs and rules are
 * kept as layers: a call must be permitted by every layer, so the intersection of two authorities is the
 * concatenation of their layers, exact by construction, and no two globs ever have to be compared.
 */
export const authoritySchema = z.strictObject({
  mode: modeSchema,
  allowed_tools: z.array(z.string()),
  allowed_skills: z.array(z.string()),
  allowed_mcp_servers: z.array(z.string()),
  read_paths: z.array(z.array(globSchema)).min(1),
  write_paths: z.array(z.array(globSchema)).min(1),
  rules: z.array(ruleLayerSchema).min(1),
  /**
   * Layers of calls that are let through: a tool that a layer names with patterns is had for what matches one of them
   * and for nothing else; of tools that it does not name it says nothing. Absent: no such layer.
   */
  allowed_calls: z.array(z.array(callPatternSchema)).optional(),
  network: networkSchema,
  can_ask_person: z.boolean(),
  /** Where no person can be asked: the mode whose yes stands in for a person's. Absent: none. */
  unasked: modeSchema.optional(),
  can_spawn_children: z.boolean(),
  /** Profiles and handles that its sub-agents must have one of. Absent: any, or none. */
  allowed_profiles: z.array(z.string()).optional(),
  max_delegation_depth: z.int().min(0),
})
export type Authority = z.infer<typeof authoritySchema>

/**
 * What a tool does to the world. It decides how a mode treats a call and whether calls may run side by side. `fetch`
 * gets something from outside, `external` does something outside that nobody here sees, `delegate` hands work to a
 * sub-agent, which can do no more than its parent.
 */
export const effectSchema = z.enum(['read', 'write', 'execute', 'fetch', 'external', 'ask_person', 'delegate'])
export type Effect = z.infer<typeof effectSchema>

export const accessSchema = z.enum(['read', 'write'])
export type Access = z.infer<typeof accessSchema>

/** A tool call reduced to what authority has to know about it. */
export type Call = {
  tool: string
  effect: Effect
  paths: readonly { path: string; access: Access }[]
  /** Every simple command and every write in it; null when it could not be understood. Absent when it is no command. */
  commands?: readonly CommandPart[] | null
  /** Why the command could not be understood. */
  unclear?: string
  /** Whether the command would run inside a sandbox. */
  sandboxed?: boolean
  /** Address without scheme (`example.org/docs/a`), of a call that reaches outside. */
  address?: string
  /** The skill that is loaded; the MCP server that is spoken to. */
  skill?: string
  server?: string
  /** How far below the root the agent is. */
  depth?: number
}

/** `by`: whether a rule, the mode or the contract itself decided. A person's grant can only answer for the mode. */
export type Verdict = { decision: Decision; reason: string; rule: string; by: 'rule' | 'mode' | 'contract' }

export function intersect(a: Authority, b: Authority): Authority {
  return {
    mode: narrowerMode(a.mode, b.mode),
    allowed_tools: common(a.allowed_tools, b.allowed_tools),
    allowed_skills: common(a.allowed_skills, b.allowed_skills),
    allowed_mcp_servers: common(a.allowed_mcp_servers, b.allowed_mcp_servers),
    read_paths: distinct([...a.read_paths, ...b.read_paths]),
    write_paths: distinct([...a.write_paths, ...b.write_paths]),
    rules: distinct([...a.rules, ...b.rules]),
    ...(a.allowed_calls || b.allowed_calls
      ? { allowed_calls: distinct([...(a.allowed_calls ?? []), ...(b.allowed_calls ?? [])]) }
      : {}),
    network: NETWORKS[Math.min(NETWORKS.indexOf(a.network), NETWORKS.indexOf(b.network))] as Network,
    can_ask_person: a.can_ask_person && b.can_ask_person,
    ...(a.unasked && b.unasked ? { unasked: narrowerMode(a.unasked, b.unasked) } : {}),
    can_spawn_children: a.can_spawn_children && b.can_spawn_children,
    ...(a.allowed_profiles || b.allowed_profiles
      ? { allowed_profiles: commonOf(a.allowed_profiles, b.allowed_profiles) }
      : {}),
    max_delegation_depth: Math.min(a.max_delegation_depth, b.max_delegation_depth),
  }
}

export function permits(authority: Authority, call: Call): Verdict {
  if (call.effect === 'delegate' && !authority.can_spawn_children) {
    const exhausted = authority.max_delegation_depth === 0 && call.depth !== undefined && call.depth > 0
    const reason = exhausted ? depthExceeded(call.depth as number) : 'this agent may not delegate'
    return deny(reason, exhausted ? 'max_delegation_depth' : 'can_spawn_children')
  }
  if (!authority.allowed_tools.includes(call.tool)) {
    return deny(`the contract does not allow ${call.tool}`, 'allowed_tools')
  }
  const unlisted = (authority.allowed_calls ?? []).map((layer) => notListed(layer, call)).find((one) => one !== null)
  if (unlisted) return unlisted
  if (call.effect === 'ask_person') {
    return authority.can_ask_person
      ? { decision: 'allow', reason: 'a person can be asked', rule: 'can_ask_person', by: 'contract' }
      : deny('no person can be asked', 'can_ask_person')
  }
  if (call.server !== undefined && !authority.allowed_mcp_servers.includes(call.server)) {
    return deny(`the contract does not allow the MCP server ${call.server}`, 'allowed_mcp_servers')
  }
  if (call.skill !== undefined && !authority.allowed_skills.includes(call.skill)) {
    return deny(`the contract does not allow the skill ${call.skill}`, 'allowed_skills')
  }
  if (call.address !== undefined && authority.network === 'none') {
    return deny('this agent has no network', 'network')
  }
  for (const { path, access } of call.paths) {
    if (access === 'write' && isProtected(path)) return deny(`${path} belongs to git or Retinue`, 'protected')
    if (call.depth !== undefined && call.depth > 0 && isRecord(path)) {
      return deny(`${path} belongs to Retinue, and sub-agents do not read it`, 'protected')
    }
    for (const layer of access === 'write' ? authority.write_paths : authority.read_paths) {
      if (!matchesAny(layer, path)) {
        return deny(
          `${path} is outside what this agent may ${access}: ${layer.join(', ') || 'nothing'}`,
          `${access}_paths`,
        )
      }
    }
  }
  const verdict = authority.rules.map((layer) => judge(layer, call)).reduce(narrowerVerdict)
  return call.sandboxed === false && authority.mode !== 'dangerous' ? unfenced(verdict) : verdict
}

/**
 * Whether a call that the agent's mode asks about is done all the same where nobody can be asked: exactly if a mode in
 * which whoever is above it may act would not have asked. Only for what the mode asks: a rule's question stays one, and
 * so does that about a command without a fence.
 */
export function allowedUnasked({ can_ask_person, unasked }: Authority, call: Call): boolean {
  if (can_ask_person || unasked === undefined || call.sandboxed === false) return false
  return modeVerdict(unasked, call).decision === 'allow'
}

/** The widest mode in which an agent acts without a question. It is what its sub-agents may count on. */
export function modeUnasked({ mode, can_ask_person, unasked }: Authority): Mode {
  return can_ask_person || unasked === undefined ? mode : widerMode(mode, unasked)
}

/** `max`: how deep a tree of agents may be. */
export function depthExceeded(max: number): string {
  return `Maximum sub-agent depth (${max}) exceeded`
}

const UNFENCED = 'there is no sandbox here: it would run with all the rights you have'

/** A rule in a file is nobody's yes to a command with all of a person's rights; only a person's own answer is. */
function unfenced(verdict: Verdict): Verdict {
  if (verdict.decision === 'allow') return { decision: 'ask', reason: UNFENCED, rule: 'sandbox', by: 'mode' }
  if (verdict.decision === 'deny') return verdict
  return { ...verdict, reason: verdict.by === 'mode' ? UNFENCED : `${verdict.reason}; ${UNFENCED}` }
}

function judge(layer: RuleLayer, call: Call): Verdict {
  const byMode = modeVerdict(layer.mode, call)
  // Plan mode is a promise that nothing changes; no rule may break it.
  if (byMode.decision === 'deny') return byMode
  const own = subjects(call).map((subject) => strictestRule(layer, subject, call.unclear) ?? byMode)
  // Of parts that all do nothing by themselves it is enough that one may lead.
  const lead = own.find(({ decision }) => decision === 'allow')
  const beside = riders(call)
    .map((subject) => strictestRule(layer, subject))
    .filter((verdict) => verdict !== null && verdict.decision !== 'allow') as Verdict[]
  return [...(lead && onlyRiders(call) ? [lead] : own), ...beside, ...kindredRules(layer, call)].reduce(narrowerVerdict)
}

/** What a rule keeps from one tool, no other tool does in its place: reading a file, writing one, running a command. */
function kindredRules(layer: RuleLayer, call: Call): Verdict[] {
  const at = (access: Access) => call.paths.filter((path) => path.access === access)
  const subjects: Subject[] = at('read').map(({ path }) => ({ tool: 'read_file', path }))
  if (call.tool === 'edit_file') subjects.push(...at('write').map(({ path }) => ({ tool: 'write_file', path })))
  if (call.commands !== undefined && call.tool !== 'run_command') {
    subjects.push(...(call.commands ?? [null]).map((command) => ({ tool: 'run_command', command })))
  }
  return subjects
    .map((subject) => strictestRule(layer, subject, call.unclear))
    .filter((verdict) => verdict !== null && verdict.decision !== 'allow') as Verdict[]
}

function strictestRule(layer: RuleLayer, subject: Subject, unclear?: string): Verdict | null {
  const verdicts = layer.rules
    .filter((rule) => ruleMatches(rule, subject))
    .map((rule): Verdict => {
      const text = formatRule(rule)
      const opaque = rule.pattern !== null && (subject.command === null || hides(subject))
      const why = unclear ? ` (${unclear})` : hides(subject) ? ' (it may run or write what cannot be seen)' : ''
      const reason = opaque ? `the command cannot be checked against the rule ${text}${why}` : `rule ${text}`
      return { decision: rule.decision, reason, rule: text, by: 'rule' }
    })
  return verdicts.length === 0 ? null : verdicts.reduce(narrowerVerdict)
}

/** Why a layer of allowed calls does not let a call through, or null. Nothing rides along alone. */
function notListed(layer: readonly CallPattern[], call: Call): Verdict | null {
  const patterns = patternsFor(layer, call.tool)
  if (patterns.length === 0) return null
  const parts = subjects(call)
  const listed = (subject: Subject) => isAmong(patterns, subject)
  if (onlyRiders(call) ? parts.some(listed) : parts.every(listed)) return null
  const why = call.unclear ? `, and the command cannot be checked (${call.unclear})` : ''
  return deny(`the contract allows ${call.tool} only for ${patterns.join(', ')}${why}`, 'allowed_calls')
}

/** Whether rules a person granted later cover every part of a call that would otherwise ask. */
export function covers(grants: readonly Rule[], call: Call): boolean {
  const covered = (subject: Subject) => grants.some((rule) => rule.decision === 'allow' && ruleMatches(rule, subject))
  return onlyRiders(call) ? subjects(call).some(covered) : subjects(call).every(covered)
}

function hides({ command }: Subject): boolean {
  return command?.kind === 'command' && command.hides
}

/** Each part of a call that must be permitted by itself. */
function subjects(call: Call): Subject[] {
  if (call.commands !== undefined) {
    return leading(call.commands).map((command) => ({ tool: call.tool, command }))
  }
  if (call.address !== undefined) return [{ tool: call.tool, path: call.address }]
  if (call.paths.length > 0) return call.paths.map(({ path }) => ({ tool: call.tool, path }))
  return [{ tool: call.tool }]
}

/** Parts that do nothing by themselves need no yes beside one that has it; alone, they are what is asked about. */
function leading(parts: readonly CommandPart[] | null): readonly (CommandPart | null)[] {
  if (parts === null || parts.length === 0) return [null]
  const own = parts.filter((part) => !rides(part))
  return own.length === 0 ? parts : own
}

/** Nothing rides past a deny or an ask. */
function riders(call: Call): Subject[] {
  return (call.commands ?? []).filter(rides).map((command) => ({ tool: call.tool, command }))
}

function onlyRiders({ commands }: Call): boolean {
  return commands !== undefined && commands !== null && commands.length > 0 && commands.every(rides)
}

function rides(part: CommandPart): boolean {
  return part.kind === 'command' && part.rides
}

function modeVerdict(mode: Mode, call: Call): Verdict {
  const verdict = (decision: Decision, reason: string): Verdict => ({
    decision,
    reason,
    rule: `mode ${mode}`,
    by: 'mode',
  })
  if (call.effect === 'read' || mode === 'dangerous') return verdict('allow', `${mode} mode`)
  if (call.effect === 'delegate' && mode !== 'plan')
    return verdict('allow', 'what a sub-agent does is judged by itself')
  if (mode === 'plan' && call.effect !== 'fetch') return verdict('deny', 'plan mode changes nothing')
  if (mode === 'auto' && (call.effect === 'write' || call.sandboxed === true)) return verdict('allow', 'auto mode')
  const what = call.server === undefined ? WHAT[call.effect] : WHAT.external
  return verdict('ask', `${what} ask in ${mode} mode`)
}

const WHAT: Record<Effect, string> = {
  read: 'reads',
  write: 'writes',
  execute: 'commands',
  fetch: 'requests to the network',
  external: 'tools of other programs',
  ask_person: 'questions',
  delegate: 'sub-agents',
}

function narrowerVerdict(a: Verdict, b: Verdict): Verdict {
  // Of two questions the rule's is the one that counts: a grant, or nobody being there, answers only for the mode.
  if (a.decision === 'ask' && b.decision === 'ask') return a.by !== 'rule' && b.by === 'rule' ? b : a
  return narrower(a.decision, b.decision) === a.decision ? a : b
}

function deny(reason: string, rule: string): Verdict {
  return { decision: 'deny', reason, rule, by: 'contract' }
}

function common(a: readonly string[], b: readonly string[]): string[] {
  return a.filter((name) => b.includes(name))
}

/** An absent list is everything. */
function commonOf(a: readonly string[] | undefined, b: readonly string[] | undefined): string[] {
  return a && b ? common(a, b) : [...(a ?? b ?? [])]
}

function distinct<T>(layers: T[]): T[] {
  const seen = new Map(layers.map((layer) => [JSON.stringify(layer), layer]))
  return [...seen.values()]
}
