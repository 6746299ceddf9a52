import { depthExceeded, intersect, modeUnasked } from './authority.js'
import { MIN_WALL_MS } from './budget.js'
import { type Adjustment, type Contract, contractSchema } from './contract.js'
import type { DelegationRequest, DelegationSettings } from './delegation.js'
import { narrowAuthority, narrowMode } from './derive-authority.js'
import { childBudget } from './derive-budget.js'
import { childLabel } from './derive-label.js'
import { allowedModels, givable, nameOf, outsidePolicy } from './derive-model.js'
import { allowedProfiles, type Narrowing, profileObstacle, wantsSubAgents } from './derive-profile.js'
import { childIsolation, mayWrite } from './derive-workspace.js'
import { globFault } from './glob-fault.js'
import type { Mode } from './modes.js'
import type { Profile } from './profile.js'
import type { RegistryEntry } from './registry/registry.js'
import { titleOf } from './title.js'
import type { WorkspaceSettings } from './workspace.js'

/** A sub-agent's parent, as far as a contract depends on it. */
export type Parent = {
  agent_id: string
  contract: Contract
  /** What it can still give away, its own next turn and report taken off. Infinity where there is no limit. */
  left: { total_tokens: number; cost_usd: number; sub_agents: number; wall_ms: number }
  /** What was taken off for that turn and report. */
  kept?: { total_tokens: number; cost_usd: number }
  /** What is set aside for its open sub-agents, of which they give back what they do not use. */
  reserved?: { total_tokens: number; cost_usd: number }
  /** It needs nothing for itself, and has so many sub-agents at once: each gets such a part of it all. */
  parts?: number
}

/** A profile under the name that it was asked for, with the digest of what it says. */
export type NamedProfile = {
  name: string
  profile: Profile
  digest: string
  /** What its file says about its model that means nothing here, such as `sonnet`. */
  unmet_model?: string
}

export type Derivation = {
  parent: Parent
  child: { id: string; step_idx: number }
  profile: NamedProfile | null
  /** Where it was asked for by its handle: the registry's entry. */
  entry?: RegistryEntry | null
  request: DelegationRequest
  settings: DelegationSettings
  /** Absent: as in `WORKSPACE_DEFAULTS`. */
  workspace?: WorkspaceSettings
  /** The model that `chooseChildModel` chose, how much it takes, the least that it could do with, and what that costs. */
  model: ModelChoice & { window: number | null; least_tokens?: number; least_usd?: number }
  /** Every tool there is. */
  known_tools: readonly string[]
  /** Those that ship and are not set up here: a profile may name them. */
  nameable_tools?: readonly string[]
  prompt_digest: string
}

export type ModelChoice = Pick<Contract['model'], 'provider' | 'model' | 'source'> & {
  adjustments: Contract['adjustments']
}

export type Derived = { ok: true; contract: Contract } | { ok: false; message: string }

/** The contract of a sub-agent: what its parent may, its profile says and the request asks for, whatever is least. Pure. */
export function deriveContract(derivation: Derivation): Derived {
  const { parent, child, profile, request, settings, model } = derivation
  const refusal = refusalOf(derivation)
  if (refusal !== null) return { ok: false, message: refusal }

  const narrowing = narrowingOf(derivation)
  const above = parent.contract
  const bound = childLabel(above, profile, request)
  if (!bound.ok) return bound
  const { mode, adjustments: modeAdjustments } = narrowMode(narrowing)
  const obstacle = spawnObstacle(derivation, mode)
  const paid = childBudget(derivation, obstacle === null)
  if (!paid.ok) return paid
  const { budget } = paid
  const can_spawn_children = obstacle === null && budget.sub_agents > 0
  const can_ask_person = above.permissions.can_ask_person && settings.ask_person
  const max_delegation_depth = above.permissions.max_delegation_depth - 1
  const settled = { mode, can_ask_person, can_spawn_children, max_delegation_depth }
  const { authority: narrowed, adjustments: authorityAdjustments } = narrowAuthority(narrowing, settled)
  // No part of what narrows: it says what its parent's own mode answers for.
  const within = request.at_most ? intersect(narrowed, request.at_most) : narrowed
  const authority = { ...within, unasked: modeUnasked(above.permissions) }
  const owns = request.owns ?? profile?.profile.write_paths ?? above.workspace.owns
  const place = childIsolation(derivation, mayWrite({ permissions: authority, workspace: { owns } }))
  const timeout = attemptTimeout(profile, budget.wall_ms)
  const retries = maxRetries(derivation)

  const inputs = request.inputs?.map(({ from, outcome }) => ({ from, outcome }))
  const contract: Contract = {
    version: 1,
    parent: {
      run_id: above.parent.run_id,
      agent_id: parent.agent_id,
      depth: above.parent.depth + 1,
      step_idx: child.step_idx,
      task_prompt: above.step.description,
      goal_summary: above.parent.goal_summary,
    },
    agent: {
      handle: derivation.entry?.agentId ?? null,
      profile_id: profile?.name ?? null,
      profile_digest: profile?.digest ?? null,
      prompt_digest: derivation.prompt_digest,
    },
    step: {
      title: titleOf(request.title ?? '') || titleOf(request.task),
      description: request.task,
      success_criteria: request.success_criteria ?? [],
      ...(inputs ? { inputs } : {}),
      ...(request.checks ? { checks: request.checks } : {}),
    },
    permissions: authority,
    model: {
      provider: model.provider,
      model: model.model,
      source: model.source,
      allowed: allowedModels(above, profile),
    },
    execution: {
      attempt_timeout_ms: timeout.value,
      max_retries: retries.value,
      close_on_completion: true,
      ...(above.execution.max_concurrent === undefined ? {} : { max_concurrent: above.execution.max_concurrent }),
      ...(bound.label === null ? {} : { label: bound.label }),
      budget,
    },
    workspace: {
      isolation: place.isolation,
      base: above.workspace.base,
      owns,
    },
    outputs: { report_format: 'markdown', report_path_pattern: settings.report_path_pattern },
    adjustments: [
      ...model.adjustments,
      ...modeAdjustments,
      ...delegationAdjustments(profile, can_spawn_children, obstacle),
      ...paid.adjustments,
      ...authorityAdjustments,
      ...place.adjustments,
      ...timeout.adjustments,
      ...retries.adjustments,
      ...bound.adjustments,
      // Wishes come from models, and a contract is no place for whatever they write.
    ].map((adjustment) => ({ ...adjustment, asked: titleOf(adjustment.asked) })),
  }
  // A contract that could not be read again must not be signed in the first place.
  const checked = contractSchema.safeParse(contract)
  if (checked.success) return { ok: true, contract }
  const faults = checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return { ok: false, message: `Not spawned: ${faults.join('; ')}.` }
}

