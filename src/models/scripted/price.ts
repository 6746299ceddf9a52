import type { Usage } from '../../domain/index.js'
import { LISTS, listOf, type Script, type Step } from './script.js'

/**
 * What the tokens of a script cost on average, so that a limit on cost can be held when a recorded run is played. Null
 * prices nothing: a script has a price when each of its answers has one.
 */
export function priceOf(script: Script): ((usage: Usage) => number) | undefined {
  const answers = Object.keys(script.agents).flatMap((key) =>
    LISTS.flatMap((list) => answersOf(listOf(script, key, list) ?? [])),
  )
  let tokens = 0
  let cost_usd = 0
  for (const { usage, cost_usd: cost } of answers) {
    if (cost === undefined) return undefined
    tokens += (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0)
    cost_usd += cost
  }
  if (tokens === 0) return undefined
  return ({ input_tokens, output_tokens }) => ((input_tokens + output_tokens) * cost_usd) / tokens
}

function answersOf(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => {
    if (step.branches) return step.branches.flatMap((branch) => answersOf(branch.steps))
    return step.fail ? [] : [step]
  })
}
