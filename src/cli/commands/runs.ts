import { aboutOf, type ListedRun, listedRun } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { NOT_CARRIED_OUT } from '../plan/outcome-lines.js'
import { runWords, WAITS_FOR_YOU } from '../run-words.js'
import { age, cost, count, type Paint, paintFor, printable } from '../style.js'

export async function runs(options: StoreOptions & { limit: number; json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const found = await retinue.runs({ limit: options.limit })
    const rows = await Promise.all(found.map((run) => listedRun(retinue, run)))
    if (options.json) {
      for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`)
      return 0
    }
    if (rows.length === 0) process.stdout.write('No runs yet. Start one: retinue "task"\n')
    const words = await runWords(retinue, rows)
    for (const text of runTable(rows, words, paintFor(process.stdout, process.env))) process.stdout.write(`${text}\n`)
    return 0
  })
}

/** A line for each run, and what can be done about those that nobody works on. `words`: how each of them stands. */
export function runTable(
  rows: readonly ListedRun[],
  words: ReadonlyMap<string, string>,
  { dim, green, red, yellow }: Paint,
): string[] {
  const lines = rows.map((row) => {
    const word = words.get(row.run_id) ?? row.status
    const is_open = row.status === 'running' || row.paused || word === NOT_CARRIED_OUT
    const colour = word === 'completed' ? green : is_open ? yellow : red
    const tokens = `${count(row.input_tokens + row.output_tokens)} tokens, ${cost(row.cost_usd)}`
    const task = printable(`${row.plan ? 'plan: ' : ''}${aboutOf(row.task)}`).slice(0, 60)
    const figures = dim(`${tokens}, ${age(row.created_at, Date.now())}`)
    return `${row.run_id}  ${colour(word.padEnd(15))} ${task.padEnd(60)} ${figures}`
  })
  const asks = [...words.values()].includes(WAITS_FOR_YOU)
  const stands = rows.some((row) => row.status === 'interrupted')
  return [
    ...lines,
    ...(asks ? [dim('A run that waits for you asks something: retinue answer <run>')] : []),
    ...(stands ? [dim('A run that is paused or interrupted goes on with: retinue resume <run>')] : []),
  ]
}
