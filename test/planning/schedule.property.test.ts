import fc from 'fast-check'
import { expect, it } from 'vitest'
import '../support/seed.js'
import { mayChange, type StepState } from '../../src/domain/index.js'
import { type Around, schedule } from '../../src/planning/schedule.js'
import { ownTheSame, type RandomPlan, randomPlans, type Shape } from './random-plans.js'
import { type Simulation, simulate } from './simulate.js'

/** For each property, and for each other plans: of all together more than 10,000. */
const PLANS = 1000

const FOLDERS = 4
const SHAPE: Shape = { steps: [1, 12], limit: [1, 4], folders: FOLDERS, failing: 15 }

const SEED = Number(fc.readConfigureGlobal().seed)
let properties = 0

type Wanted = Partial<Shape & Pick<RandomPlan, 'on_failure'>>

function always(what: string, { on_failure, ...shape }: Wanted, holds: (plan: RandomPlan, s: Simulation) => void) {
  const seed = SEED + properties++
  const plans = randomPlans({ ...SHAPE, ...shape }).map((plan) => ({ ...plan, ...(on_failure && { on_failure }) }))
  const property = fc.property(plans, (plan) => holds(plan, simulate(plan)))
  it(what, { timeout: 120_000 }, () => fc.assert(property, { numRuns: PLANS, seed }))
}

always('steps that may write the same are never under way at once', {}, (_, simulation) => {
  const under_way = new Set<StepState>()
  const clashes = changesOf(simulation).flatMap(({ what, step }) => {
    if (what === 'over') under_way.delete(step)
    const others = [...under_way].filter((other) => other !== step && overlap(other, step))
    if (what === 'began') under_way.add(step)
    return what === 'began' ? others.map((other) => [other.id, step.id]) : []
  })
  expect(clashes).toEqual([])
})

always('no step begins before all that it depends on is completed', {}, (_, simulation) => {
  const completed = new Set<string>()
  const early = changesOf(simulation).flatMap(({ what, step }) => {
    if (what === 'over' && step.ended?.status === 'completed') completed.add(step.id)
    return what === 'began' ? step.depends_on.filter((id) => !completed.has(id)) : []
  })
  expect(early).toEqual([])
})

always('nothing locks up: each step ends once, completed, failed or skipped', {}, (_, { plan, events }) => {
  const ends = events.flatMap(({ type, data }) => (type === 'plan.step_ended' ? [data.step] : []))
  expect(ends.sort()).toEqual(plan.steps.map(({ id }) => id).sort())
  const unbegun = plan.steps.filter(({ attempts }) => attempts.length === 0)
  expect(unbegun).toEqual(plan.steps.filter(({ ended }) => ended?.status === 'skipped'))
})

always('work is integrated in the order of the steps, each after what it depends on', {}, (_, simulation) => {
  const { steps } = simulation.plan
  const place = new Map(steps.map(({ id, position }) => [id, position]))
  expect(steps.filter((step) => step.depends_on.some((id) => Number(place.get(id)) >= step.position))).toEqual([])
  const integrated = changesOf(simulation).flatMap(({ what, step }) =>
    what === 'over' && step.ended?.status === 'completed' && mayChange(step) ? [step.position] : [],
  )
  expect(integrated).toEqual(integrated.toSorted((a, b) => a - b))
})

always('a step that only reads is over when its work is done', {}, (_, { moments, plan }) => {
  const reading = new Set(plan.steps.filter((step) => !mayChange(step)).map(({ id }) => id))
  const when = (wanted: 'worked' | 'integrated') =>
    moments.flatMap(({ at, what, step }) => (what === wanted && reading.has(step) ? [`${step} at ${at}`] : []))
  expect(when('worked')).toEqual(expect.arrayContaining(when('integrated')))
})

always('no more are at work than the limit lets', {}, ({ limit }, { moments }) => {
  expect(moments.filter(({ at_work }) => at_work > limit)).toEqual([])
})

