import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { type CostRow, costsOf, type Retinue, titleOf } from '../../index.js'
import { type Route, route } from '../route.js'
import { costsSchema } from '../schemas/costs.js'
import type { Costs } from '../wire.js'
import { perRetinue } from './per-retinue.js'
import { nothing, whole } from './shapes.js'

const DAY_MS = 24 * 3_600_000
const MOST_DAYS = 366
/** So many of the newest runs are looked at. */
const MOST_RUNS = 1000
/** What so many runs have cost is kept: reading a log again to the same end finds the same. */
const MOST_KEPT = 2 * MOST_RUNS

type Known = { last_position: number; rows: CostRow[] }

/** What runs of one Retinue have cost, as far as that was asked before. */
const knownOf = perRetinue(() => new Map<string, Known>())

export const COST_ROUTES: Route[] = [
  route({
    method: 'GET',
    path: '/costs',
    least: 'viewer',
    summary: 'What agents have spent on models, by run, agent, model and day (UTC).',
    params: nothing,
    query: z.strictObject({ days: whole(1, MOST_DAYS).default(30) }),
    body: null,
    answers: costsSchema,
    handle: async ({ query }, { retinue, now }) => costs(retinue, query.days, now()),
  }),
]

async function costs(retinue: Retinue, days: number, now: number): Promise<Costs> {
  const from = new Date(now - (days - 1) * DAY_MS).toISOString().slice(0, 10)
  const newest = await retinue.runs({ limit: MOST_RUNS + 1 })
  const recent = newest.filter(({ updated_at }) => updated_at >= Date.parse(from))
  const kept = knownOf(retinue)
  const rows: Costs['rows'] = []
  for (const { run_id, last_position, said, task } of recent.slice(0, MOST_RUNS)) {
    const title = titleOf(said ?? task)
    for (const row of await rowsOf(retinue, kept, run_id, last_position)) {
      if (row.day >= from) rows.push({ ...row, task: title })
    }
  }
  return { rows, from, more: recent.length > MOST_RUNS }
}

async function rowsOf(
  retinue: Retinue,
  kept: Map<string, Known>,
  run_id: string,
  last_position: number,
): Promise<CostRow[]> {
  const before = kept.get(run_id)
  if (before?.last_position === last_position) return before.rows
  await setImmediate()
  const rows = costsOf(await retinue.events(run_id))
  kept.delete(run_id)
  kept.set(run_id, { last_position, rows })
  const [oldest] = kept.keys()
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  return rows
}
