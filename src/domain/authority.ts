import { z } from 'zod'
import { matchesAny } from './globs.js'
import { type Mode, modeSchema, narrowerMode } from './modes.js'
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

/** A bound that keeps matching cheap, and that no honest pattern comes near. */
const globSchema = z.string().max(500)

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
  network: networkSchema,
  can_ask_person: z.boolean(),
  can_spawn_children: z.boolean(),
  max_delegation_depth: z.int().min(0),
})
export type Authority = z.infer<typeof authoritySchema>

/**
 * What a tool does to the world. It decides how a mode treats a call and whether calls may run side by side. `fetch`
 * gets something from outside, `external` does something outside that nobody here sees.
 */
export const effectSchema = z.enum(['read', 'write', 'execute', 'fetch', 'external', 'ask_person'])
export type Effect = z.infer<typeof effectSchema>

export const accessSchema = z.enum(['read', 'write'])
export type Access = z.infer<typeof accessSchema>

/** A tool call reduced to what authority has to know about it. */
export type Call = {
  tool: string
  effect: Effect
  paths: readonly { path: string; access: Access }[]
  /** Every simple command in it as words; null when it could not be understood. Absent when it is not a command. */
  commands?: readonly (readonly string[])[] | null
  /** Whether the command would run inside a sandbox. */
  sandboxed?: boolean
  /** Address without scheme (`example.org/docs/a`), of a call that reaches outside. */
  address?: string
}

/** `by`: whether a rule, the mode or the contract itself decided. A person's grant can only answer for the mode. */
export type Verdict = { decision: Decision; reason: string; rule: string; by: 'rule' | 'mode' | 'contract' }

/** The runtime's and git's own files. Writing them would let an agent move its own fences, in this run or the next. */
const PROTECTED = ['.git', '**/.git', '.retinue', '**/.retinue', 'retinue.yaml', 'retinue.yml']

export function isProtected(path: string): boolean {
  return matchesAny(PROTECTED, path.toLowerCase())
}

export function intersect(a: Authority, b: Authority): Authority {
  return {
    mode: narrowerMode(a.mode, b.mode),
    allowed_tools: common(a.allowed_tools, b.allowed_tools),
    allowed_skills: common(a.allowed_skills, b.allowed_skills),
    allowed_mcp_servers: common(a.allowed_mcp_servers, b.allowed_mcp_servers),
    read_paths: distinct([...a.read_paths, ...b.read_paths]),
    write_paths: distinct([...a.write_paths, ...b.write_paths]),
    rules: distinct([...a.rules, ...b.rules]),
    network: NETWORKS[Math.min(NETWORKS.indexOf(a.network), NETWORKS.indexOf(b.network))] as Network,
    can_ask_person: a.can_ask_person && b.can_ask_person,
    can_spawn_children: a.can_spawn_children && b.can_spawn_children,
    max_delegation_depth: Math.min(a.max_delegation_depth, b.max_delegation_depth),
  }
}