always('the same plan and the same results give the same events, whoever reads the log', {}, (random, first) => {
  expect(simulate(random).events).toEqual(first.events)
  const elsewhere = (steps: readonly StepState[], around: Around) =>
    schedule((JSON.parse(JSON.stringify(steps)) as StepState[]).reverse(), around)
  expect(simulate(random, { decide: elsewhere }).events).toEqual(first.events)
})

always(
  'how long steps take and how many are at work decides nothing about what becomes of them',
  { on_failure: 'continue' },
  (random, { plan }) => {
    const attempts = Object.entries(random.attempts).map(([id, tries], i) => {
      return [id, tries.map((attempt) => ({ ...attempt, takes: 1 + ((attempt.takes * 7 + i) % 10) }))]
    })
    const other = simulate({ ...random, limit: random.limit + 1, attempts: Object.fromEntries(attempts) })
    const ends = (steps: readonly StepState[]) => steps.map(({ id, ended }) => ({ id, status: ended?.status }))
    expect(ends(other.plan.steps)).toEqual(ends(plan.steps))
  },
)

always('what could begin has begun when time passes', { failing: 0 }, ({ limit }, simulation) => {
  const { steps } = simulation.plan
  const changes = changesOf(simulation)
  const [begun, over] = [new Set<string>(), new Set<string>()]
  const isReady = (step: StepState) =>
    !begun.has(step.id) &&
    step.depends_on.every((before) => over.has(before)) &&
    !steps.some((other) => other.position < step.position && !over.has(other.id) && overlap(other, step))
  const idle = changes.flatMap(({ what, step, at, at_work }, i) => {
    if (what === 'over') over.add(step.id)
    else begun.add(step.id)
    return changes[i + 1]?.at === at || at_work >= limit ? [] : steps.filter(isReady)
  })
  expect(idle).toEqual([])
})

always('after a failure that stops the plan nothing more begins', { on_failure: 'stop' }, (_, simulation) => {
  expect(begunAfterFailure(simulation, 's')).toEqual([])
})

always(
  'after one that is planned anew only what the planner made begins',
  { on_failure: 'replan' },
  (random, simulation) => {
    const anew = ['replan-1', ...random.rest.map(({ id }) => id)]
    expect(anew).toEqual(expect.arrayContaining(begunAfterFailure(simulation, 's')))
    expect(begunAfterFailure(simulation, 'r')).toEqual([])
  },
)

always(
  'otherwise just what depends on it, by however many steps, is skipped',
  { on_failure: 'continue' },
  (_, { plan }) => {
    const lost = new Set(plan.steps.filter(({ ended }) => ended?.status === 'failed').map(({ id }) => id))
    const skipped = plan.steps.filter(
      ({ id, depends_on }) => depends_on.some((before) => lost.has(before)) && lost.add(id),
    )
    expect(plan.steps.filter(({ ended }) => ended?.status === 'skipped')).toEqual(skipped)
  },
)

/** Beginnings and ends, in order, with the steps as they came out. */
function changesOf({ moments, plan }: Simulation) {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  return moments.flatMap((moment) => {
    const { what } = moment
    return what === 'began' || what === 'over' ? [{ ...moment, what, step: steps.get(moment.step) as StepState }] : []
  })
}

/** Steps that began, other than for another try, when one of those whose ids begin so had failed. */
function begunAfterFailure(simulation: Simulation, named: string): string[] {
  const begun = new Set<string>()
  let failed = false
  return changesOf(simulation).flatMap(({ what, step }) => {
    if (what === 'over') failed ||= step.ended?.status === 'failed' && step.id.startsWith(named)
    if (what === 'over' || begun.has(step.id)) return []
    begun.add(step.id)
    return failed ? [step.id] : []
  })
}

function overlap(a: StepState, b: StepState): boolean {
  return ownTheSame(a, b, FOLDERS)
}
