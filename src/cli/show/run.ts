import {
  type AgentRow,
  adjustmentWords,
  type Contract,
  type RunSummary,
  runFigures,
  sourceInWords,
} from '../../index.js'
import { cost, count, duration, line, type Paint, plural, printable } from '../style.js'

/** Above so many, the contracts of agents are on their own pages only. */
const MAX_CONTRACTS = 20

/** `word`: how it stands. */
export function runHead(run: RunSummary, word: string, { bold, dim }: Paint): string[] {
  return [
    bold(printable(shortened(run.task))),
    `${word} ${dim(`· run ${run.run_id} · session ${run.session_id} · ${new Date(run.created_at).toISOString()}`)}`,
    dim(runFigures(run)),
  ]
}

export function contracts(run_id: string, agents: readonly AgentRow[], paint: Paint): string[] {
  if (agents.length <= MAX_CONTRACTS) return agents.flatMap((agent) => contractLines(agent, paint))
  const hint = `retinue show ${run_id} <agent> shows the contract of one`
  return [paint.dim(`${plural(agents.length, 'agent')}, each under a contract of its own: ${hint}`)]
}

function contractLines(agent: AgentRow, { dim }: Paint): string[] {
  const { permissions, execution, adjustments, model } = JSON.parse(agent.context_json) as Contract
  const { budget } = execution
  const label = execution.label === undefined ? '' : `, on workers with the label ${execution.label}`
  const tools = permissions.allowed_tools.join(' ') || 'none'
  return [
    dim(
      `agent ${agent.agent_id}: ${agent.model} (${sourceInWords(model.source)}), ${permissions.mode} mode${label}, tools ${tools}`,
    ),
    dim(
      `budget: ${plural(budget.turns, 'turn')}, ${plural(budget.tool_calls, 'tool call')}, ${count(budget.total_tokens ?? 0)} tokens, ${budget.cost_usd === null ? '' : `${cost(budget.cost_usd)}, `}${duration(budget.wall_ms)}`,
    ),
    ...adjustments.map((one) => dim(line(`adjusted: ${adjustmentWords(one)}`))),
  ]
}

/** A task can be a book. --json has all of it. */
function shortened(task: string): string {
  const lines = (task.trim().split(/\n\s*\n/, 1)[0] as string).split('\n')
  const head = lines.slice(0, 10).join('\n').slice(0, 1000)
  return head.length < task.trim().length ? `${head} …` : head
}
