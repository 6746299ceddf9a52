import { countText, usdText } from './amounts.js'
import { MIN_WALL_MS } from './budget.js'
import type { Derivation, Parent } from './derive.js'

/** With less than this no model gets anything done. */
export const MIN_CHILD_TOKENS = 2000
/** What an answer may need. A call that would not leave this much is not made. */
export const ANSWER_TOKENS = 1000

/** The least `total_tokens` with which an agent makes a turn with a request of this size and can still report. */
export function childNeeds(estimated_request_tokens: number): number {
  return 2 * (estimated_request_tokens + ANSWER_TOKENS)
}

/** What a sub-agent has to have of tokens and dollars to begin at all. */
export function leastOf({ least_tokens = 0, least_usd = 0 }: Derivation['model']) {
  return { least_tokens: Math.max(MIN_CHILD_TOKENS, least_tokens), least_usd }
}

const INSTEAD = 'do the rest yourself, or answer with what you have.'

/** Why there is too little for a sub-agent, in words that its parent's model can act on. */
export function tooLittle(
  { parent, model }: Derivation,
  given: { total_tokens: number; cost_usd: number; wall_ms: number },
): string | null {
  const limits = parent.contract.execution.budget
  const { left } = parent
  if (left.sub_agents < 1) {
    const agents = limits.sub_agents === 1 ? '1 sub-agent' : `${countText(limits.sub_agents)} sub-agents`
    return `Not spawned: the budget of ${agents} is used up. ${capital(INSTEAD)}`
  }
  const { least_tokens, least_usd } = leastOf(model)
  if (limits.cost_usd !== null && (left.cost_usd <= 0 || left.cost_usd < least_usd)) {
    return scarce(parent, 'cost_usd', least_usd)
  }
  if (left.total_tokens < least_tokens) return scarce(parent, 'total_tokens', least_tokens)
  // There would be enough, and its own limit is smaller than that.
  if (given.cost_usd < least_usd) return tooSmall(`${usdText(given.cost_usd)} USD`, usdText(least_usd, 'up'))
  if (given.total_tokens < least_tokens) {
    return tooSmall(`${countText(given.total_tokens)} tokens`, countText(least_tokens))
  }
  if (given.wall_ms < MIN_WALL_MS) {
    const seconds = Math.max(0, Math.floor(left.wall_ms / 100) / 10)
    return `Not spawned: of the budget of ${limits.wall_ms / 1000} seconds, ${seconds} are left, and a sub-agent needs at least ${MIN_WALL_MS / 1000}. ${capital(INSTEAD)}`
  }
  return null
}

/** What is left, what of it the parent keeps, what a sub-agent needs; and whether waiting can help. */
function scarce(parent: Parent, name: 'total_tokens' | 'cost_usd', least: number): string {
  const [text, unit] = name === 'cost_usd' ? [usdText, 'USD'] : [countText, 'tokens']
  const limit = parent.contract.execution.budget[name] as number
  const kept = parent.kept?.[name] ?? 0
  const there = Math.max(0, parent.left[name] + kept)
  const needs = least > 0 ? `; a sub-agent needs at least ${text(least, 'up')}` : ''
  const aside = parent.reserved?.[name] ?? 0
  const wait = `Wait for running sub-agents with spawn_await, which gives back what they do not use of the ${text(aside)} set aside for them, ${INSTEAD}`
  return `Not spawned: ${text(there)} ${unit} are left of ${text(limit)}${keptText(kept, there, text)}${needs}. ${aside > 0 ? wait : capital(INSTEAD)}`
}

function keptText(kept: number, there: number, text: (amount: number) => string): string {
  if (kept <= 0 || there <= 0) return ''
  const part = kept < there ? `of which ${text(kept)} are` : 'all of it'
  return `, ${part} kept for your own next turns`
}

function tooSmall(given: string, least: string): string {
  return `Not spawned: its budget gives it ${given}, and a sub-agent needs at least ${least}. Ask for more, use another profile, or do it yourself.`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
