import { describe, expect, it } from 'vitest'
import {
  countWords,
  edgesOf,
  overlapsOf,
  type PlanStep,
  type ShownStep,
  type StepOutcome,
  shownSteps,
} from '../../web/src/pages/plan/steps'

type Outcome = Parameters<typeof shownSteps>[0]

function planned(id: string, depends_on: string[] = [], owns?: string[]): PlanStep {
  return {
    ...{ id, title: `Do ${id}`, description: id, agent: 'executor', depends_on, inputs: depends_on },
    ...{ success_criteria: [], checks: [], budget: {}, needs_approval: false, retries: 0 },
    ...(owns ? { owns } : {}),
  }
}

function step(id: string, more: Partial<StepOutcome> = {}): StepOutcome {
  return {
    ...{ id, stage: 'work', title: `Do ${id}`, agent: 'executor', status: 'waiting', reason: null, incomplete: false },
    ...{
      depends_on: [],
      owns: null,
      agent_id: null,
      attempts: 0,
      failures: [],
      summary: '',
      files_changed: [],
      files_kept: [],
      gates: [],
    },
    ...{ tool_calls: 0, tokens: 0, cost_usd: null, duration_ms: 0 },
    ...more,
  }
}

function outcome(steps: StepOutcome[], of_plan: PlanStep[] | null): Outcome {
  const plan = of_plan && {
    ...{ version: 1 as const, goal: 'x', assumptions: [], completion_criteria: [], checks: [], steps: of_plan },
    ...{ on_failure: 'stop' as const, replans: 1, repair_rounds: 2 },
  }
  return {
    ...{ run_id: 'r1', call_id: 'c1', status: 'running', reason: null, goal: 'x', plan, revision: 1, revisions: [] },
    ...{ steps, checks: [], reviews: [], findings: [], report: '' },
    totals: { agents: 0, tool_calls: 0, tokens: 0, cost_usd: 0, duration_ms: 0 },
  }
}

function lines(steps: readonly ShownStep[]): string[] {
  return edgesOf(steps).map(({ from, to, kind }) => `${from} ${kind === 'depends' ? '>' : '..'} ${to}`)
}

describe('the steps of a plan', () => {
  it('stand as the log says, and are interrupted where nobody works on the run', () => {
    const steps = [
      ...[step('a', { status: 'completed' }), step('b', { status: 'completed', incomplete: true })],
      ...[step('c', { status: 'running' }), step('d', { status: 'skipped' }), step('e')],
    ]
    const words = (status: 'running' | 'interrupted') =>
      shownSteps(outcome(steps, null), status).map(({ word }) => word)
    expect(words('running')).toEqual(['completed', 'incomplete', 'running', 'skipped', 'waiting'])
    expect(words('interrupted')).toEqual(['completed', 'incomplete', 'interrupted', 'skipped', 'waiting'])
    expect(countWords(shownSteps(outcome(steps, null), 'running'))).toBe(
      '1 completed, 1 incomplete, 1 skipped, 1 running, 1 waiting',
    )
  })

  it('are shown before anybody said yes to them', () => {
    const made = step('plan-1', { stage: 'plan', status: 'completed' })
    const shown = shownSteps(outcome([made], [planned('a'), planned('b', ['a'])]), 'running')
    expect(shown).toEqual([
      { ...made, word: 'completed', planned: null, proposed: false },
      { ...step('a'), word: 'waiting', planned: planned('a'), proposed: true },
      { ...step('b', { depends_on: ['a'] }), word: 'waiting', planned: planned('b', ['a']), proposed: true },
    ])
    expect(lines(shown)).toEqual(['a > b', 'plan-1 .. a'])
  })

  it('follow what was done before for another purpose', () => {
    const steps = [
      ...[step('research-1', { stage: 'research' }), step('research-2', { stage: 'research' })],
      ...[step('plan-1', { stage: 'plan' }), step('a'), step('b', { depends_on: ['a', 'gone'] }), step('c')],
      ...[step('dropped', { status: 'skipped', depends_on: ['c'] })],
      ...[step('review-1', { stage: 'review' }), step('repair-1.1', { stage: 'repair', depends_on: ['review-1'] })],
      step('review-2', { stage: 'review' }),
    ]
    const plan = [planned('a'), planned('b', ['a', 'gone']), planned('c')]
    expect(lines(shownSteps(outcome(steps, plan), 'running'))).toEqual([
      ...['a > b', 'c > dropped', 'review-1 > repair-1.1'],
      ...['research-1 .. plan-1', 'research-2 .. plan-1', 'plan-1 .. a', 'plan-1 .. c'],
      ...['b .. review-1', 'dropped .. review-1', 'repair-1.1 .. review-2'],
    ])
  })
})

describe('steps that may write the same', () => {
  it('wait for the one before them, where they do not anyway', () => {
    const steps = [
      ...[planned('a', [], ['src/**']), planned('b', [], ['src/b.ts', 'docs/*.md'])],
      ...[planned('c', ['b'], ['docs/c.md']), planned('d', [], ['SRC/B.ts'])],
    ]
    expect(overlapsOf(steps)).toEqual([
      { first: 'a', second: 'b', why: 'both may write the same: src/** and src/b.ts' },
      { first: 'b', second: 'd', why: 'both may write the same: src/b.ts and SRC/B.ts' },
    ])
  })

  it('are none where nothing is owned, or nobody says what', () => {
    expect(overlapsOf([planned('a', [], []), planned('b'), planned('c', [], ['**']), planned('d')])).toEqual([])
  })

  it('name a few of the files', () => {
    const files = ['a', 'b', 'c', 'd', 'e']
    expect(overlapsOf([planned('x', [], files), planned('y', [], files)])).toEqual([
      { first: 'x', second: 'y', why: 'both may write the same: a, b, c and 2 more' },
    ])
  })
})
