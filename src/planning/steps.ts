import type { Plan, PlanState, PlanStep, Stage, StepSpec } from '../domain/index.js'
import type { AgentFacts } from './faults.js'
import { stepOrder } from './schedule.js'

/** What decides what the steps of a plan may write. */
export type StepsIn = {
  agent: (name: string) => Pick<AgentFacts, 'write_paths'> | null
  /** The run writes nothing, whatever its steps say. */
  read_only: boolean
}

/** A step of our own making, or one of a plan, with what it does not say left empty. */
export function stepSpec(
  stage: Stage,
  given: Pick<StepSpec, 'id' | 'title' | 'description'> & Partial<StepSpec>,
): StepSpec {
  return {
    agent: null,
    depends_on: [],
    inputs: [],
    owns: [],
    success_criteria: [],
    checks: [],
    budget: {},
    needs_approval: false,
    retries: 0,
    ...given,
    stage,
  }
}

/**
 * The steps of a plan that has no faults, in the order in which their work is integrated, each with what it may write:
 * what it owns, else what its agent may, else everything.
 */
export function workSteps(plan: Plan, around: StepsIn): StepSpec[] {
  const order = stepOrder(plan.steps) ?? plan.steps
  return order.map((step) => ({ ...step, stage: 'work', owns: claim(step, around) }))
}

function claim({ agent, owns }: PlanStep, around: StepsIn): string[] {
  const write_paths = agent === null ? null : (around.agent(agent)?.write_paths ?? null)
  if (around.read_only || write_paths?.length === 0) return []
  return owns ?? write_paths ?? ['**']
}

/** So many results of what was done before are given to those who begin with the changed rest. */
const MOST_RESULTS = 8

/**
 * The same for a plan that takes the place of what was not begun: under names that nothing had before, and with what was
 * found out so far given to those that depend on nothing else.
 */
export function revisedSteps(plan: Plan, { steps, revision }: PlanState, around: StepsIn): StepSpec[] {
  const taken = new Set(steps.map(({ id }) => id))
  const fresh = new Map(plan.steps.map(({ id }) => [id, freshId(`${revision + 1}.${id}`, taken)]))
  const rename = (ids: readonly string[]) => ids.flatMap((id) => fresh.get(id) ?? [])
  const done = steps.filter(({ stage, ended }) => stage === 'work' && ended?.status === 'completed')
  const results = done.slice(-MOST_RESULTS).map(({ id }) => id)
  return workSteps(plan, around).map((step) => ({
    ...step,
    id: fresh.get(step.id) as string,
    depends_on: rename(step.depends_on),
    inputs: step.depends_on.length === 0 ? results : rename(step.inputs),
  }))
}

function freshId(wanted: string, taken: Set<string>): string {
  let id = wanted.slice(0, 36)
  for (let n = 2; taken.has(id); n++) id = `${wanted.slice(0, 36)}-${n}`
  taken.add(id)
  return id
}
