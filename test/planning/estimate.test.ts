import { describe, expect, it } from 'vitest'
import type { StepSpec } from '../../src/domain/index.js'
import { type Experience, previewPlan } from '../../src/planning/index.js'
import { planOf, specOf } from './plan-log.js'

const budget = { tool_calls: 10, wall_ms: 20_000, total_tokens: 10_000, cost_usd: 0.3 }
const earlier: Experience = { agents: 3, tool_calls: 4.4, tokens: 2500.5, cost_usd: 0.02, duration_ms: 9000 }

function step(id: string, more: Partial<StepSpec> = {}): StepSpec {
  return specOf(id, { agent: 'executor', budget, ...more })
}

function estimates(steps: StepSpec[], more: Partial<Parameters<typeof previewPlan>[1]> = {}, plan = planOf(steps)) {
  const { steps: seen, estimate } = previewPlan(plan, { steps, limit: 2, experience: () => earlier, ...more })
  return { steps: seen.map((one) => one.estimate), whole: estimate }
}

describe('an estimate', () => {
  it('is at most what the budget lets, as often as a step may be tried, and likely what earlier ones used', () => {
    expect(estimates([step('1', { retries: 2 })]).steps).toEqual([
      {
        tool_calls: { most: 30, likely: 4 },
        tokens: { most: 30_000, likely: 2501 },
        cost_usd: { most: 0.9, likely: 0.02 },
        duration_ms: { most: 60_000, likely: 9000 },
        basis:
          'at most: its budget, 3 times because it may be tried again; likely: the average of 3 earlier sub-agents of executor',
      },
    ])
  })

  it('is never likely to be more than it can be', () => {
    const dear = { agents: 1, tool_calls: 99, tokens: 99_999, cost_usd: 9, duration_ms: 99_999 }
    const [one] = estimates([step('1', { agent: null })], { experience: () => dear }).steps
    expect(one).toEqual({
      tool_calls: { most: 10, likely: 10 },
      tokens: { most: 10_000, likely: 10_000 },
      cost_usd: { most: 0.3, likely: 0.3 },
      duration_ms: { most: 20_000, likely: 20_000 },
      basis: 'at most: its budget; likely: the average of 1 earlier sub-agent without a profile',
    })
  })

  it('goes by what the sub-agent would get, and by the price of that where no cost is set', () => {
    const { steps } = estimates([step('1', { budget: {} })], {
      budgetOf: () => ({ tool_calls: 7, total_tokens: 1000, wall_ms: 5000 }),
      costOf: (_, tokens) => tokens / 1_000_000,
    })
    expect(steps).toMatchObject([
      { tool_calls: { most: 7 }, tokens: { most: 1000 }, cost_usd: { most: 0.001 }, duration_ms: { most: 5000 } },
    ])
  })

  it('of the whole counts time side by side, reviews and repairs, and no more than the run may spend', () => {
    const steps = [step('1'), step('2', { retries: 1 }), step('3', { depends_on: ['1'] })]
    const plan = planOf(steps, { completion_criteria: ['It is dry'], repair_rounds: 1 })
    const budgetOf = (one: StepSpec) => (one.stage === 'work' ? one.budget : { ...budget, tool_calls: 1 })
    const { whole } = estimates(steps, { budgetOf }, plan)
    // The reviewer may be tried twice, twice; then there may be five repairs. One review is likely, of two calls at most.
    expect(whole).toEqual({
      tool_calls: { most: 40 + 4 + 5, likely: 3 * 4 + 2 },
      tokens: { most: 40_000 + 40_000 + 50_000, likely: 2501 * 4 },
      cost_usd: { most: 1.2 + 1.2 + 1.5, likely: 0.08 },
      duration_ms: { most: 40_000 + 80_000 + 100_000, likely: 18_000 + 9000 },
      basis:
        'at most: the budgets of 3 steps, each as often as it may be tried, 2 reviews, 5 repairs; likely: what earlier sub-agents of the same profiles used on average, 1 review',
    })
    const run = { total_tokens: 50_000, cost_usd: 2, wall_ms: 90_000 }
    expect(estimates(steps, { budgetOf, run }, plan).whole).toMatchObject({
      ...{ tokens: { most: 50_000 }, cost_usd: { most: 2 }, duration_ms: { most: 90_000 } },
      basis: expect.stringContaining('5 repairs, and no more than the run may spend; likely'),
    })
  })

  it('of the whole is not likely to be anything where one of the steps has nothing to go by', () => {
    const steps = [step('1'), step('2', { agent: 'tester' })]
    const experience = (agent: string | null) => (agent === 'tester' ? null : earlier)
    expect(estimates(steps, { experience }).whole).toEqual({
      tool_calls: { most: 20, likely: null },
      tokens: { most: 20_000, likely: null },
      cost_usd: { most: 0.6, likely: null },
      duration_ms: { most: 20_000, likely: null },
      basis: 'at most: the budgets of 2 steps; likely: not known, there are no earlier sub-agents of tester',
    })
  })
})
