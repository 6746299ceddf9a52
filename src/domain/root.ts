import type { Authority, Network } from './authority.js'
import { type Budget, budgetFaults, unknownLimits, withDefaults } from './budget.js'
import { type Adjustment, type Contract, contractSchema, type ModelSource } from './contract.js'
import { DELEGATION_TOOLS } from './delegation.js'
import { attemptTimeout, type NamedProfile } from './derive.js'
import { narrowAuthority, narrowMode } from './derive-authority.js'
import { narrowBudget } from './derive-budget.js'
import { canonicalModel, nameOf, outsidePolicy, withinPolicy } from './derive-model.js'
import { profileObstacle, wantsSubAgents } from './derive-profile.js'
import { actingTools, mayWrite, ownsNothing } from './derive-workspace.js'
import { matchesWord } from './globs.js'
import type { Mode } from './modes.js'
import type { RegistryEntry } from './registry/registry.js'
import type { Rule } from './rules.js'
import { titleOf } from './title.js'
import type { Isolation, Land } from './workspace.js'

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
  /** The model that `chooseRootModel` chose, and what it made of what was asked for. */
  model: {
    provider: string
    model: string
    source: ModelSource
    window: number | null
    adjustments?: readonly Adjustment[]
  }
  /** Who it is: narrows what follows, as it narrows sub-agents. Absent: nobody in particular. */
  profile?: NamedProfile | null
  /** Where it was asked for by its handle: the registry's entry. */
  entry?: RegistryEntry | null
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

/** The contract of a run's root agent: what a person or program asked for, over the defaults, as its profile says. Pure. */
export function rootContract(request: RootRequest): RootContract {
  const faults = rootFaults(request)
  if (faults.length > 0) return { ok: false, faults }

  const { profile = null, entry = null, model } = request
  const { authority, adjustments: authorityAdjustments } = narrowRoot(request)
  const { budget, adjustments: budgetAdjustments } = rootBudget(request)
  const timeout = attemptTimeout(profile, budget.wall_ms)
  const owns = profile?.profile.write_paths ?? ['**']
  const allowed = [nameOf(model), ...(request.delegation?.models ?? []).map(canonicalModel)]
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
    agent: {
      handle: entry?.agentId ?? null,
      profile_id: profile?.name ?? null,
      profile_digest: profile?.digest ?? null,
      prompt_digest: request.prompt_digest,
    },
    step: { title: titleOf(request.task), description: request.task, success_criteria: [] },
    permissions: authority,
    model: {
      provider: model.provider,
      model: model.model,
      source: model.source,
      allowed: withinPolicy([...new Set(allowed)], profile),
    },
    execution: {
      attempt_timeout_ms: timeout.value,
      max_retries: 0,
      close_on_completion: true,
      ...(request.max_concurrent === undefined ? {} : { max_concurrent: request.max_concurrent }),
      ...(profile?.profile.label === undefined ? {} : { label: profile.profile.label }),
      budget,
    },
    workspace: {
      isolation: rootIsolation(profile, mayWrite({ permissions: authority, workspace: { owns } })),
      base: request.base,
      owns,
      ...(request.land === undefined ? {} : { land: request.land }),
    },
    outputs: { report_format: 'markdown', report_path_pattern: null },
    adjustments: [
      ...(model.adjustments ?? []),
      ...authorityAdjustments,
      ...budgetAdjustments,
      ...timeout.adjustments,
    ].map((adjustment) => ({ ...adjustment, asked: titleOf(adjustment.asked) })),
  }
  // A contract that could not be read again must not be signed in the first place.
  const checked = contractSchema.safeParse(contract)
  if (checked.success) return { ok: true, contract }
  return { ok: false, faults: checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) }
}

