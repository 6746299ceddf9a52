import { describe, expect, it } from 'vitest'
import { STEP_DEFAULTS, type StepState } from '../../src/domain/index.js'
import { type Around, schedule, stepOrder } from '../../src/planning/schedule.js'

type Said = Pick<StepState, 'id'> & Partial<StepState> & { is?: 'begun' | 'completed' | 'failed' | 'skipped' }

const reads = (id: string, said: Partial<Said> = {}): Said => ({ id, owns: [], ...said })
const writes = (id: string, said: Partial<Said> = {}): Said => ({ id, owns: [`${id}/**`], ...said })

function stepsOf(said: Said[]): StepState[] {
  return said.map(({ is, ...given }, position) => ({
    ...STEP_DEFAULTS,
    ...{ title: given.id, description: 'Do it.', inputs: [], checks: [], success_criteria: [], depends_on: [] },
    ...{ stage: 'work', owns: [], position, revision: 0, approval: null },
    attempts: is === undefined || is === 'skipped' ? [] : [{ index: position }],
    ended: is === undefined || is === 'begun' ? null : { status: is, sub_agent_id: null, reason: null },
    ...given,
  }))
}

function scheduled(said: Said[], around: Partial<Around> = {}) {
  const { start, skip } = schedule(stepsOf(said), { limit: 8, at_work: 0, on_failure: 'continue', ...around })
  return { start: start.map(({ id }) => id), skip: skip.map(({ step, reason }) => `${step.id}: ${reason}`) }
}

describe('what begins', () => {
  it('begins what depends on nothing that is not completed, and no more than there is room for', () => {
    const steps = [reads('a', { is: 'completed' }), reads('b', { is: 'begun' }), reads('c'), reads('d'), reads('e')]
    const after = [...steps, reads('f', { depends_on: ['a'] }), reads('g', { depends_on: ['a', 'b'] })]
    expect(scheduled(after)).toEqual({ start: ['c', 'd', 'e', 'f'], skip: [] })
    expect(scheduled(after, { limit: 3, at_work: 1 })).toEqual({ start: ['c', 'd'], skip: [] })
    expect(scheduled(after, { limit: 2, at_work: 3 })).toEqual({ start: [], skip: [] })
  })

  it('waits for an earlier step that may write the same, begun or not, and for no later one', () => {
    const wide = { owns: ['a/**', 'docs/**'] }
    expect(scheduled([writes('a', { depends_on: ['b'] }), reads('b'), writes('c', wide)]).start).toEqual(['b'])
    expect(scheduled([writes('a', { is: 'begun' }), writes('c', wide)]).start).toEqual([])
    expect(scheduled([writes('a', { is: 'failed' }), writes('c', wide)]).start).toEqual(['c'])
    expect(scheduled([writes('a'), writes('c', { ...wide, is: 'begun' })]).start).toEqual(['a'])
  })

  it('lets steps begin that do not say what they own, beside any other', () => {
    expect(scheduled([writes('a', { owns: ['**'] }), writes('b', { owns: null }), writes('c')]).start).toEqual([
      'a',
      'b',
    ])
  })
})

describe('what is urgent', () => {
  const one = { limit: 1 }

  it('begins what most steps, one after the other, wait for', () => {
    const chain = [reads('c', { depends_on: ['b'] }), reads('d', { depends_on: ['c'] })]
    expect(scheduled([reads('a'), reads('b'), ...chain], one).start).toEqual(['b'])
  })

  it('counts those that wait because they may write the same', () => {
    const same = { owns: ['shared.ts'] }
    expect(scheduled([reads('a'), writes('b', same), writes('c', same)], one).start).toEqual(['b'])
  })

  it('counts those that wait for a later step, whose work is integrated after its own', () => {
    const later = [writes('c'), reads('d', { depends_on: ['c'] }), reads('e', { depends_on: ['d'] })]
    expect(scheduled([reads('a'), writes('b'), ...later], one).start).toEqual(['b'])
  })

  it('counts steps by how long they are expected to take, where that is known', () => {
    const steps = [reads('a'), reads('b'), reads('c', { depends_on: ['a'] })]
    expect(scheduled(steps, one).start).toEqual(['a'])
    expect(scheduled(steps, { ...one, weight: ({ id }) => (id === 'b' ? 5 : 1) }).start).toEqual(['b'])
  })
})

describe('what never begins', () => {
  const steps = [
    reads('a', { is: 'failed' }),
    reads('b', { is: 'skipped' }),
    reads('c', { depends_on: ['a'] }),
    reads('d', { depends_on: ['b'] }),
    reads('e', { depends_on: ['c'] }),
    reads('f', { depends_on: ['x'] }),
    reads('g', { is: 'begun' }),
    reads('h'),
  ]

  it('skips what depends on a step that is over and not completed, or not there, with the reason', () => {
    const skip = [
      'c: step a, which it depends on, failed',
      'd: step b, which it depends on, was skipped',
      'f: step x, which it depends on, is not in the plan',
    ]
    expect(scheduled(steps)).toEqual({ start: ['h'], skip })
  })

  it('skips everything that has not begun where a failure stops the plan', () => {
    const skip = ['c', 'd', 'e', 'f', 'h'].map((id) => `${id}: step a failed`)
    expect(scheduled(steps, { on_failure: 'stop' })).toEqual({ start: [], skip })
  })

  it('does the same where the rest is planned again, since what is done and comes later waits for what never begins', () => {
    const skip = ['c', 'd', 'e', 'f', 'h'].map((id) => `${id}: step a failed, and the rest is planned again`)
    expect(scheduled(steps, { on_failure: 'replan' })).toEqual({ start: [], skip })
  })

  it.each(['stop', 'replan'] as const)('does not %s for what the planner was asked about since', (on_failure) => {
    const before = [reads('found', { stage: 'research', is: 'failed' }), writes('a', { is: 'failed' })]
    const planner = reads('replan-1', { stage: 'plan' })
    expect(scheduled([...before, planner], { on_failure }).start).toEqual(['replan-1'])
    const rest = [...before, { ...planner, is: 'completed' as const }, writes('2.a')]
    expect(scheduled(rest, { on_failure })).toEqual({ start: ['2.a'], skip: [] })
    expect(scheduled([...rest, writes('2.b', { is: 'failed' })], { on_failure }).start).toEqual([])
  })
})

describe('the order of the steps', () => {
  const order = (after: Record<string, string[]>) =>
    stepOrder(Object.entries(after).map(([id, depends_on]) => ({ id, depends_on })))?.map(({ id }) => id) ?? null

  it('is the given one, but for steps that depend on later ones', () => {
    expect(order({ a: [], b: [], c: ['a'] })).toEqual(['a', 'b', 'c'])
    expect(order({ a: ['c'], b: [], c: [], d: ['a'] })).toEqual(['b', 'c', 'a', 'd'])
  })

  it('is none where steps wait for each other, or for one that is not there', () => {
    expect(order({ a: [], b: ['c'], c: ['b'] })).toBeNull()
    expect(order({ a: ['x'] })).toBeNull()
  })
})
