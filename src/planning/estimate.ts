import { type Budget, DELEGATION_DEFAULTS, plural, type StepSpec } from '../domain/index.js'
import { rehearse } from './rehearsal.js'

/** Calls, tokens and cost: at most, by the budgets; and likely, where earlier sub-agents of the same profile tell. */
export type Estimate = {
  tool_calls: { most: number; likely: number | null }
  tokens: { most: number | null; likely: number | null }
  cost_usd: { most: number | null; likely: number | null }
  duration_ms: { most: number; likely: number | null }
  /** In words: what it rests on. */
  basis: string
}

/** What earlier sub-agents of a profile used, on average. */
export type Experience = {
  agents: number
  tool_calls: number
  tokens: number
  cost_usd: number | null
  duration_ms: number
}

export type EstimateSide = {
  /** By the name of the agent; null: there were none before. */
  experience: (agent: string | null) => Experience | null
  /** What the sub-agent of a step would get. Default: what the step says, else what sub-agents usually get. */
  budgetOf?: (step: StepSpec) => Partial<Budget>
  /** What so many tokens of a step's model cost at most; null: nobody knows. */
  costOf?: (step: StepSpec, tokens: number) => number | null
}

/** Sub-agents that may come besides the steps of a plan: what they are called, one of them, how often at most. */
export type Later = { what: string; step: StepSpec; times: number; likely_times: number }

type Figures<N> = { tool_calls: N; tokens: N; cost_usd: N; duration_ms: N }

export function stepEstimate(step: StepSpec, side: EstimateSide): Estimate {
  const { tool_calls, wall_ms, total_tokens, cost_usd } = budgetOf(step, side)
  const attempts = 1 + step.retries
  const priced = total_tokens === null ? null : (side.costOf?.(step, total_tokens) ?? null)
  const times = (amount: number | null) => (amount === null ? null : exact(amount * attempts))
  const earlier = side.experience(step.agent)
  const most = {
    tool_calls: tool_calls * attempts,
    tokens: times(total_tokens),
    cost_usd: times(least(cost_usd, priced)),
    duration_ms: wall_ms * attempts,
  }
  const again = step.retries > 0 ? `, ${attempts} times because it may be tried again` : ''
  const tell = earlier
    ? `the average of ${plural(earlier.agents, 'earlier sub-agent')} ${ofWhom(step.agent)}`
    : `not known, there is no earlier sub-agent ${ofWhom(step.agent)}`
  return estimate(most, earlier, `at most: its budget${again}; likely: ${tell}`)
}

/** All steps together, side by side as far as they may be, and what may come after them. `run`: nothing goes beyond it. */
export function planEstimate(
  steps: readonly StepSpec[],
  { limit, later, run, ...side }: EstimateSide & { limit: number; later: readonly Later[]; run?: Partial<Budget> },
): Estimate {
  const own = steps.map((step) => ({ step, ...stepEstimate(step, side) }))
  const after = later.map((one) => ({ ...one, ...stepEstimate(one.step, side) }))
  const sum = (pick: (one: Estimate) => number | null, times: (one: Later) => number) =>
    own.reduce(
      (total, one) => plus(total, pick(one), 1),
      after.reduce<number | null>((total, one) => plus(total, pick(one), times(one)), 0),
    )
  const mostTimes = ({ times }: Later) => times
  const likelyTimes = ({ likely_times }: Later) => likely_times
  const makespan = (pick: (one: Estimate) => number | null, times: (one: Later) => number) => {
    const durations = new Map(own.map((one) => [one.step.id, pick(one)]))
    const known = own.every((one) => pick(one) !== null)
    const course = known ? rehearse(steps, limit, (step) => durations.get(step.id) ?? 0) : null
    const together = course && Math.max(0, ...course.map(({ ended }) => ended))
    return after.reduce((total, one) => plus(total, pick(one), times(one)), together)
  }
  const tool_calls = sum(({ tool_calls }) => tool_calls.most, mostTimes) ?? 0
  const most = {
    tool_calls,
    tokens: least(
      run?.total_tokens ?? null,
      sum(({ tokens }) => tokens.most, mostTimes),
    ),
    cost_usd: least(
      run?.cost_usd ?? null,
      sum(({ cost_usd }) => cost_usd.most, mostTimes),
    ),
    duration_ms:
      least(
        run?.wall_ms ?? null,
        makespan(({ duration_ms }) => duration_ms.most, mostTimes),
      ) ?? 0,
  }
  const likely = {
    tool_calls: sum(({ tool_calls }) => tool_calls.likely, likelyTimes),
    tokens: sum(({ tokens }) => tokens.likely, likelyTimes),
    cost_usd: sum(({ cost_usd }) => cost_usd.likely, likelyTimes),
    duration_ms: makespan(({ duration_ms }) => duration_ms.likely, likelyTimes),
  }
  return estimate(most, likely, basisOf(steps, later, side, run !== undefined))
}

function basisOf(steps: readonly StepSpec[], later: readonly Later[], side: EstimateSide, run: boolean): string {
  const retried = steps.some(({ retries }) => retries > 0) ? ', each as often as it may be tried' : ''
  const more = later.filter(({ times }) => times > 0).map(({ what, times }) => plural(times, what))
  const most = [`the budgets of ${plural(steps.length, 'step')}${retried}`, ...more].join(', ')
  const expected = later.filter(({ likely_times }) => likely_times > 0)
  const agents = [...steps, ...expected.map(({ step }) => step)].map(({ agent }) => agent)
  const strange = [...new Set(agents.filter((agent) => side.experience(agent) === null))]
  const once = expected.map(({ what, likely_times }) => plural(likely_times, what))
  const tell =
    strange.length > 0
      ? `not known, there are no earlier sub-agents ${strange.map(ofWhom).join(' or ')}`
      : ['what earlier sub-agents of the same profiles used on average', ...once].join(', ')
  return `at most: ${most}${run ? ', and no more than the run may spend' : ''}; likely: ${tell}`
}

function estimate(most: Figures<number | null>, likely: Figures<number | null> | null, basis: string): Estimate {
  /** Whatever was before, a budget is kept. */
  const bounded = (name: keyof typeof most) => {
    const amount = likely?.[name] ?? null
    const rounded = amount === null || name === 'cost_usd' ? amount : Math.round(amount)
    return rounded === null ? null : least(most[name], rounded)
  }
  return {
    tool_calls: { most: most.tool_calls ?? 0, likely: bounded('tool_calls') },
    tokens: { most: most.tokens, likely: bounded('tokens') },
    cost_usd: { most: most.cost_usd, likely: bounded('cost_usd') },
    duration_ms: { most: most.duration_ms ?? 0, likely: bounded('duration_ms') },
    basis,
  }
}

function budgetOf(step: StepSpec, side: EstimateSide) {
  const usual = DELEGATION_DEFAULTS.budget
  const given = { ...usual, ...(side.budgetOf ? side.budgetOf(step) : step.budget) }
  const { tool_calls = 0, wall_ms = 0, total_tokens = null, cost_usd = null } = given
  return { tool_calls, wall_ms, total_tokens, cost_usd }
}

function plus(total: number | null, amount: number | null, times: number): number | null {
  if (times === 0) return total
  return total === null || amount === null ? null : exact(total + amount * times)
}

function least(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

/** Without the last digits, which are only how fractions of a dollar are added up. */
function exact(amount: number): number {
  return Number(amount.toPrecision(12))
}

function ofWhom(agent: string | null): string {
  return agent === null ? 'without a profile' : `of ${agent}`
}
