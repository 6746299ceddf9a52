import type { Budget, Mode, Network, RunOptions } from '../index.js'

/** Options of the command line that go into the contract of a new run. */
export type ContractFlags = {
  model?: string
  /** False with --no-agent. */
  agent?: string | false
  mode?: Mode
  permissionMode?: Mode
  maxTurns?: number
  maxToolCalls?: number
  maxBudgetUsd?: number
  network?: Network
  timeout?: number
  maxAgents?: number
  maxDepth?: number
  /** False with --no-delegation, otherwise true. */
  delegation?: boolean
  commit?: boolean
  /** False with --no-land, otherwise true. */
  land?: boolean
}

/** The names of them that people type. */
const CONTRACT_FLAGS: Record<keyof ContractFlags, string> = {
  model: '--model',
  agent: '--agent',
  mode: '--mode',
  permissionMode: '--permission-mode',
  maxTurns: '--max-turns',
  maxToolCalls: '--max-tool-calls',
  maxBudgetUsd: '--max-budget-usd',
  network: '--network',
  timeout: '--timeout',
  maxAgents: '--max-agents',
  maxDepth: '--max-depth',
  delegation: '--no-delegation',
  commit: '--commit',
  land: '--no-land',
}

/** Those that were given. commander sets `delegation` to true where --no-delegation was not, and `land` likewise. */
export function contractFlags(flags: ContractFlags): string[] {
  return Object.entries(CONTRACT_FLAGS).flatMap(([flag, name]) => {
    const value = flags[flag as keyof ContractFlags]
    const given = name.startsWith('--no-') ? value === false : value !== undefined
    return given ? [name] : []
  })
}

/** What the options of the command line say about a new run. */
export function asked(flags: ContractFlags): Partial<RunOptions> {
  const budget: Partial<Budget> = {}
  if (flags.maxTurns !== undefined) budget.turns = flags.maxTurns
  if (flags.maxToolCalls !== undefined) budget.tool_calls = flags.maxToolCalls
  if (flags.maxBudgetUsd !== undefined) budget.cost_usd = flags.maxBudgetUsd
  if (flags.timeout !== undefined) budget.wall_ms = Math.round(flags.timeout * 1000)
  if (flags.maxAgents !== undefined) budget.sub_agents = flags.maxAgents
  const mode = flags.mode ?? flags.permissionMode
  const { agent, model, network, maxDepth, delegation, commit, land } = flags
  return {
    budget,
    ...(agent === undefined ? {} : { profile: agent === false ? null : agent }),
    ...(mode ? { mode } : {}),
    ...(model ? { model } : {}),
    ...(network ? { network } : {}),
    ...(delegation === false ? { delegation: { enabled: false } } : {}),
    ...(delegation !== false && maxDepth !== undefined ? { delegation: { max_depth: maxDepth } } : {}),
    ...(commit === true ? { land: 'commit' as const } : {}),
    ...(land === false ? { land: 'branch' as const } : {}),
  }
}
