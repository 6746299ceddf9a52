import type { PlanPreview } from '../../index.js'
import { cost, duration, line, plural } from '../style.js'

type Estimate = PlanPreview['estimate']
type Side = 'likely' | 'most'

/** What a plan may come to. What nobody knows is left out, and said once. */
export function estimateLines(estimate: Estimate): string[] {
  const likely = figures(estimate, 'likely')
  const most = figures(estimate, 'most')
  return [
    ...(likely.length > 0 ? [`Likely: ${likely.join(', ')}`] : []),
    ...(most.length > 0 ? [`At most: ${most.join(', ')}`] : []),
    ...(estimate.cost_usd.most === null ? ['There is no limit on cost that is known: --max-budget-usd sets one'] : []),
    ...(estimate.basis === '' ? [] : [line(`(${estimate.basis})`)]),
  ]
}

/** The same of one step, on a line. */
export function stepEstimate(estimate: Estimate): string {
  const likely = figures(estimate, 'likely')
  const most = figures(estimate, 'most')
  const parts = [
    ...(likely.length > 0 ? [`likely ${likely.join(', ')}`] : []),
    ...(most.length > 0 ? [`at most ${most.join(', ')}`] : []),
  ]
  return parts.join(' · ')
}

function figures({ tool_calls, tokens, cost_usd, duration_ms }: Estimate, side: Side): string[] {
  const shown: [number | null, (value: number) => string][] = [
    [tool_calls[side], (value) => plural(Math.round(value), 'call')],
    [tokens[side], (value) => plural(Math.round(value), 'token')],
    [cost_usd[side], (value) => cost(value)],
    [duration_ms[side], (value) => duration(Math.round(value))],
  ]
  return shown.flatMap(([value, words]) => (value === null ? [] : [words(value)]))
}
