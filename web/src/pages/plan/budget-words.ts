import { type Budget, costInWords, plural, timeInWords } from '#domain'

const WORDS: { [K in keyof Budget]: (amount: number) => string } = {
  turns: (amount) => plural(amount, 'turn'),
  tool_calls: (amount) => plural(amount, 'tool call'),
  context_tokens: (amount) => `${plural(amount, 'token')} in a request`,
  total_tokens: (amount) => plural(amount, 'token'),
  cost_usd: costInWords,
  wall_ms: timeInWords,
  sub_agents: (amount) => plural(amount, 'sub-agent'),
}

/** What a budget says, in words: one for each limit that it sets. */
export function budgetLines(budget: Partial<Budget>): string[] {
  return (Object.keys(WORDS) as (keyof Budget)[]).flatMap((name) => {
    const amount = budget[name]
    return typeof amount === 'number' ? [`At most ${WORDS[name](amount)}`] : []
  })
}