export function permits(authority: Authority, call: Call): Verdict {
  if (!authority.allowed_tools.includes(call.tool)) {
    return deny(`the contract does not allow ${call.tool}`, 'allowed_tools')
  }
  if (call.effect === 'ask_person') {
    return authority.can_ask_person
      ? { decision: 'allow', reason: 'a person can be asked', rule: 'can_ask_person', by: 'contract' }
      : deny('no person can be asked', 'can_ask_person')
  }
  if (call.address !== undefined && authority.network === 'none') {
    return deny('this agent has no network', 'network')
  }
  for (const { path, access } of call.paths) {
    if (access === 'write' && isProtected(path)) return deny(`${path} belongs to git or Retinue`, 'protected')
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
  return authority.mode === 'dangerous' ? verdict : narrowerVerdict(verdict, unfenced(call) ?? verdict)
}

/** A rule in a file is nobody's yes to a command with all of a person's rights; only a person's own answer is. */
function unfenced(call: Call): Verdict | null {
  if (call.sandboxed !== false) return null
  const reason = 'there is no sandbox here: it would run with all the rights you have'
  return { decision: 'ask', reason, rule: 'sandbox', by: 'mode' }
}

function judge(layer: RuleLayer, call: Call): Verdict {
  const byMode = modeVerdict(layer.mode, call)
  // Plan mode is a promise that nothing changes; no rule may break it.
  if (byMode.decision === 'deny') return byMode
  const own = subjects(call).map((subject) => strictestRule(layer, subject) ?? byMode)
  return [...own, ...readingRules(layer, call)].reduce(narrowerVerdict)
}

/** A file that read_file may not read is not to be read by another tool either. */
function readingRules(layer: RuleLayer, call: Call): Verdict[] {
  return call.paths
    .filter(({ access }) => access === 'read')
    .map(({ path }) => strictestRule(layer, { tool: 'read_file', path }))
    .filter((verdict) => verdict !== null && verdict.decision !== 'allow') as Verdict[]
}

function strictestRule(layer: RuleLayer, subject: Subject): Verdict | null {
  const verdicts = layer.rules
    .filter((rule) => ruleMatches(rule, subject))
    .map((rule): Verdict => {
      const text = formatRule(rule)
      const opaque = subject.argv === null && rule.pattern !== null
      const reason = opaque ? `the command cannot be checked against the rule ${text}` : `rule ${text}`
      return { decision: rule.decision, reason, rule: text, by: 'rule' }
    })
  return verdicts.length === 0 ? null : verdicts.reduce(narrowerVerdict)
}

/** Whether rules a person granted later cover every part of a call that would otherwise ask. */
export function covers(grants: readonly Rule[], call: Call): boolean {
  return subjects(call).every((subject) =>
    grants.some((rule) => rule.decision === 'allow' && ruleMatches(rule, subject)),
  )
}

/** Each part of a call that must be permitted by itself. */
function subjects(call: Call): Subject[] {
  if (call.commands !== undefined) {
    return (call.commands ?? [null]).map((argv) => ({ tool: call.tool, argv }))
  }
  if (call.address !== undefined) return [{ tool: call.tool, path: call.address }]
  if (call.paths.length > 0) return call.paths.map(({ path }) => ({ tool: call.tool, path }))
  return [{ tool: call.tool }]
}

function modeVerdict(mode: Mode, call: Call): Verdict {
  const verdict = (decision: Decision, reason: string): Verdict => ({
    decision,
    reason,
    rule: `mode ${mode}`,
    by: 'mode',
  })
  if (call.effect === 'read' || mode === 'dangerous') return verdict('allow', `${mode} mode`)
  if (mode === 'plan' && call.effect !== 'fetch') return verdict('deny', 'plan mode changes nothing')
  if (mode === 'auto' && (call.effect === 'write' || call.sandboxed === true)) return verdict('allow', 'auto mode')
  const without = mode === 'auto' && call.effect === 'execute' ? ' without a sandbox' : ''
  return verdict('ask', `${WHAT[call.effect]} ask in ${mode} mode${without}`)
}

const WHAT: Record<Effect, string> = {
  read: 'reads',
  write: 'writes',
  execute: 'commands',
  fetch: 'requests to the network',
  external: 'tools of other programs',
  ask_person: 'questions',
}

function narrowerVerdict(a: Verdict, b: Verdict): Verdict {
  return narrower(a.decision, b.decision) === a.decision ? a : b
}

function deny(reason: string, rule: string): Verdict {
  return { decision: 'deny', reason, rule, by: 'contract' }
}

function common(a: readonly string[], b: readonly string[]): string[] {
  return a.filter((name) => b.includes(name))
}

function distinct<T>(layers: T[]): T[] {
  const seen = new Map(layers.map((layer) => [JSON.stringify(layer), layer]))
  return [...seen.values()]
}
