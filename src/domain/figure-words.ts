import { costInWords, countInWords, plural, timeInWords } from './amounts.js'
import { endedAs, endInWords } from './in-words.js'
import type { RunRow } from './projection.js'
import type { AgentResult } from './result.js'

type Tokens = Pick<AgentResult['usage'], 'input_tokens' | 'cached_tokens' | 'output_tokens'>

/** What a run has spent so far, in one line. */
export function runFigures(
  run: Pick<RunRow, 'turns' | 'tool_calls' | 'created_at' | 'updated_at'> & Tokens & { cost_usd: number | null },
): string {
  return [...spent(run, run, run.cost_usd), timeInWords(run.updated_at - run.created_at)].join(', ')
}

/** The same of an agent that has ended, all below it included. */
export function resultFigures(result: AgentResult): string {
  const { usage, cost_usd, duration_ms, sub_agents = 0 } = result
  const below = sub_agents > 0 ? [`${plural(sub_agents, 'sub-agent')} included`] : []
  return [...spent(result, usage, cost_usd), ...below, timeInWords(duration_ms)].join(', ')
}

/** How an agent ended, in a word or two. `final_status`: null until it is closed. */
export function endWords({ outcome }: AgentResult, final_status: 'completed' | 'failed' | null): string {
  return final_status === null ? outcome : endInWords(endedAs(final_status, outcome), outcome)
}

function spent(
  { turns, tool_calls }: { turns: number; tool_calls: number },
  { input_tokens, cached_tokens, output_tokens }: Tokens,
  cost_usd: number | null,
): string[] {
  return [
    plural(turns, 'turn'),
    plural(tool_calls, 'tool call'),
    `${countInWords(input_tokens)} tokens in (${countInWords(cached_tokens)} cached)`,
    `${countInWords(output_tokens)} out`,
    costInWords(cost_usd),
  ]
}
