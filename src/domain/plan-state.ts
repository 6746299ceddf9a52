import type { Child } from './children.js'
import { type Corruption, CorruptLogError } from './corruption.js'
import { PROGRAM } from './delegation.js'
import type { AgentEvent, EventData } from './events.js'
import type { Outcome } from './outcome.js'
import type { Plan, StepSpec } from './plan.js'
import type { AgentMemory } from './state.js'

export type StepState = StepSpec & {
  /** Its place in the order in which work is integrated. */
  position: number
  /** Of the plan, as which it was added. */
  revision: number
  /** Each is a sub-agent: which one of those of its call. */
  attempts: { index: number }[]
  /** Whether a person said yes to it, where one is asked. */
  approval: 'asked' | 'approved' | 'declined' | null
  ended: Pick<EventData<'plan.step_ended'>, 'status' | 'sub_agent_id' | 'reason'> | null
}

/** How far a plan has come: what the log of the agent that carries it out says about one of its calls. */
export type PlanState = {
  call_id: string
  /** The plan as it stands: proposed, or adopted. null: it is being made, or there is none and only steps. */
  plan: Plan | null
  /** Whose it is. */
  by: EventData<'plan.proposed'>['by'] | null
  /** How often one was adopted. */
  revision: number
  /** Each time, who made it and why. */
  adopted: Pick<EventData<'plan.adopted'>, 'revision' | 'by' | 'reason'>[]
  /** Never fewer: what is not done any more is skipped. */
  steps: StepState[]
  /** What was said to the plan that was proposed last. */
  approval: 'asked' | 'approved' | 'declined' | null
  reviews: EventData<'plan.reviewed'>[]
  checks: EventData<'plan.checked'>[]
  /** The commit that a check looks at which has not found anything yet: its tree may have in it what that left. */
  checking: string | null
  ended: Pick<EventData<'plan.ended'>, 'status' | 'reason'> | null
  /** Times of its first and its last event. */
  began_at: number
  at: number
}

export type PlanEvent = Extract<AgentEvent, { type: `plan.${string}` }>

/** What can be the first that is known of a plan: one that has faults ends at once. */
const BEGINNINGS: string[] = [
  'plan.steps_added',
  'plan.proposed',
  'plan.adopted',
  'plan.ended',
] satisfies PlanEvent['type'][]

/** What is known of plans after one more event. Pure. */
export function withPlan(plans: readonly PlanState[], event: PlanEvent): PlanState[] {
  const { call_id } = event.data
  const known = plans.find((one) => one.call_id === call_id)
  if (known?.ended) throw corrupt(event, 'plan_over', `the plan of ${call_id} had ended`)
  if (!known && !BEGINNINGS.includes(event.type)) throw corrupt(event, 'plan_unknown', call_id)
  const next = { ...applied(known ?? newPlan(call_id, event.at), event), at: event.at }
  return known ? plans.map((one) => (one === known ? next : one)) : [...plans, next]
}

function applied(state: PlanState, event: PlanEvent): PlanState {
  switch (event.type) {
    case 'plan.steps_added':
      return { ...state, steps: [...state.steps, ...added(state, event, event.data.steps, state.revision)] }
    case 'plan.proposed':
      return { ...state, plan: event.data.plan, by: event.data.by, approval: null }
    case 'plan.adopted': {
      const { plan, steps, revision, by, reason } = event.data
      return {
        ...{ ...state, plan, by, revision, adopted: [...state.adopted, { revision, by, reason }] },
        steps: [...state.steps, ...added(state, event, steps, revision)],
      }
    }
    case 'plan.approval_asked':
      return withApproval(state, event, 'asked')
    case 'plan.approval_answered':
      return withApproval(state, event, event.data.answer)
    case 'plan.step_started':
      return withStep(state, event, (step) => ({
        ...step,
        attempts: [...step.attempts, { index: event.data.index }],
      }))
    case 'plan.step_ended': {
      const { status, sub_agent_id, reason } = event.data
      return withStep(state, event, (step) => ({ ...step, ended: { status, sub_agent_id, reason } }))
    }
    case 'plan.check_started':
      return { ...state, checking: event.data.commit }
    case 'plan.checked':
      return { ...state, checks: [...state.checks, event.data], checking: null }
    case 'plan.reviewed':
      return { ...state, reviews: [...state.reviews, event.data] }
    case 'plan.ended':
      return { ...state, ended: { status: event.data.status, reason: event.data.reason } }
    default:
      return event satisfies never
  }
}

