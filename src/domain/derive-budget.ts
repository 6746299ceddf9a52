import { NO_LIMIT, usdText } from './amounts.js'
import { type Budget, budgetFaults, type LimitName, unknownLimits } from './budget.js'
import type { Adjustment } from './contract.js'
import { DELEGATION_DEFAULTS } from './delegation.js'
import type { Derivation, NamedProfile } from './derive.js'
import { leastOf, MIN_CHILD_TOKENS, tooLittle } from './derive-least.js'
import { nameOf } from './derive-model.js'

/** What an agent that may have sub-agents gets of them, unless asked otherwise. */
const CHILD_SUB_AGENTS = 10
/** Full requests that a sub-agent can pay for, unless asked otherwise. Few are ever full. */
export const CHILD_REQUESTS = 8

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
    const own = name === 'context_tokens' ? contextWish(profile, model.window) : profile?.profile.budget?.[name]
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
    const text = name === 'cost_usd' ? usdText : shown
    adjustments.push({ field: `execution.budget.${name}`, asked: text(wanted), given: text(most), reason })
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
  const shares = usualShares(derivation, spare, may_spawn && spare.sub_agents > 0, context_tokens)
  const tokens = Math.min(usual('total_tokens', shares.total_tokens), shares.most_tokens)
  const cost = Math.min(usual('cost_usd', shares.cost_usd), shares.most_usd)
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

/** What a share of a large window comes to at most: 200,000 characters, at 4 a token. */
const MOST_SHARED_TOKENS = 50_000

/** How large a profile's requests may become: what it says in tokens, or its share of the window where that is more. */
function contextWish(profile: NamedProfile | null, window: number | null): number | undefined {
  const { budget, context_share } = profile?.profile ?? {}
  if (context_share === undefined || window === null) return budget?.context_tokens
  const share = Math.min(Math.floor((window * context_share) / 100), MOST_SHARED_TOKENS)
  return Math.max(budget?.context_tokens ?? 0, share, 1)
}

/**
 * The limits of a root agent as far as its profile lets them stand. What nobody asked for is lowered without a word; a
 * profile raises nothing.
 */
export function narrowBudget(
  limits: Budget,
  asked: Partial<Budget>,
  profile: NamedProfile | null,
  window: number | null,
): { budget: Budget; adjustments: Adjustment[] } {
  const adjustments: Adjustment[] = []
  const lowered = Object.entries(limits).map(([key, limit]) => {
    const name = key as LimitName
    const own = name === 'context_tokens' ? contextWish(profile, window) : profile?.profile.budget?.[name]
    if (own === undefined || mostOf(own) === mostOf(limit)) return [name, limit]
    const isMore = mostOf(own) > mostOf(limit)
    const text = name === 'cost_usd' ? usdText : shown
    const adjust = (wish: number | null, given: number | null, reason: string) =>
      adjustments.push({
        ...{ field: `execution.budget.${name}`, asked: text(mostOf(wish)), given: text(mostOf(given)) },
        reason,
      })
    if (isMore) adjust(own, limit, 'the run has no more itself')
    else if (asked[name] !== undefined) adjust(limit, own, `the profile ${profile?.name} gives no more`)
    return [name, isMore ? limit : own]
  })
  return { budget: Object.fromEntries(lowered) as Budget, adjustments }
}

function wishFaults({ profile, request }: Derivation): string[] {
  return [request.budget ?? {}, profile?.profile.budget ?? {}].flatMap((wish) => {
    const { total_tokens } = wish
    const small = typeof total_tokens === 'number' && total_tokens > 0 && total_tokens < MIN_CHILD_TOKENS
    const few = small ? [`total_tokens must be at least ${MIN_CHILD_TOKENS} for a sub-agent`] : []
    return [...unknownLimits(wish), ...budgetFaults(wish), ...few]
  })
}

type Spare = { total_tokens: number; cost_usd: number; sub_agents: number; wall_ms: number }

/** Never more than the parent's own limit, whatever a ledger says; whole numbers where the contract wants such. */
function whatIsLeft({ parent }: Derivation): Spare {
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

/**
 * What a sub-agent gets that nobody asked for: enough for its work, measured by its parent's limit and not by what is
 * left, so that the eighth gets as much as the first; and never more than half of what is left, for those that come
 * after it. One with sub-agents of its own gets more.
 */
function usualShares({ parent, model }: Derivation, spare: Spare, leads: boolean, context_tokens: number) {
  const limits = parent.contract.execution.budget
  const { least_tokens, least_usd } = leastOf(model)
  const tenth = Math.floor(mostOf(limits.total_tokens) / 10)
  const alone = Math.max(Math.min(CHILD_REQUESTS * context_tokens, tenth), least_tokens)
  const { parts } = parent
  if (parts !== undefined) {
    const part = Math.floor(mostOf(limits.total_tokens) / parts)
    return {
      total_tokens: Math.max(least_tokens, leads ? part : Math.min(CHILD_REQUESTS * context_tokens, part)),
      cost_usd: Math.max(mostOf(limits.cost_usd) / parts, least_usd),
      most_tokens: spare.total_tokens,
      most_usd: spare.cost_usd,
    }
  }
  return {
    total_tokens: leads ? Math.max(alone, Math.floor(mostOf(limits.total_tokens) / 4)) : alone,
    cost_usd: Math.max(mostOf(limits.cost_usd) / (leads ? 4 : 10), least_usd),
    most_tokens: Math.max(Math.floor(spare.total_tokens / 2), least_tokens),
    most_usd: Math.max(spare.cost_usd / 2, least_usd),
  }
}

/** Infinity stands for no limit. */
function mostOf(limit: number | null): number {
  return limit ?? Number.POSITIVE_INFINITY
}

function unlimited(limit: number): number | null {
  return limit === Number.POSITIVE_INFINITY ? null : limit
}

function shown(value: number): string {
  return value === Number.POSITIVE_INFINITY ? NO_LIMIT : String(Number(value.toPrecision(12)))
}
