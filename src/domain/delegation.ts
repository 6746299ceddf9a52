import type { Authority } from './authority.js'
import type { Budget } from './budget.js'
import type { Check } from './contract.js'
import type { Mode } from './modes.js'
import type { Outcome } from './outcome.js'
import type { Profile } from './profile.js'
import type { Isolation } from './workspace.js'

/** What somebody asks a sub-agent for: a model's tool call, a program, a plan. All of it is clamped, none of it widens. */
export type DelegationRequest = {
  task: string
  /** One line. Default: the first of the task. */
  title?: string
  /** The name of a profile, or a handle of the agent registry. */
  profile?: string
  /** More that the sub-agent is told. */
  context?: string
  /** Where it should look. A hint, not a boundary: that is `owns`. */
  scope?: string
  /** Said after the profile's own prompt. */
  system_prompt?: string
  tools?: string[]
  mode?: Mode
  model?: string
  /** Of those that it could have, the ones that it gets. Absent: as the registry says, else all. */
  skills?: string[]
  mcp_servers?: string[]
  /** Globs of what it may write. */
  owns?: string[]
  /** At most. `read_only`: it gets nothing to write with. */
  isolation?: Isolation
  checks?: Check[]
  success_criteria?: string[]
  /** Results of earlier sub-agents that it is given. */
  inputs?: { from: string; title: string; outcome: Outcome; text: string }[]
  budget?: Partial<Budget>
  max_retries?: number
  /** Of the workers that may have it. */
  label?: string
  cache?: boolean
  /** Of whoever it stands in for: it can do no more. Nothing that a model or a program asks for. */
  at_most?: Authority
}

/** How a run delegates, unless its profiles say otherwise. */
export type DelegationSettings = {
  enabled: boolean
  /** How deep a tree of agents may be: 1 is sub-agents that have none of their own. */
  max_depth: number
  /** Of a sub-agent whose profile and request do not say. */
  budget: Partial<Budget>
  max_retries: number
  /** Models that sub-agents may use besides their parent's and those of profiles. */
  models: string[]
  /** Whether sub-agents' questions reach the person. If not, see `unasked` of the authority. */
  ask_person: boolean
  /** Where each sub-agent's report is written; `<run>`, `<agent>` and `<idx>` stand for themselves. null: nowhere. */
  report_path_pattern: string | null
  profiles: Record<string, Profile>
  /** Whether the five roles that ship are there. */
  roles: boolean
  /** Globs of what the role tester may write. */
  test_paths: string[]
}

/** Seed 002's figures for the first three. */
export const DELEGATION_DEFAULTS: DelegationSettings = {
  enabled: true,
  max_depth: 2,
  budget: { tool_calls: 15, context_tokens: 8192, wall_ms: 60_000 },
  max_retries: 1,
  models: [],
  ask_person: false,
  report_path_pattern: '.retinue/reports/<run>/<agent>-step-<idx>-result.md',
  profiles: {},
  roles: true,
  test_paths: ['**/test/**', '**/tests/**', '**/__tests__/**', '**/spec/**'],
}

/** The least and the most of a setting. */
export const DELEGATION_BOUNDS = { max_depth: [1, 8], max_concurrent: [1, 1000], max_retries: [0, 10] } as const

/**
 * Why reports cannot be written under a pattern, or null. Below `.retinue` agents write nothing, so that a report
 * replaces no file of theirs, and by their ending reports are told from the runtime's own files there.
 */
export function reportPathFault(pattern: string): string | null {
  const unknown = (pattern.match(/<[^<>]*>/g) ?? []).find((name) => !['<run>', '<agent>', '<idx>'].includes(name))
  if (unknown) return `report_path_pattern has the unknown placeholder ${unknown}: there are <run>, <agent> and <idx>`
  const names = pattern.replace(/<(?:run|agent|idx)>/g, 'x').split('/')
  const sound = names.every((name) => /^[\p{L}\p{N}_.-][\p{L}\p{N}_. -]*$/u.test(name) && !/^\.+$/.test(name))
  if (!sound || names.length < 2 || names[0] !== '.retinue' || !pattern.endsWith('.md')) {
    return 'report_path_pattern must be a .md file below .retinue/, where reports replace no other files'
  }
  if (/<(?:agent|idx)>/.test(pattern)) return null
  return 'report_path_pattern needs <agent> or <idx>: all reports would be one file'
}

/** Named as the provider of its model, where the root agent of a run is a program. */
export const PROGRAM = 'program'

/** Calls that a program makes, one of each run. No model is ever offered them. */
export const PROGRAM_TOOLS = ['fan_out', 'execute_plan']

/** The tools that hand work to sub-agents. A sub-agent has them only if its contract says so. */
export const DELEGATION_TOOLS = ['spawn', 'spawn_await', 'spawn_agent', 'delegate_task', ...PROGRAM_TOOLS]

/** Ids of sub-agents: short, readable, unique in the run, and the same after a restart. */
export function childId(parent_id: string, parent_depth: number, number: number): string {
  return parent_depth === 0 ? `a${number}` : `${parent_id}.${number}`
}

/** Whose sub-agent one is that was named by `childId`. null: the root's. */
export function parentIdOf(agent_id: string): string | null {
  const end = agent_id.lastIndexOf('.')
  return end > 0 ? agent_id.slice(0, end) : null
}