function newPlan(call_id: string, at: number): PlanState {
  return {
    ...{ call_id, plan: null, by: null, revision: 0, adopted: [], steps: [], approval: null },
    ...{ reviews: [], checks: [], checking: null, ended: null, began_at: at, at },
  }
}

function added(
  { steps: there }: PlanState,
  event: PlanEvent,
  specs: readonly StepSpec[],
  revision: number,
): StepState[] {
  const known = new Set(there.map(({ id }) => id))
  return specs.map((spec, i) => {
    if (known.has(spec.id)) throw corrupt(event, 'step_repeated', spec.id)
    known.add(spec.id)
    return { ...spec, position: there.length + i, revision, attempts: [], approval: null, ended: null }
  })
}

function withStep(
  state: PlanState,
  event: Extract<PlanEvent, { data: { step: string | null } }>,
  change: (step: StepState) => StepState,
): PlanState {
  const { step: id } = event.data
  const step = state.steps.find((one) => one.id === id)
  if (!step) throw corrupt(event, 'step_unknown', String(id))
  if (step.ended) throw corrupt(event, 'step_over', step.id)
  return { ...state, steps: state.steps.map((one) => (one === step ? change(one) : one)) }
}

function withApproval(
  state: PlanState,
  event: Extract<PlanEvent, { type: 'plan.approval_asked' | 'plan.approval_answered' }>,
  answer: 'asked' | 'approved' | 'declined',
): PlanState {
  if (event.data.step !== null) return withStep(state, event, (step) => ({ ...step, approval: answer }))
  return { ...state, approval: answer }
}

/** Whether a person is being asked about it, or about one of its steps, and nothing goes on meanwhile. */
export function isAsked({ ended, approval, steps }: PlanState): boolean {
  if (ended) return false
  const open = steps.filter((step) => step.ended === null)
  const at_work = open.some(({ attempts }) => attempts.length > 0)
  return !at_work && (approval === 'asked' || open.some((step) => step.approval === 'asked'))
}

/** The step that a sub-agent does, and the plan that it is of; null for one of no plan. */
export function stepOf(plans: readonly PlanState[], child: Pick<Child, 'call_id' | 'index'>) {
  const plan = plans.find(({ call_id }) => call_id === child.call_id)
  const step = plan?.steps.find(({ attempts }) => attempts.some(({ index }) => index === child.index))
  return plan && step ? { plan, step } : null
}

/** Steps whose work is integrated before that of this one, and is not yet. */
export function stepsBefore({ steps }: PlanState, { position }: StepState): StepState[] {
  return steps.filter((step) => step.position < position && step.ended === null && mayChange(step))
}

/** Whether there may be something to integrate. */
export function mayChange({ owns }: Pick<StepSpec, 'owns'>): boolean {
  return owns === null || owns.length > 0
}

/** What a step may write, as far as that is said: everything where it is not. */
export function claimOf({ owns }: Pick<StepSpec, 'owns'>): readonly string[] {
  return owns ?? ['**']
}

function corrupt(event: PlanEvent, reason: Corruption, detail: string): CorruptLogError {
  return new CorruptLogError(reason, event, detail)
}

/** How a run ended whose root agent is a program that carries a plan out: as its plan did. null: it completed. */
export function planVerdict({ contract, plans }: Pick<AgentMemory, 'contract' | 'plans'>): Unfinished | null {
  const { provider, model } = contract.model
  if (provider !== PROGRAM || model !== 'plan') return null
  const [plan] = plans
  const ended = plan?.ended
  if (!ended) return ['error', 'plan', 'the plan was not begun']
  if (ended.status === 'completed' || ended.status === 'made') return null
  if (ended.status === 'left') return ['cancelled', 'plan', ended.reason]
  const round = plan.checks.at(-1)?.round
  const fails = plan.checks.some((check) => check.round === round && !check.passed)
  return [fails ? 'gate_failed' : 'error', 'plan', ended.reason]
}

type Unfinished = [outcome: Outcome, cause: string, reason: string | null]
