import { type Budget, budgetFaults, type LimitName, MIN_WALL_MS, unknownLimits } from './budget.js'
import type { Adjustment } from './contract.js'
import { DELEGATION_DEFAULTS } from './delegation.js'
import type { Derivation } from './derive.js'
import { nameOf } from './derive-model.js'

/** With less than this no model gets anything done. */
export const MIN_CHILD_TOKENS = 2000
/** What an agent that may have sub-agents gets of them, unless asked otherwise. */
const CHILD_SUB_AGENTS = 10

type ChildBudget = { ok: true; budget: Budget; adjustments: Adjustment[] } | { ok: false; message: string }

/** A most that nobody may pass, and who says so. */
type Cap = { most: number; reason: string }

/** What a sub-agent may spend: as asked, as far as its profile and what its parent has allow. */
export function childBudget(derivation: Derivation, may_spawn: boolean): ChildBudget {
  const faults = wishFaults(derivation)
  if (faults.length > 0) return { ok: false, message: `Not spawned: ${faults.join('; ')}.` }

  const { parent, profile, request, settings, model } = derivation
  const limits = parent.contract.execution.budget
  const adjustments: Adjustment[] = []

  /** What was asked for, as far as everybody allows; else the default. */
  function limit(name: LimitName, byDefault: number, caps: Cap[]): number {
    const own = profile?.profile.budget?.[name]
    const asked = request.budget?.[name]
    const wish = asked !== undefined ? asked : own
    const bounds = [...caps, { most: mostOf(limits[name]), reason: 'its parent has no more itself' }]
    // A profile is a boundary for whoever asks for it, as its tools are.
    if (asked !== undefined && own !== undefined)
      bounds.unshift({ most: mostOf(own), reason: `the profile ${profile?.name} gives no more` })
    const { most, reason } = bounds.reduce((a, b) => (b.most < a.most ? b : a))
    if (wish === undefined) return Math.min(byDefault, most)
    const wanted = mostOf(wish)
    if (wanted <= most) return wanted
    adjustments.push({ field: `execution.budget.${name}`, asked: shown(wanted), given: shown(most), reason })
    return most
  }

  const spare = whatIsLeft(derivation)
  const left = (name: keyof typeof spare): Cap => ({ most: spare[name], reason: 'its parent has no more left' })
  const usual = (name: LimitName, otherwise: number): number => {
    const value = settings.budget[name] !== undefined ? settings.budget[name] : DELEGATION_DEFAULTS.budget[name]
    return value === undefined ? otherwise : mostOf(value)
  }

  const window: Cap[] = model.window === null ? [] : [{ most: model.window, reason: `${nameOf(model)} takes no more` }]
  const tool_calls = limit('tool_calls', usual('tool_calls', limits.tool_calls), [])
  const turns = limit('turns', usual('turns', tool_calls + 2), [])
  const context_tokens = limit('context_tokens', usual('context_tokens', limits.context_tokens), window)
  const wall_ms = limit('wall_ms', usual('wall_ms', limits.wall_ms), [left('wall_ms')])
  // Nobody asked for these: they leave most of what there is to the next sub-agents.
  const enough = Math.max(context_tokens * turns, MIN_CHILD_TOKENS)
  const tokens = Math.min(usual('total_tokens', enough), Math.floor(spare.total_tokens / 4))
  const cost = Math.min(usual('cost_usd', Number.POSITIVE_INFINITY), spare.cost_usd / 4)
  const agents = Math.min(usual('sub_agents', CHILD_SUB_AGENTS), Math.ceil(spare.sub_agents / 4))
  const total_tokens = limit('total_tokens', tokens, [left('total_tokens')])
  const cost_usd = limit('cost_usd', cost, [left('cost_usd')])
  const sub_agents = limit('sub_agents', agents, [
    may_spawn ? left('sub_agents') : { most: 0, reason: 'it may not have sub-agents' },
  ])

  const message = tooLittle(derivation, { total_tokens, cost_usd, wall_ms })
  if (message !== null) return { ok: false, message }
  const budget: Budget = {
    tool_calls,
    turns,
    context_tokens,
    wall_ms,
    total_tokens: unlimited(total_tokens),
    cost_usd: unlimited(cost_usd),
    sub_agents,
  }
  return { ok: true, budget, adjustments }
}

