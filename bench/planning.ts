import fc from 'fast-check'
import { mayChange, type StepSpec, type StepState } from '../src/domain/index.js'
import { schedule } from '../src/planning/schedule.js'
import { ownTheSame, type RandomPlan, randomPlans, type Shape } from '../test/planning/random-plans.js'
import { simulate } from '../test/planning/simulate.js'
import { median } from './measure.js'
import { leastTime, type Piece, shortest } from './optimum.js'

/** How much longer plans took than they had to: in the middle, for nine of ten, at worst. */
export type Ratios = { median: number; nine_in_ten: number; worst: number }

export type Makespans = {
  /** By a schedule that knows nothing of how long steps take, against the best under the same rules. */
  unknown: Ratios
  /** By one that is told. */
  told: Ratios
  /** The first again, against the best if work could be integrated in any order. */
  any_order: Ratios
}

const SEED = 20261116

/** Random plans in simulated time. `exact`: against the best of all orders, else against what no order can beat. */
export function planMakespans(shape: Omit<Shape, 'failing'>, plans: number, exact: boolean): Makespans {
  const best = exact ? shortest : leastTime
  const results = fc.sample(randomPlans({ ...shape, failing: 0 }), { seed: SEED, numRuns: plans }).map((plan) => {
    const pieces = piecesOf(plan, shape.folders)
    const in_order = best(pieces.in_order, plan.limit)
    const took = simulate(plan).makespan
    const told = simulate(plan, { weight: ({ id }) => takes(plan, id) }).makespan
    return { unknown: took / in_order, told: told / in_order, any_order: took / best(pieces.any_order, plan.limit) }
  })
  return {
    unknown: ratios(results.map(({ unknown }) => unknown)),
    told: ratios(results.map(({ told }) => told)),
    any_order: ratios(results.map(({ any_order }) => any_order)),
  }
}

function ratios(all: number[]): Ratios {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] as number
  return { median: median(sorted), nine_in_ten: at(0.9), worst: at(1) }
}

function takes({ attempts }: RandomPlan, id: string): number {
  return attempts[id]?.[0]?.takes ?? 0
}

/**
 * Steps as a search for the best sees them. Work that is integrated in order makes whoever waits for a writing step wait
 * for the work of all writing steps before that too; integrating takes no time, so nothing else is to be said about it.
 */
function piecesOf(plan: RandomPlan, folders: number): Record<'in_order' | 'any_order', Piece[]> {
  const { steps } = plan
  const place = new Map(steps.map(({ id }, i) => [id, i]))
  const all = [...steps.keys()]
  const writers = all.filter((i) => mayChange(steps[i] as StepSpec))
  const pieces = steps.map((step, i) => {
    const apart = all.filter((j) => j !== i && ownTheSame(steps[j] as StepSpec, step, folders))
    return { takes: takes(plan, step.id), before: step.depends_on.map((id) => place.get(id) as number), apart }
  })
  const in_order = pieces.map(({ takes, before, apart }, i) => {
    const direct = [...before, ...apart.filter((j) => j < i)]
    const last = Math.max(-1, ...direct.filter((j) => writers.includes(j)))
    return { takes, before: [...new Set([...direct, ...writers.filter((j) => j < last)])], apart: [] }
  })
  return { in_order, any_order: pieces }
}

/** What it costs to schedule many steps of which none is done: the first time, and again. Time of the processor. */
export function scheduleTimes(count: number): { first_ms: number; again_ms: number } {
  const steps = Array.from({ length: count }, (_, position) => {
    const depends_on = position % 3 === 2 ? [`s${position - 1}`] : []
    const owns = position % 50 === 0 ? ['**/*.md'] : [`src/part-${position}/**`, `docs/part-${position}.md`]
    return { id: `s${position}`, stage: 'work', position, depends_on, owns, attempts: [], ended: null }
  }) as unknown as StepState[]
  const times = Array.from({ length: 12 }, () => {
    const before = process.cpuUsage()
    schedule(steps, { limit: 8, at_work: 0, on_failure: 'stop' })
    return process.cpuUsage(before).user / 1000
  })
  return { first_ms: times[0] as number, again_ms: median(times.slice(1)) }
}
