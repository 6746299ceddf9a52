import { mayOverlap } from '#domain'
import type { PlanDetail } from '#wire'
import type { RunSummary } from '../../parts/library'
import type { Edge } from './layout'

export type StepOutcome = PlanDetail['steps'][number]
export type PlanStep = NonNullable<PlanDetail['plan']>['steps'][number]
export type StepWord = 'waiting' | 'running' | 'interrupted' | 'completed' | 'incomplete' | 'failed' | 'skipped'

/** A step as it is drawn. */
export type ShownStep = StepOutcome & {
  word: StepWord
  /** What the plan says of it; null: it is no step of the plan as it stands, but research, a review or the like. */
  planned: PlanStep | null
  /** It is in a plan that nobody has begun to carry out. */
  proposed: boolean
}

/** `follows`: what it comes after because of what it is for, without that the plan says so. */
export type StepEdge = Edge & { kind: 'depends' | 'follows' }

/** Two steps that may write the same: the second waits for the first. */
export type Overlap = { first: string; second: string; why: string }

/** Every step in the order in which work is integrated; those of a plan that waits for a yes come last. */
export function shownSteps({ plan, steps }: PlanDetail, run: RunSummary['status']): ShownStep[] {
  const planned = new Map(plan?.steps.map((step) => [step.id, step]))
  const known = new Set(steps.map(({ id }) => id))
  const proposed = plan?.steps.filter(({ id }) => !known.has(id)) ?? []
  return [
    ...steps.map((step) => {
      return { ...step, word: wordOf(step, run), planned: planned.get(step.id) ?? null, proposed: false }
    }),
    ...proposed.map((step) => ({ ...notBegun(step), word: 'waiting' as const, planned: step, proposed: true })),
  ]
}

function wordOf({ status, incomplete }: StepOutcome, run: RunSummary['status']): StepWord {
  if (status === 'running') return run === 'running' ? 'running' : 'interrupted'
  return status === 'completed' && incomplete ? 'incomplete' : status
}

function notBegun({ id, title, agent, depends_on, owns }: PlanStep): StepOutcome {
  return {
    ...{ id, title, agent, depends_on, owns: owns ?? null, stage: 'work', status: 'waiting', reason: null },
    ...{ incomplete: false, agent_id: null, attempts: 0, failures: [], summary: '' },
    ...{ files_changed: [], files_kept: [], gates: [] },
    ...{ tool_calls: 0, tokens: 0, cost_usd: null, duration_ms: 0 },
  }
}

/** What each step depends on; and, where it depends on nothing, all that was done before it for another purpose. */
export function edgesOf(steps: readonly ShownStep[]): StepEdge[] {
  const known = new Set(steps.map(({ id }) => id))
  const depends: StepEdge[] = steps.flatMap(({ id, depends_on }) =>
    depends_on.filter((one) => known.has(one)).map((from) => ({ from, to: id, kind: 'depends' })),
  )
  const inner = new Set(depends.map(({ to }) => to))
  const phases = phasesOf(steps)
  const follows = phases.flatMap((phase, i) => {
    const ends = endsOf(phases[i - 1] ?? [], depends)
    const begins = phase.filter(({ id }) => !inner.has(id))
    return begins.flatMap(({ id }) => ends.map((from): StepEdge => ({ from, to: id, kind: 'follows' })))
  })
  return [...depends, ...follows]
}

/** Steps next to each other that are for the same. */
function phasesOf(steps: readonly ShownStep[]): ShownStep[][] {
  const phases: ShownStep[][] = []
  for (const step of steps) {
    const last = phases.at(-1)
    if (last?.[0] && last[0].stage === step.stage && last[0].proposed === step.proposed) last.push(step)
    else phases.push([step])
  }
  return phases
}

/** Those on which no other of them depends. */
function endsOf(phase: readonly ShownStep[], edges: readonly Edge[]): string[] {
  const ids = new Set(phase.map(({ id }) => id))
  const inner = new Set(edges.filter(({ to }) => ids.has(to)).map(({ from }) => from))
  return phase.map(({ id }) => id).filter((id) => !inner.has(id))
}

/**
 * Which steps may write the same, where the plan says what they own and none waits for the other anyway. The scheduler
 * decides it the same way: the later one in the order of the steps waits.
 */
export function overlapsOf(planned: readonly PlanStep[]): Overlap[] {
  const overlaps: Overlap[] = []
  /** All that is over before a step begins. */
  const before = new Map<string, Set<string>>()
  for (const [i, step] of planned.entries()) {
    const known = new Set<string>()
    const after = (id: string) => {
      known.add(id)
      for (const one of before.get(id) ?? []) known.add(one)
    }
    for (const id of step.depends_on) after(id)
    // The nearest first, since what it waits for has waited for others.
    for (const other of planned.slice(0, i).toReversed()) {
      if (known.has(other.id)) continue
      const shared = sharedBy(other.owns ?? [], step.owns ?? [])
      if (shared === null) continue
      overlaps.push({ first: other.id, second: step.id, why: shared })
      after(other.id)
    }
    before.set(step.id, known)
  }
  return overlaps
}

/** So many pairs of globs are named. */
const MOST_GLOBS = 3

/** Which globs may match the same file, in words; null: none. */
function sharedBy(first: readonly string[], second: readonly string[]): string | null {
  if (!mayOverlap(first, second)) return null
  const pairs = first.flatMap((a) => second.filter((b) => mayOverlap([a], [b])).map((b) => ({ a, b })))
  const said = pairs.slice(0, MOST_GLOBS).map(({ a, b }) => (a === b ? a : `${a} and ${b}`))
  const more = pairs.length > MOST_GLOBS ? ` and ${pairs.length - MOST_GLOBS} more` : ''
  return `both may write the same${said.length > 0 ? `: ${said.join(', ')}${more}` : ''}`
}

const WORDS = ['completed', 'incomplete', 'failed', 'skipped', 'running', 'interrupted', 'waiting'] as const

/** How many steps stand how: "4 completed, 2 running". */
export function countWords(steps: readonly ShownStep[]): string {
  const counts = WORDS.map((word) => ({ word, of: steps.filter((step) => step.word === word).length }))
  return counts.flatMap(({ word, of }) => (of > 0 ? [`${of} ${word}`] : [])).join(', ')
}
