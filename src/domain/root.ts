import type { Authority, Network } from './authority.js'
import { type Budget, budgetFaults, unknownLimits, withDefaults } from './budget.js'
import { type Adjustment, type Contract, contractSchema, type ModelSource } from './contract.js'
import { DELEGATION_TOOLS } from './delegation.js'
import { canonicalModel, nameOf } from './derive-model.js'
import { actingTools, ownsNothing } from './derive-workspace.js'
import { matchesWord } from './globs.js'
import type { Mode } from './modes.js'
import type { Rule } from './rules.js'
import { titleOf } from './title.js'
import type { Land } from './workspace.js'

/** Limits of a root agent that nobody asked otherwise of. Generous, and there: a run never has none. */
export const ROOT_BUDGET: Budget = {
  tool_calls: 300,
  turns: 150,
  context_tokens: 120_000,
  wall_ms: 60 * 60 * 1000,
  total_tokens: 5_000_000,
  cost_usd: null,
  sub_agents: 100,
}

export type RootRequest = {
  run_id: string
  task: string
  prompt_digest: string
  model: { provider: string; model: string; source: ModelSource; window: number | null }
  mode: Mode
  rules: Rule[]
  /** Every tool there is. */
  known_tools: string[]
  /** Those and the ones that are not set up here: a rule may name them. */
  nameable_tools: string[]
  /** Every MCP server that is connected, and every skill that was found. */
  known_servers: string[]
  known_skills: string[]
  /** Absent: all of them. Empty: none. */
  mcp_servers?: string[]
  skills?: string[]
  /** Absent: all in dangerous mode, else the tools that are there for it. */
  network?: Network
  /** Absent: all of them. Empty: none. */
  tools?: string[]
  /** Layers of globs; absent: all of the workspace. */
  read_paths?: string[][]
  write_paths?: string[][]
  budget: Partial<Budget>
  /** Absent: no sub-agents. `models`: such as they may use besides the run's own. */
  delegation?: { enabled: boolean; max_depth: number; models: string[] }
  /** Of its sub-agents, at work at once. */
  max_concurrent?: number
  can_ask_person: boolean
  /** How the result reaches the folder. Absent: as changes. */
  land?: Land
  /** The commit the workspace is at, null outside git. */
  base: string | null
}

export type RootContract = { ok: true; contract: Contract } | { ok: false; faults: string[] }

/** The contract of a run's root agent: what a person or program asked for, over the defaults. Pure. */
export function rootContract(request: RootRequest): RootContract {
  const faults = [...budgetFaults(request.budget), ...unknownLimits(request.budget)]
  for (const { tool } of request.rules) {
    // A server that is not connected today may be tomorrow.
    if (!tool.startsWith('mcp__') && !request.nameable_tools.some((name) => matchesWord(tool, name)))
      faults.push(`a rule names the unknown tool ${tool}`)
  }
  const unknown = (request.tools ?? []).filter((tool) => !request.known_tools.includes(tool))
  if (unknown.length > 0)
    faults.push(`unknown tools: ${unknown.join(', ')}; there are ${request.known_tools.join(', ')}`)
  if (faults.length > 0) return { ok: false, faults }

  const adjustments: Adjustment[] = []
  const budget = withDefaults(ROOT_BUDGET, request.budget)
  const { window } = request.model
  if (window !== null && budget.context_tokens > window) {
    const reason = `${request.model.model} takes no more`
    if (request.budget.context_tokens !== undefined) {
      const asked = String(budget.context_tokens)
      adjustments.push({ field: 'execution.budget.context_tokens', asked, given: String(window), reason })
    }
    budget.context_tokens = window
  }
  const contract: Contract = {
    version: 1,
    parent: {
      run_id: request.run_id,
      agent_id: null,
      depth: 0,
      step_idx: 0,
      task_prompt: request.task,
      goal_summary: request.task,
    },
    agent: { handle: null, profile_id: null, profile_digest: null, prompt_digest: request.prompt_digest },
    step: { title: titleOf(request.task), description: request.task, success_criteria: [] },
    permissions: rootAuthority(request),
    model: {
      provider: request.model.provider,
      model: request.model.model,
      source: request.model.source,
      allowed: [...new Set([nameOf(request.model), ...(request.delegation?.models ?? []).map(canonicalModel)])],
    },
    execution: {
      attempt_timeout_ms: budget.wall_ms,
      max_retries: 0,
      close_on_completion: true,
      ...(request.max_concurrent === undefined ? {} : { max_concurrent: request.max_concurrent }),
      budget,
    },
    workspace: {
      isolation: 'shared',
      base: request.base,
      owns: ['**'],
      ...(request.land === undefined ? {} : { land: request.land }),
    },
    outputs: { report_format: 'markdown', report_path_pattern: null },
    adjustments,
  }
  // A contract that could not be read again must not be signed in the first place.
  const checked = contractSchema.safeParse(contract)
  if (checked.success) return { ok: true, contract }
  return { ok: false, faults: checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) }
}

