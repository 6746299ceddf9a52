import {
  mayChange,
  type OnFailure,
  type PlanEvent,
  type PlanState,
  STEP_DEFAULTS,
  type StepSpec,
  type StepState,
  stepsBefore,
  withPlan,
} from '../../src/domain/index.js'
import { type Around, schedule } from '../../src/planning/schedule.js'
import type { Attempt, RandomPlan } from './random-plans.js'

/** What happened to a step, and when. `integrated`: its work was, or was found wanting. `at_work`: how many are, then. */
type Moment = { at: number; what: 'began' | 'worked' | 'integrated' | 'over'; step: string; at_work: number }

/** `decide`: the schedule, or somebody who watches it. */
type How = Pick<Around, 'weight'> & { decide?: typeof schedule }

export type Simulation = {
  events: PlanEvent[]
  plan: PlanState
  moments: Moment[]
  makespan: number
}

const CALL = 'call'
const TEXT = { title: 'Another rest', description: 'Plan it.' }
const LISTS = { depends_on: [], inputs: [], success_criteria: [], checks: [] }
const PLANNER: StepSpec = { ...STEP_DEFAULTS, ...TEXT, ...LISTS, budget: {}, id: 'replan-1', stage: 'plan', owns: [] }

/**
 * A plan carried out by the real schedule and the real fold, with a clock that jumps. A step whose work is done gives its
 * place to another and waits until the writing steps before it are over. Integrating takes no time.
 */
export function simulate(random: RandomPlan, how: How = {}): Simulation {
  return new Simulated(random, how).toItsEnd()
}

class Simulated {
  readonly #random: RandomPlan
  readonly #how: How
  readonly #events: PlanEvent[] = []
  readonly #moments: Moment[] = []
  /** Until when each is at work. */
  readonly #working = new Map<string, number>()
  /** Whose work is done and not yet integrated. */
  readonly #worked = new Set<string>()
  /** Which are to be tried again, when there is room. */
  readonly #again = new Set<string>()
  #plans: PlanState[] = []
  #on_failure: OnFailure
  #now = 0
  #children = 0

  constructor(random: RandomPlan, how: How) {
    this.#random = random
    this.#how = how
    this.#on_failure = random.on_failure
    this.#adds(random.steps)
  }

  toItsEnd(): Simulation {
    do {
      this.#settle()
    } while (this.#passTime() || this.#replan())
    const { plan } = this
    return { events: this.#events, plan, moments: this.#moments, makespan: this.#now }
  }

  get plan(): PlanState {
    return this.#plans[0] as PlanState
  }

  /** Everything that can be done now, until nothing is left. */
  #settle(): void {
    while (this.#integrateNext() || this.#tryAgain() || this.#skipAndStart());
  }

  #integrateNext(): boolean {
    const next = this.plan.steps.find((step) => this.#worked.has(step.id) && this.#hasItsTurn(step))
    if (!next) return false
    this.#worked.delete(next.id)
    this.#notes('integrated', next)
    if (this.#attempt(next).comes_out === 'well') this.#ends(next, 'completed', null)
    else this.#fails(next)
    return true
  }

  #hasItsTurn(step: StepState): boolean {
    return !mayChange(step) || stepsBefore(this.plan, step).length === 0
  }

  #tryAgain(): boolean {
    const next = this.plan.steps.find(({ id }) => this.#again.has(id))
    if (!next || this.#working.size >= this.#random.limit) return false
    this.#again.delete(next.id)
    this.#begins(next)
    return true
  }

  #skipAndStart(): boolean {
    const { decide = schedule, ...how } = this.#how
    const around = { limit: this.#random.limit, at_work: this.#working.size, on_failure: this.#on_failure, ...how }
    const { start, skip } = decide(this.plan.steps, around)
    for (const { step, reason } of skip) this.#ends(step, 'skipped', reason)
    for (const step of start) this.#begins(step)
    return start.length + skip.length > 0
  }

  /** To when the next work is done. */
  #passTime(): boolean {
    if (this.#working.size === 0) return false
    this.#now = Math.min(...this.#working.values())
    const done = this.plan.steps.filter(({ id }) => this.#working.get(id) === this.#now)
    for (const step of done) {
      this.#working.delete(step.id)
      this.#notes('worked', step)
      if (this.#attempt(step).comes_out === 'fails_at_work') this.#fails(step)
      else this.#worked.add(step.id)
    }
    return true
  }

  /** Once: the planner is asked, and its steps take the place of those that were skipped. */
  #replan(): boolean {
    const { steps } = this.plan
    const planner = steps.find(({ stage }) => stage === 'plan')
    if (this.#on_failure === 'replan' && steps.some(({ ended }) => ended?.status === 'failed')) {
      this.#on_failure = 'continue'
      this.#adds([PLANNER])
      return true
    }
    if (!planner || steps.at(-1)?.id !== planner.id) return false
    this.#on_failure = 'stop'
    this.#adds(this.#random.rest)
    return true
  }

  #adds(steps: StepSpec[]): void {
    this.#happens({ type: 'plan.steps_added', data: { call_id: CALL, steps } })
  }

  #fails(step: StepState): void {
    if (step.attempts.length <= step.retries) this.#again.add(step.id)
    else this.#ends(step, 'failed', 'it did not work')
  }

  #begins({ id }: StepState): void {
    const attempt = this.#step(id).attempts.length + 1
    const data = { call_id: CALL, step: id, attempt, index: this.#children++ }
    this.#happens({ type: 'plan.step_started', data })
    this.#working.set(id, this.#now + this.#attempt(this.#step(id)).takes)
    this.#notes('began', this.#step(id))
  }

  #ends({ id, attempts }: StepState, status: 'completed' | 'failed' | 'skipped', reason: string | null): void {
    const index = attempts.at(-1)?.index
    const sub_agent_id = index === undefined ? null : `a${index + 1}`
    this.#happens({ type: 'plan.step_ended', data: { call_id: CALL, step: id, status, sub_agent_id, reason } })
    this.#notes('over', this.#step(id))
  }

  #step(id: string): StepState {
    return this.plan.steps.find((step) => step.id === id) as StepState
  }

  #attempt({ id, attempts }: StepState): Attempt {
    if (id === PLANNER.id) return { takes: 1, comes_out: 'well' }
    return this.#random.attempts[id]?.[attempts.length - 1] as Attempt
  }

  #notes(what: Moment['what'], { id }: StepState): void {
    this.#moments.push({ at: this.#now, what, step: id, at_work: this.#working.size })
  }

  #happens(said: Pick<PlanEvent, 'type' | 'data'>): void {
    const place = { run_id: 'run', agent_id: 'root', seq: this.#events.length + 1 }
    const event = { ...said, ...place, version: 1, at: this.#now } as PlanEvent
    this.#events.push(event)
    this.#plans = withPlan(this.#plans, event)
  }
}
