import { mayChange, type StepSpec, type StepState } from '../domain/index.js'
import { schedule } from './schedule.js'

/** When a step would begin, have done its work, and be over. */
export type Rehearsed = {
  step: StepState
  began: number
  done: number
  ended: number
  /** Those at work when it could have begun and there was no room for it. */
  crowded_by: string[]
}

/**
 * A plan carried out in thought, by the schedule that it will be carried out by: each step succeeds at once and takes
 * as long as `durationOf` says. Null: some of them would wait for each other.
 */
export function rehearse(
  specs: readonly StepSpec[],
  limit: number,
  durationOf: (step: StepSpec) => number,
): Rehearsed[] | null {
  const steps = specs.map((spec, position) => stateOf(spec, position, specs))
  const course = new Map<string, Rehearsed>()
  const of = (step: StepState) => course.get(step.id) as Rehearsed
  const open = () => steps.filter(({ attempts, ended }) => attempts.length > 0 && ended === null)
  for (let now = 0; ; ) {
    for (const step of open()) {
      if (of(step).done > now || waitsForTurn(step, steps)) continue
      step.ended = { status: 'completed', sub_agent_id: null, reason: null }
      of(step).ended = now
    }
    const at_work = open().filter((step) => of(step).done > now)
    const ready = schedule(steps, { limit: steps.length, at_work: 0, on_failure: 'continue' }).start
    const { start } = schedule(steps, { limit, at_work: at_work.length, on_failure: 'continue' })
    for (const step of ready) {
      const known = course.get(step.id) ?? { step, began: now, done: now, ended: now, crowded_by: [] }
      course.set(step.id, known)
      if (!start.includes(step)) {
        if (known.crowded_by.length === 0) known.crowded_by = [...at_work, ...start].map(({ id }) => id)
        continue
      }
      step.attempts.push({ index: 0 })
      known.began = now
      known.done = now + Math.max(1, durationOf(step))
    }
    const next = Math.min(...open().flatMap((step) => (of(step).done > now ? [of(step).done] : [])))
    if (next === Number.POSITIVE_INFINITY) break
    now = next
  }
  return steps.every(({ ended }) => ended !== null) ? steps.map(of) : null
}

/** What is not among the steps was done before. */
function stateOf(spec: StepSpec, position: number, specs: readonly StepSpec[]): StepState {
  const depends_on = spec.depends_on.filter((id) => specs.some((other) => other.id === id))
  return { ...spec, depends_on, position, revision: 1, attempts: [], approval: null, ended: null }
}

/** Work is integrated in the order of the steps. */
function waitsForTurn(step: StepState, steps: readonly StepState[]): boolean {
  if (!mayChange(step)) return false
  return steps.some((other) => other.position < step.position && other.ended === null && mayChange(other))
}
