import fc from 'fast-check'
import { expect, it } from 'vitest'
import '../support/seed.js'
import { claimOf, mayChange, mayOverlap, type StepState } from '../../src/domain/index.js'
import { type RandomPlan, randomPlans, type Shape } from './random-plans.js'
import { type Carried, carried } from './runner-lab.js'
import { simulate } from './simulate.js'

/** For each property, and for each other plans. */
const PLANS = 200

const SHAPE: Shape = { steps: [1, 10], limit: [1, 4], folders: 4, failing: 15 }

const SEED = Number(fc.readConfigureGlobal().seed)
let properties = 0

function always(
  what: string,
  wanted: Partial<Pick<RandomPlan, 'on_failure'>>,
  holds: (carried: Carried, plan: RandomPlan) => void,
) {
  const seed = SEED + properties++
  const plans = randomPlans(SHAPE).map((plan) => ({ ...plan, ...wanted }))
  const property = fc.asyncProperty(plans, async (plan) => holds(await carried(plan), plan))
  it(what, { timeout: 120_000 }, () => fc.assert(property, { numRuns: PLANS, seed }))
}

const statuses = ({ steps }: Carried['plan']) => steps.map(({ id, ended }) => `${id} ${ended?.status}`)

always('nothing locks up: each step ends once, completed, failed or skipped', {}, ({ plan, events, stuck }) => {
  expect(stuck).toBe(false)
  const ends = events.flatMap(({ type, data }) => (type === 'plan.step_ended' ? [data.step] : []))
  expect(ends.sort()).toEqual(plan.steps.map(({ id }) => id).sort())
  const unbegun = plan.steps.filter(({ attempts }) => attempts.length === 0)
  expect(unbegun).toEqual(plan.steps.filter(({ ended }) => ended?.status === 'skipped'))
})

always('work is joined in the order of the steps', {}, (run) => {
  const joined = inOrder(run).flatMap(({ what, step }) => (what === 'joined' ? [step] : []))
  // One that is tried again is joined again, and nobody behind it before.
  const places = joined.map(({ position }) => position)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

always('while one may write, no other may write the same', {}, (run) => {
  const writing = new Set<StepState>()
  const clashes = inOrder(run).flatMap(({ what, step }) => {
    if (what === 'over' || what === 'began') writing.delete(step)
    if (what !== 'writes' || !mayChange(step)) return []
    const others = [...writing].filter((other) => other !== step && mayOverlap(claimOf(other), claimOf(step)))
    writing.add(step)
    return others.map((other) => [other.id, step.id])
  })
  expect(clashes).toEqual([])
})

always('no step begins before all that it depends on is completed', {}, (run) => {
  const completed = new Set<string>()
  const early = inOrder(run).flatMap(({ what, step }) => {
    if (what === 'over' && step.ended?.status === 'completed') completed.add(step.id)
    return what === 'began' ? step.depends_on.filter((id) => !completed.has(id)) : []
  })
  expect(early).toEqual([])
})

always('none begins where as many are at work as the limit lets', {}, ({ moments }, { limit }) => {
  expect(moments.filter(({ what, at_work }) => what === 'began' && at_work >= limit)).toEqual([])
})

always('none is tried more often than it may be', {}, ({ plan }) => {
  expect(plan.steps.filter(({ attempts, retries }) => attempts.length > retries + 1)).toEqual([])
  const failed = plan.steps.filter(({ ended }) => ended?.status === 'failed')
  expect(failed.filter(({ attempts, retries }) => attempts.length !== retries + 1)).toEqual([])
})

always(
  'when others have done their work decides nothing about what becomes of a step',
  { on_failure: 'continue' },
  ({ plan }, random) => {
    expect(statuses(plan)).toEqual(statuses(simulate(random).plan))
  },
)

always('after a failure that stops the plan nothing more begins', { on_failure: 'stop' }, (run) => {
  const begun = new Set<string>()
  let failed = false
  const late = inOrder(run).flatMap(({ what, step }) => {
    if (what === 'over') failed ||= step.ended?.status === 'failed'
    if (what !== 'began' || begun.has(step.id)) return []
    begun.add(step.id)
    return failed ? [step.id] : []
  })
  expect(late).toEqual([])
})

/** What happened, with the steps as they came out. */
function inOrder({ moments, plan }: Carried) {
  const steps = new Map(plan.steps.map((step) => [step.id, step]))
  return moments.map((moment) => ({ ...moment, step: steps.get(moment.step) as StepState }))
}
