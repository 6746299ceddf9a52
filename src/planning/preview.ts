import { type Budget, namesInWords, type Plan, type StepSpec } from '../domain/index.js'
import { gateOf } from '../runtime/index.js'
import { type Estimate, type EstimateSide, planEstimate, stepEstimate } from './estimate.js'
import { laterThan } from './later.js'
import { type Rehearsed, rehearse } from './rehearsal.js'
import { type Wait, waitsOf } from './waits.js'

export type { Estimate, Experience } from './estimate.js'

export type PreviewedStep = Pick<StepSpec, 'id' | 'title' | 'agent' | 'depends_on' | 'owns' | 'needs_approval'> & {
  /** In which wave it begins, from 1: steps of one wave may run side by side. */
  wave: number
  /** What it waits for, besides what it depends on, and why. */
  waits: { step: string; why: string }[]
  checks: string[]
  /** Of the worker that it waits for. */
  label?: string
  estimate: Estimate
}

/** A plan as a person sees it before anything is done. */
export type PlanPreview = {
  goal: string
  assumptions: string[]
  completion_criteria: string[]
  checks: string[]
  /** In the order in which their work is integrated. */
  steps: PreviewedStep[]
  /** Of the steps, at work at once. */
  parallel: { most: number; limit: number; why: string[] }
  estimate: Estimate
}

type Around = EstimateSide & {
  /** The steps as they would be carried out, in the order in which their work is integrated. */
  steps: readonly StepSpec[]
  limit: number
  /** What the run may spend. */
  run?: Partial<Budget>
}

/** So many pairs of steps that may write the same are named. */
const MOST_PAIRS = 5

/** Pure: what a plan comes to, as far as that can be known before. */
export function previewPlan(plan: Plan, { steps, limit, run, ...side }: Around): PlanPreview {
  // As if all took equally long: then those that begin at the same time are those that may run side by side.
  const course = rehearse(steps, limit, () => 1)
  if (!course) throw new Error('a plan is previewed when it has no faults: some of these steps wait for each other')
  const waits = waitsOf(course, limit)
  const { goal, assumptions, completion_criteria, checks } = plan
  return {
    ...{ goal, assumptions, completion_criteria, checks: checks.map((check) => gateOf(check, 0).what) },
    steps: course.map(({ step, began }, i) => {
      const { id, title, agent, owns, needs_approval } = step
      return {
        ...{ id, title, agent, depends_on: (steps[i] as StepSpec).depends_on, owns, needs_approval, wave: began + 1 },
        waits: (waits.get(id) ?? []).map(({ step: other, why }) => ({ step: other, why })),
        checks: step.checks.map((check) => gateOf(check, 0).what),
        ...(step.label === undefined ? {} : { label: step.label }),
        estimate: stepEstimate(step, side),
      }
    }),
    parallel: parallelOf(plan, course, waits, limit),
    estimate: planEstimate(steps, { ...side, limit, later: laterThan(plan), ...(run ? { run } : {}) }),
  }
}

function parallelOf(
  plan: Plan,
  course: readonly Rehearsed[],
  waits: ReadonlyMap<string, Wait[]>,
  limit: number,
): PlanPreview['parallel'] {
  const most = Math.max(
    0,
    ...course.map(({ began }) => course.filter((other) => other.began <= began && other.done > began).length),
  )
  const steps = course.map(({ step }) => step)
  const dependent = steps.filter(({ depends_on }) => depends_on.length > 0).map(({ id }) => id)
  const of = (kind: Wait['kind']) =>
    steps.flatMap(({ id }) =>
      (waits.get(id) ?? []).filter((wait) => wait.kind === kind).map((wait) => ({ id, ...wait })),
    )
  const overlaps = of('overlap')
  const named = overlaps.slice(0, MOST_PAIRS).map(({ id, step, why }) => `${id} waits for ${step}: ${why}`)
  const more = overlaps.length - named.length
  const silent = steps.filter(({ owns }) => owns === null).map(({ id }) => id)
  const by = plan.max_concurrent === limit ? 'the plan says max_concurrent' : 'there is room for'
  const why = [
    ...(of('limit').length > 0 ? [`${by} ${limit} at once`] : []),
    ...(dependent.length > 0 ? [`what others do comes first for ${namesInWords(dependent)}`] : []),
    ...named,
    ...(more > 0 ? [`and ${more} more ${more === 1 ? 'waits' : 'wait'} for steps that may write the same`] : []),
    ...of('order').map(({ id, step, why }) => `${id} waits for ${step}: ${why}`),
    ...(silent.length > 1
      ? [
          `${namesInWords(silent)} do not say what they own, so they take turns as soon as they write: give them \`owns\``,
        ]
      : []),
  ]
  return { most, limit, why }
}