export function rootAuthority(
  request: Pick<
    RootRequest,
    | 'mode'
    | 'rules'
    | 'known_tools'
    | 'known_servers'
    | 'known_skills'
    | 'tools'
    | 'mcp_servers'
    | 'skills'
    | 'network'
    | 'read_paths'
    | 'write_paths'
    | 'can_ask_person'
    | 'budget'
    | 'delegation'
  >,
): Authority {
  const { sub_agents } = withDefaults(ROOT_BUDGET, request.budget)
  const { enabled, max_depth } = request.delegation ?? { enabled: false, max_depth: 0 }
  const can_spawn_children = enabled && max_depth > 0 && sub_agents > 0 && request.mode !== 'plan'
  const tools = request.tools ?? request.known_tools
  return {
    mode: request.mode,
    allowed_tools: can_spawn_children ? tools : tools.filter((tool) => !DELEGATION_TOOLS.includes(tool)),
    allowed_skills: named(request.known_skills, request.skills),
    allowed_mcp_servers: named(request.known_servers, request.mcp_servers),
    read_paths: request.read_paths ?? [['**']],
    write_paths: request.write_paths ?? [['**']],
    rules: [{ mode: request.mode, rules: request.rules }],
    network: request.network ?? (request.mode === 'dangerous' ? 'all' : 'tools'),
    can_ask_person: request.can_ask_person,
    can_spawn_children,
    max_delegation_depth: can_spawn_children ? max_depth : 0,
  }
}

/** What of a contract this runtime could not hold an agent to. Such a contract is refused, not bent. */
export function unenforceable(contract: Contract, around: { sandboxed: boolean; priced: boolean }): string[] {
  const faults: string[] = []
  const { permissions, workspace, execution, model } = contract
  const runs = permissions.allowed_tools.filter((tool) => RUNNING.includes(tool))
  // In plan mode no command runs at all.
  if (runs.length > 0 && !around.sandboxed && permissions.mode !== 'plan') {
    const remedy = `install one (retinue doctor says how), or take ${runs.join(' and ')} away with permissions.tools`
    // In the other modes a person is asked before a command runs without a sandbox, and told so.
    if (permissions.network === 'none' || (permissions.network === 'tools' && permissions.mode === 'dangerous')) {
      faults.push(
        `network: ${permissions.network} cannot be enforced on commands without a sandbox: ${remedy}, or allow the network`,
      )
    }
    const narrowed = [...permissions.read_paths, ...permissions.write_paths].some((layer) => !layer.includes('**'))
    if (narrowed && permissions.mode === 'dangerous') {
      faults.push(
        `read_paths and write_paths cannot be enforced on commands in dangerous mode without a sandbox: ${remedy}, or use another mode`,
      )
    }
  }
  if (workspace.isolation === 'read_only') {
    const tools = actsAnyway(contract, around.sandboxed)
    const remedy = 'use plan mode, take the tools away, or give it nothing to write and a sandbox'
    if (tools.length > 0) {
      faults.push(`workspace isolation read_only cannot be enforced on ${tools.join(' and ')}: ${remedy}`)
    }
  }
  if (execution.budget.cost_usd !== null && !around.priced) {
    const remedies: Record<string, string> = {
      pool: 'each of its members needs one',
      scripted: 'or give every step that answers usage and cost_usd',
    }
    const remedy = remedies[model.provider] ?? `or set providers.${model.provider}.prices in the configuration`
    faults.push(
      `cost_usd cannot be enforced: the price of ${model.provider}/${model.model} is not known; leave the limit out, ${remedy}`,
    )
  }
  return faults
}

/** The tools by which an agent could write all the same. */
function actsAnyway(contract: Contract, sandboxed: boolean): string[] {
  const { permissions } = contract
  const tools = actingTools(permissions)
  if (!ownsNothing(contract)) return tools
  // Paths that are not its own are refused to every tool, and to commands by their fence. Without one a command runs in
  // dangerous mode, or if a person says so.
  const isFenced = sandboxed || (permissions.mode !== 'dangerous' && !permissions.can_ask_person)
  return isFenced ? [] : tools.filter((tool) => RUNNING.includes(tool))
}

/** Tools that run commands. */
const RUNNING = ['run_command', 'run_tests']

function named(known: string[], patterns: string[] | undefined): string[] {
  return patterns ? known.filter((name) => patterns.some((pattern) => matchesWord(pattern, name))) : known
}
