import { plural } from './amounts.js'
import type { StoredEvent } from './events.js'
import { namesInWords } from './in-words.js'
import type { Stage } from './plan.js'
import { type PlanEvent, type PlanState, type StepState, stepOf, withPlan } from './plan-state.js'

/** A step without a sub-agent. `over`: there will be none. `why`: what it waits for, or why it was left out, in words. */
export type IdleStep = { id: string; label: string; title: string; agent: string | null; over: boolean; why: string }

/** How far the plans of a run have come, from its events: for a tree of its agents and for the lines beside it. */
export class PlanProgress {
  /** How texts of others are made fit for where they are shown. */
  readonly #shown: (text: string) => string
  /** By the agent that carries them out. */
  readonly #plans = new Map<string, PlanState[]>()
  /** Whose call each sub-agent is of, and which of several. */
  readonly #places = new Map<string, { parent: string; call_id: string; index: number }>()
  /** The check of the whole that is being made. */
  readonly #checking = new Map<string, string>()

  constructor(shown: (text: string) => string = (text) => text) {
    this.#shown = shown
  }

  grow(event: StoredEvent): void {
    const { agent_id } = event
    if (event.type === 'agent.subagent_created' || event.type === 'agent.subagent_reused') {
      const { sub_agent_id, call_id, index } = event.data
      this.#places.set(sub_agent_id, { parent: agent_id, call_id, index })
    }
    if (event.type === 'plan.check_started') this.#checking.set(agent_id, event.data.what)
    if (event.type === 'plan.checked' || event.type === 'plan.ended') this.#checking.delete(agent_id)
    if (isPlanEvent(event)) this.#plans.set(agent_id, withPlan(this.#plans.get(agent_id) ?? [], event))
  }

  /** What the step of a sub-agent is called; null: it is of no plan. */
  labelOf(agent_id: string): string | null {
    const place = this.#places.get(agent_id)
    const found = place ? stepOf(this.#plans.get(place.parent) ?? [], place) : null
    return found ? this.#shown(stepLabel(found.step)) : null
  }

  /** How a step of an agent's plan is called. */
  stepLabel(agent_id: string, step: string): string {
    const found = this.#steps(agent_id).find(({ id }) => id === step)
    return this.#shown(found ? stepLabel(found) : `step ${step}`)
  }

  /** Steps of an agent's plans that nobody works on or did: those that are over first. */
  idle(agent_id: string): IdleStep[] {
    const steps = (this.#plans.get(agent_id) ?? []).flatMap((plan) =>
      plan.steps.filter(({ attempts }) => attempts.length === 0).map((step) => this.#idleStep(step, plan)),
    )
    return [...steps.filter(({ over }) => over), ...steps.filter(({ over }) => !over)]
  }

  /** Whether nobody said yes to an agent's plan, so that nothing of it was begun. */
  isLeft(agent_id: string): boolean {
    return (this.#plans.get(agent_id) ?? []).some((plan) => plan.ended?.status === 'left' && plan.revision === 0)
  }

  /** What an agent does with its plan itself: null where its sub-agents do it all. */
  doing(agent_id: string): string | null {
    if (this.asks(agent_id)) return 'waits for approval of the plan'
    const checking = this.#checking.get(agent_id)
    return checking === undefined ? null : `checks the whole: ${this.#shown(checking)}`
  }

  /** Whether an agent waits for somebody's yes to its plan. */
  asks(agent_id: string): boolean {
    return (this.#plans.get(agent_id) ?? []).some((plan) => plan.approval === 'asked' && !plan.ended)
  }

  /** Whether a question about a plan (null) or one of its steps is open. */
  isAsked(step: string | null): boolean {
    return [...this.#plans.values()].flat().some((plan) => {
      if (plan.ended) return false
      if (step === null) return plan.approval === 'asked'
      return plan.steps.some(({ id, approval }) => id === step && approval === 'asked')
    })
  }

  /** `3 of 7 steps completed`, of all plans together; null where there are none. */
  total(): string | null {
    const steps = [...this.#plans.keys()].flatMap((agent_id) => this.#steps(agent_id))
    if (steps.length === 0) return null
    return stepCounts(steps.map(({ stage, ended }) => ({ stage, status: ended?.status ?? 'waiting' })))
  }

  #steps(agent_id: string): StepState[] {
    return (this.#plans.get(agent_id) ?? []).flatMap(({ steps }) => steps)
  }

  #idleStep(step: StepState, plan: PlanState): IdleStep {
    const { id, title, agent, ended } = step
    const over = ended !== null
    const why = this.#shown(over ? endOf(ended) : waitsFor(step, plan))
    return { id, label: this.#shown(stepLabel(step)), title, agent, over, why }
  }
}

function isPlanEvent(event: StoredEvent): event is StoredEvent & PlanEvent {
  return event.type.startsWith('plan.')
}

/** `review-1` says what it is for; `2` does not, and the plan's own work is what steps are mostly for. */
export function stepLabel({ id, stage }: Pick<StepState, 'id' | 'stage'>): string {
  if (stage === 'work') return `step ${id}`
  return id.startsWith(stage) ? id : `${stage} ${id}`
}

/** `1 of 3 steps completed, 2 skipped`. As long as none of them is the work itself, that of which it is the planning. */
export function stepCounts(steps: readonly { stage: Stage; status: string }[]): string {
  const count = (status: string) => steps.filter((step) => step.status === status).length
  const others = ['failed', 'skipped'].flatMap((status) => {
    const number = count(status)
    return number > 0 ? [`${number} ${status}`] : []
  })
  const planning = steps.some(({ stage }) => stage === 'work') ? '' : 'planning: '
  const completed = `${planning}${count('completed')} of ${plural(steps.length, 'step')} completed`
  return [completed, ...others].join(', ')
}

function endOf({ status, reason }: NonNullable<StepState['ended']>): string {
  return reason === null ? status : `${status}: ${reason}`
}

function waitsFor({ depends_on, approval }: StepState, { steps }: PlanState): string {
  if (approval === 'asked') return 'waits for approval'
  const open = depends_on.filter((id) => steps.some((step) => step.id === id && step.ended === null))
  return open.length > 0 ? `waits for ${namesInWords(open)}` : 'waits for its turn'
}