function rootFaults(request: RootRequest): string[] {
  const { profile = null, known_tools, nameable_tools } = request
  const faults = [...budgetFaults(request.budget), ...unknownLimits(request.budget)]
  for (const { tool } of request.rules) {
    // A server that is not connected today may be tomorrow.
    if (!tool.startsWith('mcp__') && !nameable_tools.some((name) => matchesWord(tool, name)))
      faults.push(`a rule names the unknown tool ${tool}`)
  }
  const unknown = (request.tools ?? []).filter((tool) => !known_tools.includes(tool))
  if (unknown.length > 0) faults.push(`unknown tools: ${unknown.join(', ')}; there are ${known_tools.join(', ')}`)
  if (profile === null) return faults
  const limits = profile.profile.budget ?? {}
  const wrong = [...budgetFaults(limits), ...unknownLimits(limits)].map(
    (fault) => `the profile ${profile.name}: ${fault}`,
  )
  const obstacle = profileObstacle({ profile, known_tools, nameable_tools })
  // The choice comes from outside, so it is not taken on trust.
  const outside = outsidePolicy(nameOf(request.model), profile)
  return [
    ...faults,
    ...wrong,
    ...(obstacle === null ? [] : [obstacle]),
    ...(outside === null ? [] : [`it cannot have ${nameOf(request.model)}: ${outside}`]),
  ]
}

type AuthorityRequest = Omit<RootRequest, 'prompt_digest'>

/** What a run's root agent may do. */
export function rootAuthority(request: AuthorityRequest): Authority {
  return narrowRoot(request).authority
}

/** What the run was given, as far as the profile of its root agent takes it. */
function narrowRoot(request: AuthorityRequest): { authority: Authority; adjustments: Adjustment[] } {
  const { profile = null, entry = null, known_tools, nameable_tools } = request
  const side = { giver: 'the run', profile, entry, request: {}, known_tools, nameable_tools } as const
  // As if the run had been started in that mode: what its person allows by rules stays allowed.
  const { mode, adjustments } = narrowMode({ ...side, above: request })
  const above = givenAuthority({ ...request, mode, budget: rootBudget(request).budget })
  if (profile === null && entry === null) return { authority: above, adjustments }

  const wants = wantsSubAgents(profile)
  const can_spawn_children = above.can_spawn_children && wants !== false
  const reason = mode === 'plan' ? 'plan mode has no sub-agents' : 'the run has none'
  const unmet = { field: 'permissions.can_spawn_children', asked: 'true', given: 'false', reason }
  const narrowed = narrowAuthority(
    { ...side, above },
    {
      mode,
      can_ask_person: above.can_ask_person,
      can_spawn_children,
      max_delegation_depth: can_spawn_children ? above.max_delegation_depth : 0,
    },
  )
  return {
    authority: narrowed.authority,
    adjustments: [...adjustments, ...(wants && !can_spawn_children ? [unmet] : []), ...narrowed.adjustments],
  }
}

function givenAuthority(request: AuthorityRequest): Authority {
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

/** What a run's root agent may spend: as asked for, over the defaults, and no more than its profile gives. */
function rootBudget({ budget: asked, profile = null, model }: AuthorityRequest): {
  budget: Budget
  adjustments: Adjustment[]
} {
  const { budget, adjustments } = narrowBudget(withDefaults(ROOT_BUDGET, asked), asked, profile, model.window)
  const { window } = model
  if (window === null || budget.context_tokens <= window) return { budget, adjustments }
  const field = 'execution.budget.context_tokens'
  const clamp = {
    field,
    asked: String(budget.context_tokens),
    given: String(window),
    reason: `${model.model} takes no more`,
  }
  const isAsked = asked.context_tokens !== undefined || profile?.profile.budget?.context_tokens !== undefined
  return {
    budget: { ...budget, context_tokens: window },
    adjustments: isAsked ? [...adjustments.filter((one) => one.field !== field), clamp] : adjustments,
  }
}

/** A root agent works in the folder itself, unless its profile says less. */
function rootIsolation(profile: NamedProfile | null, writes: boolean): Isolation {
  const wish = profile?.profile.isolation ?? 'shared'
  return wish === 'worktree' && !writes ? 'read_only' : wish
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