function wishFaults({ profile, request }: Derivation): string[] {
  return [request.budget ?? {}, profile?.profile.budget ?? {}].flatMap((wish) => {
    const { total_tokens } = wish
    const small = typeof total_tokens === 'number' && total_tokens > 0 && total_tokens < MIN_CHILD_TOKENS
    const few = small ? [`total_tokens must be at least ${MIN_CHILD_TOKENS} for a sub-agent`] : []
    return [...unknownLimits(wish), ...budgetFaults(wish), ...few]
  })
}

/** Never more than the parent's own limit, whatever a ledger says; whole numbers where the contract wants such. */
function whatIsLeft({ parent }: Derivation) {
  const { left, contract } = parent
  const limits = contract.execution.budget
  return {
    total_tokens: Math.floor(Math.min(left.total_tokens, mostOf(limits.total_tokens))),
    cost_usd: Math.min(left.cost_usd, mostOf(limits.cost_usd)),
    // The sub-agent itself is one.
    sub_agents: Math.max(0, Math.floor(Math.min(left.sub_agents, limits.sub_agents)) - 1),
    wall_ms: Math.floor(Math.min(left.wall_ms, limits.wall_ms)),
  }
}

/** Why the parent cannot pay for a sub-agent at all, in words that its model can act on. */
function tooLittle(
  { parent, model }: Derivation,
  given: { total_tokens: number; cost_usd: number; wall_ms: number },
): string | null {
  const limits = parent.contract.execution.budget
  const { left } = parent
  if (left.sub_agents < 1) {
    return `Not spawned: the budget of ${limits.sub_agents} sub-agents is used up. Do the rest yourself, or answer with what you have.`
  }
  const gone = (name: 'total_tokens' | 'cost_usd') => shown(mostOf(limits[name]) - Math.max(0, left[name]))
  const instead =
    'Wait for running sub-agents with spawn_await, which gives back what they did not use, do the rest yourself, or answer with what you have.'
  const { least_usd = 0 } = model
  if (left.cost_usd <= 0 || (limits.cost_usd !== null && given.cost_usd < least_usd)) {
    const needs = least_usd > 0 ? ` A sub-agent needs at least ${shown(least_usd)}.` : ''
    return `Not spawned: of the budget of ${limits.cost_usd} USD, ${gone('cost_usd')} are spent or set aside for running sub-agents.${needs} ${instead}`
  }
  if (given.total_tokens < MIN_CHILD_TOKENS) {
    return `Not spawned: of the budget of ${limits.total_tokens} tokens, ${gone('total_tokens')} are spent or set aside for running sub-agents. A sub-agent needs at least ${MIN_CHILD_TOKENS} and would get ${Math.max(0, given.total_tokens)}. ${instead}`
  }
  if (given.wall_ms < MIN_WALL_MS) {
    const seconds = Math.max(0, left.wall_ms / 1000)
    return `Not spawned: of the budget of ${limits.wall_ms / 1000} seconds, ${shown(seconds)} are left, and a sub-agent needs at least ${MIN_WALL_MS / 1000}. Do the rest yourself, or answer with what you have.`
  }
  return null
}

/** Infinity stands for no limit. */
function mostOf(limit: number | null): number {
  return limit ?? Number.POSITIVE_INFINITY
}

function unlimited(limit: number): number | null {
  return limit === Number.POSITIVE_INFINITY ? null : limit
}

function shown(value: number): string {
  return value === Number.POSITIVE_INFINITY ? 'no limit' : String(Number(value.toPrecision(12)))
}
