import { describe, expect, it } from 'vitest'
import type { Plan, StepSpec } from '../../src/domain/index.js'
import { previewPlan } from '../../src/planning/index.js'
import { planOf, specOf } from './plan-log.js'

function preview(steps: StepSpec[], limit = 8, more: Partial<Plan> = {}) {
  return previewPlan(planOf(steps, more), { steps, limit, experience: () => null })
}

/** In which wave each step begins, and what it waits for. */
function course(steps: StepSpec[], limit?: number, more?: Partial<Plan>) {
  const { steps: seen, parallel } = preview(steps, limit, more)
  return {
    waves: seen.map(({ id, wave }) => `${id}@${wave}`).join(' '),
    waits: seen.flatMap(({ id, waits }) => waits.map(({ step, why }) => `${id} for ${step}: ${why}`)),
    parallel: { most: parallel.most, why: parallel.why },
  }
}

const writes = (id: string, owns: string[] | null, depends_on: string[] = []) => specOf(id, { owns, depends_on })

describe('the preview of a plan', () => {
  it('says all that a person needs to know before they say yes', () => {
    const steps = [
      specOf('1', {
        ...{ title: 'Mend the gutter', agent: 'executor', owns: ['gutter.md'], needs_approval: true },
        checks: [
          { kind: 'command', command: 'npm test' },
          { kind: 'paths', exist: ['gutter.md'] },
        ],
        budget: { tool_calls: 5, wall_ms: 10_000, total_tokens: 20_000, cost_usd: 0.5 },
      }),
      specOf('2', {
        title: 'Look at it',
        agent: 'reviewer',
        depends_on: ['1'],
        budget: { tool_calls: 3 },
        label: 'gpu',
      }),
    ]
    const plan = planOf(steps, {
      ...{ assumptions: ['No rain'], checks: [{ kind: 'command', command: 'npm run all' }], repair_rounds: 0 },
    })
    const nothing = { likely: null }
    expect(previewPlan(plan, { steps, limit: 4, experience: () => null })).toEqual({
      ...{ goal: 'Mend the roof', assumptions: ['No rain'], completion_criteria: [], checks: ['npm run all'] },
      steps: [
        {
          ...{ id: '1', title: 'Mend the gutter', agent: 'executor', depends_on: [], owns: ['gutter.md'] },
          ...{ needs_approval: true, wave: 1, waits: [], checks: ['npm test', 'there is gutter.md'] },
          estimate: {
            tool_calls: { most: 5, ...nothing },
            tokens: { most: 20_000, ...nothing },
            cost_usd: { most: 0.5, ...nothing },
            duration_ms: { most: 10_000, ...nothing },
            basis: 'at most: its budget; likely: not known, there is no earlier sub-agent of executor',
          },
        },
        {
          ...{ id: '2', title: 'Look at it', agent: 'reviewer', depends_on: ['1'], owns: [], needs_approval: false },
          ...{ wave: 2, waits: [], checks: [], label: 'gpu' },
          estimate: {
            tool_calls: { most: 3, ...nothing },
            tokens: { most: null, ...nothing },
            cost_usd: { most: null, ...nothing },
            duration_ms: { most: 60_000, ...nothing },
            basis: 'at most: its budget; likely: not known, there is no earlier sub-agent of reviewer',
          },
        },
      ],
      parallel: { most: 1, limit: 4, why: ['what others do comes first for 2'] },
      estimate: {
        tool_calls: { most: 8, ...nothing },
        tokens: { most: null, ...nothing },
        cost_usd: { most: null, ...nothing },
        duration_ms: { most: 70_000, ...nothing },
        basis:
          'at most: the budgets of 2 steps; likely: not known, there are no earlier sub-agents of executor or of reviewer',
      },
    })
  })

  it('has what may run side by side in one wave', () => {
    expect(course([writes('1', ['a/**']), writes('2', ['b/**']), specOf('3')])).toEqual({
      waves: '1@1 2@1 3@1',
      waits: [],
      parallel: { most: 3, why: [] },
    })
  })

  it('names steps that may write the same, and what', () => {
    const steps = [writes('1', ['src/**', 'a.md']), writes('2', ['src/b.ts']), writes('3', ['a.md', 'src/b.ts'])]
    expect(course(steps)).toEqual({
      waves: '1@1 2@2 3@3',
      waits: ['2 for 1: both may write the same: src/** and src/b.ts', '3 for 2: both may write the same: src/b.ts'],
      parallel: {
        most: 1,
        why: [
          '2 waits for 1: both may write the same: src/** and src/b.ts',
          '3 waits for 2: both may write the same: src/b.ts',
        ],
      },
    })
  })

  it('says what to do about steps that may write anything', () => {
    expect(course([writes('1', ['**']), writes('2', ['**']), writes('3', ['a.md'])]).waits).toEqual([
      '2 for 1: both may write anything: give them `owns`',
      '3 for 2: step 2 may write anything: give it `owns`',
    ])
    expect(course([writes('1', null), writes('2', null)])).toEqual({
      waves: '1@1 2@1',
      waits: [],
      parallel: {
        most: 2,
        why: ['1 and 2 do not say what they own, so they take turns as soon as they write: give them `owns`'],
      },
    })
  })

  it('says where there is no room, and who says so', () => {
    const steps = [specOf('1'), specOf('2'), specOf('3')]
    const waits = ['3 for 1: no more than 2 at once: one of 1 and 2 must have done its work']
    expect(course(steps, 2)).toEqual({
      ...{ waves: '1@1 2@1 3@2', waits },
      parallel: { most: 2, why: ['there is room for 2 at once'] },
    })
    expect(course(steps, 2, { max_concurrent: 2 }).parallel.why).toEqual(['the plan says max_concurrent 2 at once'])
    expect(course(steps, 1).waits).toEqual([
      '2 for 1: no more than 1 at once: 1 must have done its work',
      '3 for 1: no more than 1 at once: 1 must have done its work',
    ])
  })

  it('says what waits because work is integrated in order', () => {
    const steps = [
      writes('1', ['a']),
      writes('2', ['b'], ['1']),
      writes('3', ['c']),
      writes('4', ['d'], ['3']),
      specOf('5', { depends_on: ['3', '2'] }),
    ]
    const why =
      'work is integrated in the order of the steps, that of step 3, which it depends on, after that of step 2'
    expect(course(steps)).toEqual({
      waves: '1@1 2@2 3@1 4@3 5@3',
      waits: [`4 for 2: ${why}`],
      parallel: { most: 2, why: ['what others do comes first for 2, 4 and 5', `4 waits for 2: ${why}`] },
    })
  })

  it('takes for done what is not among the steps', () => {
    const { steps } = preview([specOf('2.1', { depends_on: ['1'] })])
    expect(steps).toMatchObject([{ wave: 1, depends_on: ['1'] }])
  })

  it('keeps short what would be long', () => {
    const steps = Array.from({ length: 100 }, (_, i) => writes(`${i + 1}`, ['**']))
    const { parallel, steps: seen } = preview(steps)
    expect(seen.every(({ waits }) => waits.length <= 1)).toBe(true)
    expect(parallel.why).toEqual([
      ...[2, 3, 4, 5, 6].map((id) => `${id} waits for ${id - 1}: both may write anything: give them \`owns\``),
      'and 94 more wait for steps that may write the same',
    ])
  })
})
