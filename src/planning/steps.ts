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
 * What a planner wants done instead of the rest, as a plan: under names that nothing had before, without what is done
 * already, and with everything kept that is not the planner's to change. What proves that the goal is reached is not,
 * and whoever was to be asked about a step that was not done yet is asked about all that comes in its place.
 */
export function restOf(plan: Plan, given: Plan, { steps, revision }: PlanState): Plan | { fault: string } {
  const ids = steps.map(({ id }) => id)
  const done = new Set(steps.filter(({ ended }) => ended?.status === 'completed').map(({ id }) => id))
  const rest = given.steps.filter(({ id }) => !done.has(id))
  if (rest.length === 0) return { fault: 'all of these steps are done already: plan what is left to do' }
  const taken = new Set(ids)
  const fresh = new Map(rest.map(({ id }) => [id, freshId(`${revision + 1}.${id}`, taken)]))
  const rename = (names: readonly string[]) => names.flatMap((id) => fresh.get(id) ?? [])
  const asks = steps.some(({ needs_approval, approval, ended }) => {
    return needs_approval && approval !== 'approved' && ended?.status !== 'completed'
  })
  return {
    ...plan,
    assumptions: given.assumptions,
    steps: rest.map((step) => ({
      ...step,
      id: fresh.get(step.id) as string,
      depends_on: rename(step.depends_on),
      inputs: rename(step.inputs),
      needs_approval: step.needs_approval || asks,
    })),
  }
}

/** Its steps, of which those that depend on nothing are given what was found out so far. */
function revisedSteps(plan: Plan, { steps }: PlanState, around: StepsIn): StepSpec[] {
  const done = steps.filter(({ stage, ended }) => stage === 'work' && ended?.status === 'completed')
  const results = done.slice(-MOST_RESULTS).map(({ id }) => id)
  return workSteps(plan, around).map((step) => (step.depends_on.length === 0 ? { ...step, inputs: results } : step))
}

function freshId(wanted: string, taken: Set<string>): string {
  let id = wanted.slice(0, 36)
  for (let n = 2; taken.has(id); n++) id = `${wanted.slice(0, 36)}-${n}`
  taken.add(id)
  return id
}

/** The steps of a plan that is proposed, as they would be carried out after what has been done so far. */
export function stepsOf(plan: Plan, state: PlanState, around: StepsIn): StepSpec[] {
  return state.revision === 0 ? workSteps(plan, around) : revisedSteps(plan, state, around)
}
