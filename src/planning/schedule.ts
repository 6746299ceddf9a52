import { mayChange, type OnFailure, type StepState } from '../domain/index.js'
import { type Claim, claimsOf } from './claims.js'

export type Around = {
  /** Steps at work at once. */
  limit: number
  /** Steps whose sub-agents are at work. One that only waits for its turn to be integrated is not. */
  at_work: number
  on_failure: OnFailure
  /** How long a step is expected to take, in whatever unit. Absent: each as long as any other. */
  weight?: (step: StepState) => number
}

/** What may begin now, the most urgent first, and what never will, with the reason. */
export type Schedule = { start: StepState[]; skip: { step: StepState; reason: string }[] }

/** Pure: the same steps in the same state are scheduled the same. */
export function schedule(unordered: readonly StepState[], around: Around): Schedule {
  const { limit, at_work, on_failure, weight = () => 1 } = around
  const steps = unordered.toSorted((a, b) => a.position - b.position)
  const waiting = steps.filter(({ attempts, ended }) => attempts.length === 0 && ended === null)
  const failed = on_failure === 'continue' ? undefined : failureIn(steps)
  if (failed) {
    const reason = `step ${failed.id} failed${on_failure === 'replan' ? ', and the rest is planned again' : ''}`
    return { start: [], skip: waiting.map((step) => ({ step, reason })) }
  }
  const known = new Map(steps.map((step) => [step.id, step]))
  const skip = waiting.flatMap((step) => {
    const reason = obstacle(step, known)
    return reason === null ? [] : [{ step, reason }]
  })
  const open = steps.filter(({ ended }) => ended === null)
  const claims = claimsOf(open)
  const blocked = blockedBy(open, claims)
  const ready = waiting.filter((step) => isCompleted(step.depends_on, known) && !blocked.has(step.id))
  const urgency = urgencies(open, claims, weight)
  // Of two that are as urgent, the one that comes first stays first.
  const urgent = ready.sort((a, b) => Number(urgency.get(b.id)) - Number(urgency.get(a.id)))
  return { start: urgent.slice(0, Math.max(0, limit - at_work)), skip }
}

/** A failure of the plan's own work that nobody has answered: what failed before the planner was asked, it knows about. */
function failureIn(steps: readonly StepState[]): StepState | undefined {
  const asked = Math.max(0, ...steps.map(({ stage, position }) => (stage === 'plan' ? position : 0)))
  return steps.find(({ ended, position, stage }) => stage === 'work' && ended?.status === 'failed' && position >= asked)
}

/** Why a step can never begin. */
function obstacle({ depends_on }: StepState, known: ReadonlyMap<string, StepState>): string | null {
  for (const id of depends_on) {
    const step = known.get(id)
    if (!step) return `step ${id}, which it depends on, is not in the plan`
    if (step.ended?.status === 'failed') return `step ${id}, which it depends on, failed`
    if (step.ended?.status === 'skipped') return `step ${id}, which it depends on, was skipped`
  }
  return null
}

function isCompleted(ids: readonly string[], known: ReadonlyMap<string, StepState>): boolean {
  return ids.every((id) => known.get(id)?.ended?.status === 'completed')
}

/**
 * Those of the open steps that come after one that may write the same. Work is integrated in the order of the steps, so
 * one that has not begun counts too: if a later one went first, each would wait for the other.
 */
function blockedBy(open: readonly StepState[], claims: ReadonlyMap<string, Claim>): Set<string> {
  const blocked = new Set<string>()
  const taken = new Set<Claim>()
  for (const { id } of open) {
    const claim = claims.get(id)
    if (!claim) continue
    if ([...claim.rivals].some((rival) => taken.has(rival))) blocked.add(id)
    taken.add(claim)
  }
  return blocked
}

/**
 * How long it takes at least from the beginning of each open step until all is done that waits for it: what depends on
 * it; what may write the same; and, since work is integrated in order, what waits in these ways for any later writer.
 */
function urgencies(
  open: readonly StepState[],
  claims: ReadonlyMap<string, Claim>,
  weight: (step: StepState) => number,
): Map<string, number> {
  const urgency = new Map<string, number>()
  const dependents = new Map<string, number>()
  const rivals = new Map<Claim, number>()
  let writers = 0
  for (const step of open.toReversed()) {
    const claim = claims.get(step.id)
    let after = dependents.get(step.id) ?? 0
    for (const rival of claim?.rivals ?? []) after = Math.max(after, rivals.get(rival) ?? 0)
    if (mayChange(step)) after = writers = Math.max(writers, after)
    const longest = weight(step) + after
    urgency.set(step.id, longest)
    if (claim) rivals.set(claim, Math.max(rivals.get(claim) ?? 0, longest))
    for (const id of step.depends_on) dependents.set(id, Math.max(dependents.get(id) ?? 0, longest))
  }
  return urgency
}

/** The order in which work is integrated: as it was given, but never before what it depends on. null: there is none. */
export function stepOrder<S extends { id: string; depends_on: readonly string[] }>(steps: readonly S[]): S[] | null {
  const order: S[] = []
  const placed = new Set<string>()
  const left = [...steps]
  while (left.length > 0) {
    const next = left.findIndex(({ depends_on }) => depends_on.every((id) => placed.has(id)))
    const [step] = next < 0 ? [] : left.splice(next, 1)
    if (!step) return null
    order.push(step)
    placed.add(step.id)
  }
  return order
}