/** What a sub-agent's authority is made from. */
function narrowingOf(derivation: Derivation): Narrowing {
  const { parent, profile, entry = null, request, known_tools, nameable_tools = [] } = derivation
  const above = parent.contract.permissions
  return { above, giver: 'its parent', profile, entry, request, known_tools, nameable_tools }
}

/** Why there is no contract, whatever the budget. */
function refusalOf(derivation: Derivation): string | null {
  const { parent, profile, entry, request, model } = derivation
  const { permissions, parent: place } = parent.contract
  const levels = permissions.max_delegation_depth
  if (levels < 1 && place.depth > 0) return depthExceeded(place.depth + levels)
  if (levels < 1 || !permissions.can_spawn_children) return 'this agent may not delegate'
  if (request.task.trim() === '') return 'Not spawned: the task is empty. Say what the sub-agent is to do.'
  const { allowed_profiles } = permissions
  // By its name or by its handle: whichever is listed.
  const names = [profile?.name, entry?.agentId].filter((name) => name !== undefined)
  if (allowed_profiles && !names.some((name) => allowed_profiles.includes(name))) {
    return `Not spawned: this agent may only spawn ${allowed_profiles.join(', ') || 'nobody'}.`
  }
  const obstacle = profileObstacle(narrowingOf(derivation))
  if (obstacle !== null) return `Not spawned: ${obstacle}. Use another profile, or none.`
  const faults = (request.owns ?? []).map((glob) => globFault(glob, 'owns')).filter((fault) => fault !== null)
  if (faults.length > 0) return `Not spawned: ${faults.join('; ')}.`
  // The choice comes from outside, so it is not taken on trust.
  const name = nameOf(model)
  if (!givable(parent.contract).includes(name)) {
    return `Not spawned: its parent may not give it ${name}, only ${givable(parent.contract).join(', ')}.`
  }
  const outside = outsidePolicy(name, profile)
  return outside === null ? null : `Not spawned: it cannot have ${name}: ${outside}.`
}

/** Why a sub-agent cannot have sub-agents of its own although its profile wants it, or null. */
function spawnObstacle(derivation: Derivation, mode: Mode): string | null {
  const { permissions, parent } = derivation.parent.contract
  if (wantsSubAgents(derivation.profile) !== true) return 'its profile does not say that it may'
  if (permissions.max_delegation_depth <= 1) return depthExceeded(parent.depth + permissions.max_delegation_depth)
  if (mode === 'plan') return 'plan mode has no sub-agents'
  const { names, adjustments } = allowedProfiles(narrowingOf(derivation))
  return names?.length === 0 ? (adjustments[0]?.reason ?? 'its parent may spawn nobody') : null
}

function delegationAdjustments(profile: NamedProfile | null, given: boolean, obstacle: string | null): Adjustment[] {
  if (wantsSubAgents(profile) !== true || given) return []
  const reason = obstacle ?? 'its budget has no sub-agents'
  return [{ field: 'permissions.can_spawn_children', asked: 'true', given: 'false', reason }]
}

type Settled = { value: number; adjustments: Adjustment[] }

/** How long one attempt may take: as its profile says, where there is so much time. */
export function attemptTimeout(profile: NamedProfile | null, wall_ms: number): Settled {
  const asked = profile?.profile.attempt_timeout_ms
  if (asked === undefined) return { value: wall_ms, adjustments: [] }
  const value = Math.max(MIN_WALL_MS, Math.min(asked, wall_ms))
  if (value === asked) return { value, adjustments: [] }
  const reason = asked < value ? `an attempt needs at least ${MIN_WALL_MS}` : 'it has no more time'
  const field = 'execution.attempt_timeout_ms'
  return { value, adjustments: [{ field, asked: String(asked), given: String(value), reason }] }
}

function maxRetries({ profile, request, settings }: Derivation): Settled {
  const own = profile?.profile.max_retries
  const asked = request.max_retries
  if (asked === undefined || own === undefined || asked <= own) {
    return { value: asked ?? own ?? settings.max_retries, adjustments: [] }
  }
  const reason = `the profile ${profile?.name} gives no more`
  const field = 'execution.max_retries'
  return { value: own, adjustments: [{ field, asked: String(asked), given: String(own), reason }] }
}
