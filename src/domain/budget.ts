import { z } from 'zod'

/**
 * What an agent may spend. The first four are its own; the last three are for it and everything below it, set aside
 * from what its parent has left and given back when it closes. null means no limit of that kind.
 */
export const budgetSchema = z.strictObject({
  tool_calls: z.int(),
  turns: z.int(),
  /** The size one request may reach. */
  context_tokens: z.int(),
  wall_ms: z.int(),
  total_tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  sub_agents: z.int(),
})
export type Budget = z.infer<typeof budgetSchema>

export type LimitName = keyof Budget

export const MIN_WALL_MS = 5000

/** Every fault of a budget, in words that name the limit. Empty: the budget is sound. */
export function budgetFaults(budget: Partial<Budget>): string[] {
  const faults: string[] = []
  for (const name of ['tool_calls', 'turns', 'context_tokens', 'total_tokens', 'cost_usd'] as const) {
    const value = budget[name]
    if (typeof value === 'number' && !(value > 0)) faults.push(`${name} must be positive`)
  }
  if (budget.wall_ms !== undefined && !(budget.wall_ms >= MIN_WALL_MS)) {
    faults.push(`wall_ms must be at least ${MIN_WALL_MS}`)
  }
  if (budget.sub_agents !== undefined && !(budget.sub_agents >= 0)) faults.push('sub_agents must not be negative')
  return faults
}

/** What a budget from outside has that is no limit. */
export function unknownLimits(budget: object): string[] {
  const names = Object.keys(budgetSchema.shape)
  const unknown = Object.keys(budget).filter((name) => !names.includes(name))
  return unknown.map((name) => `there is no budget of ${name}; there are ${names.join(', ')}`)
}

/** What was asked for on top of the defaults, with undefined meaning "not asked for". */
export function withDefaults(defaults: Budget, asked: Partial<Budget>): Budget {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(given) }
}

export type Spend = { [name in LimitName]: number }

/** A budget with what has been spent of it and what is set aside for children that are still open. */
export type Ledger = {
  limits: Budget
  spent: Spend
  reserved: { total_tokens: number; cost_usd: number; sub_agents: number }
}

export const NOTHING_RESERVED: Ledger['reserved'] = { total_tokens: 0, cost_usd: 0, sub_agents: 0 }

export function openLedger(limits: Budget): Ledger {
  return {
    limits,
    spent: { tool_calls: 0, turns: 0, context_tokens: 0, wall_ms: 0, total_tokens: 0, cost_usd: 0, sub_agents: 0 },
    reserved: NOTHING_RESERVED,
  }
}

/** What may still be spent. Infinity where there is no limit. */
export function left(ledger: Ledger, name: LimitName): number {
  const limit = ledger.limits[name]
  if (limit === null) return Number.POSITIVE_INFINITY
  const reserved = name === 'total_tokens' || name === 'cost_usd' || name === 'sub_agents' ? ledger.reserved[name] : 0
  return limit - ledger.spent[name] - reserved
}

export function spend(ledger: Ledger, amounts: Partial<Spend>): Ledger {
  const spent = { ...ledger.spent }
  for (const [name, amount] of Object.entries(amounts) as [LimitName, number][]) spent[name] += amount
  return { ...ledger, spent }
}

export type Reservation = { total_tokens: number | null; cost_usd: number | null; sub_agents: number }

/** Sets a child's share aside. Refused, with the limit's name, when less than that is left. */
export function reserve(
  ledger: Ledger,
  share: Reservation,
): { ok: true; ledger: Ledger } | { ok: false; limit: LimitName } {
  const reserved = { ...ledger.reserved }
  for (const name of ['total_tokens', 'cost_usd', 'sub_agents'] as const) {
    const amount = share[name]
    // An unlimited child under a limited parent would be a hole in the parent's budget.
    if (amount === null ? ledger.limits[name] !== null : amount > left(ledger, name)) return { ok: false, limit: name }
    reserved[name] += amount ?? 0
  }
  return { ok: true, ledger: { ...ledger, reserved } }
}

/** Gives a closed child's share back and books what it really spent. */
export function settle(ledger: Ledger, share: Reservation, used: Reservation): Ledger {
  const reserved = { ...ledger.reserved }
  for (const name of ['total_tokens', 'cost_usd', 'sub_agents'] as const) reserved[name] -= share[name] ?? 0
  return spend(
    { ...ledger, reserved },
    { total_tokens: used.total_tokens ?? 0, cost_usd: used.cost_usd ?? 0, sub_agents: used.sub_agents },
  )
}
