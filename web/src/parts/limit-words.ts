import { type Budget, NO_LIMIT, plural, timeInWords, usdText } from '#domain'

/** What may be spent, in the order in which it would be noticed: only what is said. */
export function limitWords(budget: Partial<Budget>): string[] {
  const { turns, tool_calls, total_tokens, cost_usd, wall_ms, context_tokens, sub_agents } = budget
  return [
    ...(turns === undefined ? [] : [plural(turns, 'turn')]),
    ...(tool_calls === undefined ? [] : [plural(tool_calls, 'tool call')]),
    ...(total_tokens === undefined
      ? []
      : [total_tokens === null ? `${NO_LIMIT} tokens` : plural(total_tokens, 'token')]),
    ...(cost_usd === undefined ? [] : [cost_usd === null ? `${NO_LIMIT} on cost` : `$${usdText(cost_usd)}`]),
    ...(wall_ms === undefined ? [] : [timeInWords(wall_ms)]),
    ...(context_tokens === undefined ? [] : [`${plural(context_tokens, 'token')} of context`]),
    ...(sub_agents === undefined ? [] : [plural(sub_agents, 'sub-agent')]),
  ]
}
