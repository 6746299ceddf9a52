import { PROGRAM } from '#domain'
import type { Costs } from '#wire'

export type CostLine = Costs['rows'][number]

/** What several calls cost together. `known_usd`: of those whose price is known; the others are only counted. */
export type Spent = {
  known_usd: number
  calls: number
  /** Calls of rows in which a price is not known. */
  unpriced_calls: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
}

export type SpentBy = Spent & { key: string }

const NOTHING: Spent = {
  ...{ known_usd: 0, calls: 0, unpriced_calls: 0 },
  ...{ input_tokens: 0, output_tokens: 0, cached_tokens: 0 },
}

/** Without the turns of programs that hand out tasks or carry out plans: no model is asked in them, and nothing is paid. */
export function ofModels(rows: readonly CostLine[]): CostLine[] {
  return rows.filter(({ model }) => !model.startsWith(`${PROGRAM}/`))
}

export function spentOn(rows: readonly CostLine[]): Spent {
  const sum = rows.reduce(
    (spent, row) => ({
      known_usd: spent.known_usd + (row.cost_usd ?? 0),
      calls: spent.calls + row.calls,
      unpriced_calls: spent.unpriced_calls + (row.cost_usd === null ? row.calls : 0),
      input_tokens: spent.input_tokens + row.input_tokens,
      output_tokens: spent.output_tokens + row.output_tokens,
      cached_tokens: spent.cached_tokens + row.cached_tokens,
    }),
    NOTHING,
  )
  // Without the last digits, which are only how floats are added up.
  return { ...sum, known_usd: Number(sum.known_usd.toPrecision(12)) }
}

/** By whatever a row is told apart by: the most money first, then the most tokens, since those without a price have them. */
export function spentBy(rows: readonly CostLine[], keyOf: (row: CostLine) => string): SpentBy[] {
  const groups = new Map<string, CostLine[]>()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return [...groups]
    .map(([key, group]) => ({ key, ...spentOn(group) }))
    .sort((a, b) => b.known_usd - a.known_usd || tokensOf(b) - tokensOf(a) || (a.key < b.key ? -1 : 1))
}

/** Every day from the first to the last, those without a call too. Both are included, such as 2026-11-16. */
export function spentByDay(rows: readonly CostLine[], from: string, to: string): SpentBy[] {
  const byDay = new Map(spentBy(rows, ({ day }) => day).map((spent) => [spent.key, spent]))
  return daysBetween(from, to).map((key) => byDay.get(key) ?? { key, ...NOTHING })
}

const DAY_MS = 86_400_000

function daysBetween(from: string, to: string): string[] {
  const first = Date.parse(`${from}T00:00:00Z`)
  const count = Math.round((Date.parse(`${to}T00:00:00Z`) - first) / DAY_MS) + 1
  return Array.from({ length: Math.max(0, count) }, (_, i) => dayOf(first + i * DAY_MS))
}

/** The day of a moment, where days are counted from midnight UTC as in the rows. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

export function tokensOf({ input_tokens, output_tokens }: Spent): number {
  return input_tokens + output_tokens
}

/** How much of the requests came from the provider's cache, in percent; null where nothing was sent. */
export function cachedShare({ input_tokens, cached_tokens }: Spent): number | null {
  return input_tokens === 0 ? null : Math.round((cached_tokens / input_tokens) * 100)
}

/** A round number that is no smaller, for the top of a chart: 1, 2 or 5 times a power of ten. */
export function topOf(most: number): number {
  if (most <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  const times = [1, 2, 5, 10].find((one) => one * power >= most * (1 - 1e-9)) ?? 10
  return Number((times * power).toPrecision(12))
}
