import { aboutOf, type RunSummary } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { leftRuns } from '../plan/left-runs.js'
import { NOT_CARRIED_OUT } from '../plan/outcome-lines.js'
import { age, cost, count, type Paint, paintFor, printable } from '../style.js'

export async function runs(options: StoreOptions & { limit: number; json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const rows = await retinue.runs({ limit: options.limit })
    if (options.json) {
      for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`)
      return 0
    }
    if (rows.length === 0) process.stdout.write(`No runs in ${retinue.cwd} yet. Start one: retinue "task"\n`)
    const left = await leftRuns(retinue, rows)
    for (const text of runTable(rows, left, paintFor(process.stdout, process.env))) process.stdout.write(`${text}\n`)
    return 0
  })
}

/** A line for each run, and what can be done about those that nobody works on. `left`: whose plans are for later. */
export function runTable(
  rows: readonly RunSummary[],
  left: ReadonlySet<string>,
  { dim, green, red, yellow }: Paint,
): string[] {
  const lines = rows.map((row) => {
    const for_later = left.has(row.run_id)
    const ended = for_later ? NOT_CARRIED_OUT : (row.outcome ?? 'closed')
    const state = row.status === 'closed' ? ended : row.paused ? 'paused' : row.status
    const colour = state === 'completed' ? green : row.status === 'running' || row.paused || for_later ? yellow : red
    const tokens = `${count(row.input_tokens + row.output_tokens)} tokens, ${cost(row.cost_usd)}`
    const task = printable(`${row.plan ? 'plan: ' : ''}${aboutOf(row.task)}`).slice(0, 60)
    const figures = dim(`${tokens}, ${age(row.created_at, Date.now())}`)
    return `${row.run_id}  ${colour(state.padEnd(15))} ${task.padEnd(60)} ${figures}`
  })
  const stands = rows.some((row) => row.status === 'interrupted')
  return stands ? [...lines, dim('A run that is paused or interrupted goes on with: retinue resume <run>')] : lines
}
