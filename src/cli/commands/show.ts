import { type AgentRow, type Contract, type RunSummary, type StoredEvent, summarize } from '../../index.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { cost, count, duration, line, type Paint, paintFor, plural, printable } from '../style.js'

export async function show(id: string, options: StoreOptions & { full?: boolean; json?: boolean }): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const run = await retinue.find(id)
    const events = await retinue.events(run.run_id)
    if (options.json) {
      for (const event of events) process.stdout.write(`${JSON.stringify(event)}\n`)
      return 0
    }
    const paint = paintFor(process.stdout, process.env)
    const write = (line: string) => process.stdout.write(`${line}\n`)
    header(run, paint).forEach(write)
    for (const agent of await retinue.agents(run.run_id)) contractLines(agent, paint).forEach(write)
    write('')
    for (const event of events) timeline(event, run.created_at, paint, options.full === true).forEach(write)
    if (run.text) write(`\n${printable(run.text)}`)
    if (run.status === 'interrupted')
      write(paint.yellow(`\nIts process is gone. Go on with: retinue resume ${run.run_id}`))
    return 0
  })
}

function header(run: RunSummary, { bold, dim }: Paint): string[] {
  const state = run.outcome ?? run.status
  const tokens = `${count(run.input_tokens)} tokens in (${count(run.cached_tokens)} cached), ${count(run.output_tokens)} out`
  return [
    bold(printable(shortened(run.task))),
    `${state} ${dim(`· run ${run.run_id} · session ${run.session_id} · ${new Date(run.created_at).toISOString()}`)}`,
    dim(
      `${plural(run.turns, 'turn')}, ${plural(run.tool_calls, 'tool call')}, ${tokens}, ${cost(run.cost_usd)}, ${duration(run.updated_at - run.created_at)}`,
    ),
  ]
}

function contractLines(agent: AgentRow, { dim }: Paint): string[] {
  const { permissions, execution, adjustments, model } = JSON.parse(agent.context_json) as Contract
  const { budget } = execution
  return [
    dim(
      `agent ${agent.agent_id}: ${agent.model} (chosen by ${model.source}), ${permissions.mode} mode, tools ${permissions.allowed_tools.join(' ')}`,
    ),
    dim(
      `budget: ${plural(budget.turns, 'turn')}, ${plural(budget.tool_calls, 'tool call')}, ${count(budget.total_tokens ?? 0)} tokens, ${budget.cost_usd === null ? '' : `${cost(budget.cost_usd)}, `}${duration(budget.wall_ms)}`,
    ),
    ...adjustments.map((a) => dim(`adjusted: ${a.field} from ${a.asked} to ${a.given}: ${a.reason}`)),
  ]
}

function timeline(event: StoredEvent, start: number, { dim, cyan }: Paint, full: boolean): string[] {
  const time = `+${((event.at - start) / 1000).toFixed(2)}s`.padStart(9)
  const row = `${dim(String(event.position).padStart(4))} ${dim(time)} ${dim(event.agent_id)} ${cyan(event.type.padEnd(20))} ${line(summarize(event))}`
  if (!full) return [row]
  return [
    row,
    ...JSON.stringify(event.data, null, 2)
      .split('\n')
      .map((l) => `      ${printable(l)}`),
  ]
}

/** A task can be a book. --json has all of it. */
function shortened(task: string): string {
  const lines = task.trim().split('\n')
  const head = lines.slice(0, 10).join('\n').slice(0, 1000)
  return head.length < task.trim().length ? `${head} …` : head
}
