import {
  type Budget,
  countText,
  type LimitName,
  NO_LIMIT,
  namesInWords,
  type Plan,
  type PlanStep,
  plural,
  usdText,
} from '../domain/index.js'
import { leastAgents } from './agents-needed.js'
import type { PlanFault } from './faults.js'
import { wantsReview } from './reviewing.js'

/** Where the budgets of steps do not fit into that of the run. `used_agents`: sub-agents that it had so far. */
export function budgetMisfits(plan: Plan, budget: Budget, used_agents: number): PlanFault[] {
  const { steps } = plan
  const alone = steps.flatMap((step, i) => tooLarge(step, i, budget))
  // A step that asks for more than there is says so by itself; what the others come to is another matter.
  const isTold = (i: number, name: LimitName) => alone.some(({ path }) => path === pathOf(i, name))
  const others = (name: LimitName) => steps.filter((_, i) => !isTold(i, name))
  return [
    ...alone,
    ...(['total_tokens', 'cost_usd'] as const).flatMap((name) => tooMuchTogether(others(name), name, budget)),
    ...tooManyAgents(plan, others('sub_agents'), budget.sub_agents, used_agents),
    ...tooLong(steps, new Set(others('wall_ms')), budget),
  ]
}

const LESS = 'ask for less, or give the run more'

function tooLarge({ budget: asked }: PlanStep, index: number, budget: Budget): PlanFault[] {
  return (Object.keys(asked) as LimitName[]).flatMap((name) => {
    if (amount(asked[name] ?? null) <= amount(budget[name])) return []
    const message = `${text(name, asked[name] ?? null)} is more than the run's ${text(name, budget[name])}: ${LESS}`
    return [{ path: pathOf(index, name), message }]
  })
}

/** What is set aside for all of them, where each by itself would fit. */
function tooMuchTogether(steps: readonly PlanStep[], name: 'total_tokens' | 'cost_usd', budget: Budget): PlanFault[] {
  const asking = steps.filter((step) => typeof step.budget[name] === 'number')
  const sum = asking.reduce((all, step) => all + (step.budget[name] ?? 0), 0)
  // Floats do not add up to the last digit.
  if (Number(sum.toPrecision(12)) <= amount(budget[name])) return []
  const together = name === 'cost_usd' ? usdText(sum, 'up') : countText(sum)
  const which = asking.map(({ id }) => id).join(', ')
  const message = `the ${name} of steps ${which} come to ${together}, and the run has ${text(name, budget[name])}: ${LESS}`
  return [{ path: 'steps', message }]
}

/** Each step is a sub-agent, and may have others; so is whoever looks at the result. */
function tooManyAgents(plan: Plan, counted: readonly PlanStep[], most: number, used: number): PlanFault[] {
  const below = counted.reduce((all, step) => all + (step.budget.sub_agents ?? 0), 0)
  const least = leastAgents(plan, below)
  if (used + least <= most) return []
  const parts = [
    plural(plan.steps.length, 'step'),
    ...(wantsReview(plan) ? ['a review'] : []),
    ...(below > 0 ? [`the ${plural(below, 'sub-agent')} that they may have`] : []),
  ]
  const all = parts.length > 1 ? `, ${countText(least)} together,` : ''
  const are = least === 1 ? 'is' : 'are'
  const there = `${countText(most)}${used > 0 ? `, of which ${countText(used)} ${used === 1 ? 'is' : 'are'} used` : ''}`
  const message = `${namesInWords(parts)}${all} ${are} more than the run has sub-agents, ${there}: make fewer steps, or give the run more`
  return [{ path: 'steps', message }]
}

/** The steps that have to wait for each other and may take longest. */
function tooLong(steps: readonly PlanStep[], counted: ReadonlySet<PlanStep>, budget: Budget): PlanFault[] {
  const chains = new Map<string, Chain>()
  const chainOf = (step: PlanStep): Chain => {
    const known = chains.get(step.id)
    if (known) return known
    const before = step.depends_on.flatMap((id) => steps.find((one) => one.id === id) ?? []).map(chainOf)
    const { ids, wall_ms } = longest(before)
    const own = counted.has(step) ? (step.budget.wall_ms ?? 0) : 0
    const chain = own === 0 ? { ids, wall_ms } : { ids: [...ids, step.id], wall_ms: wall_ms + own }
    chains.set(step.id, chain)
    return chain
  }
  const { ids, wall_ms } = longest(steps.map(chainOf))
  if (wall_ms <= budget.wall_ms) return []
  const message = `steps ${ids.join(' → ')} come one after the other and may take ${wall_ms} ms, and the run has ${budget.wall_ms}: ${LESS}`
  return [{ path: 'steps', message }]
}

type Chain = { ids: string[]; wall_ms: number }

function longest(chains: readonly Chain[]): Chain {
  return chains.reduce((a, b) => (b.wall_ms > a.wall_ms ? b : a), { ids: [], wall_ms: 0 })
}

function pathOf(index: number, name: LimitName): string {
  return `steps[${index}].budget.${name}`
}

function amount(limit: number | null): number {
  return limit ?? Number.POSITIVE_INFINITY
}

function text(name: LimitName, limit: number | null): string {
  if (limit === null) return NO_LIMIT
  if (name === 'total_tokens' || name === 'context_tokens') return plural(limit, 'token')
  if (name === 'cost_usd') return `${limit} USD`
  if (name === 'wall_ms') return `${limit} ms`
  return countText(limit)
}
