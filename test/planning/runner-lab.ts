import { setImmediate } from 'node:timers/promises'
import {
  type AgentMemory,
  type AgentResult,
  type Child,
  claimOf,
  type EventData,
  type EventType,
  mayChange,
  type OnFailure,
  type PlanEvent,
  type PlanState,
  STEP_DEFAULTS,
  type StepSpec,
  type StepState,
  stepOf,
  withPlan,
} from '../../src/domain/index.js'
import { StepRunner } from '../../src/planning/step-runner.js'
// The part of the runtime in which steps wait for their turns, without the rest of it.
import { type PlanSide, Plans } from '../../src/runtime/plan-keeper.js'
import type { Delegator, Job } from '../../src/tools/index.js'
import { result } from '../tools/delegation-lab.js'
import type { Attempt, RandomPlan } from './random-plans.js'

const CALL = 'call'
const TEXT = { title: 'Another rest', description: 'Plan it.' }
const LISTS = { depends_on: [], inputs: [], success_criteria: [], checks: [] }
const PLANNER: StepSpec = { ...STEP_DEFAULTS, ...TEXT, ...LISTS, budget: {}, id: 'replan-1', stage: 'plan', owns: [] }
const FAILED = { outcome: 'error', reason: 'it did not work' } as const
const NEVER = new AbortController().signal

/** `writes`: from now on it may. `at_work`: how many others are. */
export type Moment = { what: 'began' | 'writes' | 'joined' | 'over'; step: string; at_work: number }

export type Carried = {
  plan: PlanState
  events: PlanEvent[]
  moments: Moment[]
  /** Whether each waited for something that never happened. */
  stuck: boolean
}

/** A plan carried out by the real runner and the real turns, by sub-agents that are done when the plan says so. */
export async function carried(random: RandomPlan): Promise<Carried> {
  const lab = new Lab(random)
  const done = lab.toItsEnd().then(() => true)
  for (;;) {
    // Nothing here waits for a machine: after this, everything that can have happened has.
    await setImmediate()
    const ended = await Promise.race([done, Promise.resolve(false)])
    if (ended || !lab.passTime()) return { ...lab.record, stuck: !ended }
  }
}

class Lab {
  readonly #random: RandomPlan
  readonly #jobs: Job[] = []
  readonly #children: Child[] = []
  readonly #events: PlanEvent[] = []
  readonly #moments: Moment[] = []
  /** When the work of each is done, and what then happens. */
  readonly #working = new Map<string, { until: number; done: () => void }>()
  readonly #plans: Plans
  #folded: PlanState[] = []
  #now = 0

  constructor(random: RandomPlan) {
    this.#random = random
    const memory = () => ({ plans: this.#folded, children: this.#children, contract: { execution: {} } })
    const recorder = {
      get memory() {
        return memory() as unknown as AgentMemory
      },
      record: <T extends EventType>(type: T, data: EventData<T>) => this.#happens({ type, data } as PlanEvent),
      commit: async () => {},
      commitSoon: () => {},
    }
    const side = { recorder, signal: () => NEVER, rest: <T>(wait: () => Promise<T>) => wait(), limit: random.limit }
    this.#plans = new Plans(side as unknown as PlanSide, async () => {})
  }

  get record(): Omit<Carried, 'stuck'> {
    return { plan: this.#plan, events: this.#events, moments: this.#moments }
  }

  get #plan(): PlanState {
    return this.#folded[0] as PlanState
  }

  async toItsEnd(): Promise<void> {
    const { steps, rest, on_failure } = this.#random
    await this.#run(steps, on_failure)
    const failed = this.#plan.steps.some(({ ended }) => ended?.status === 'failed')
    if (on_failure !== 'replan' || !failed) return
    await this.#run([PLANNER], 'continue')
    await this.#run(rest, 'stop')
  }

  async #run(steps: StepSpec[], on_failure: OnFailure): Promise<void> {
    this.#plans.note('plan.steps_added', { call_id: CALL, steps })
    const around = { call_id: CALL, delegator: this.#delegator, signal: NEVER, context: '', approved: true }
    await new StepRunner(around).run(on_failure)
  }

  /** To when the next work is done. Nothing is under way: nothing happens. */
  passTime(): boolean {
    if (this.#working.size === 0) return false
    this.#now = Math.min(...[...this.#working.values()].map(({ until }) => until))
    for (const [id, { until, done }] of this.#working) {
      if (until !== this.#now) continue
      this.#working.delete(id)
      done()
    }
    return true
  }

  get #delegator(): Delegator {
    const no = (): never => {
      throw new Error('nobody asks for this here')
    }
    return {
      plans: this.#plans,
      profiles: [],
      pausing: false,
      earlier: no,
      wait: no,
      jobs: () => this.#jobs.map((job) => ({ ...job })),
      spawn: async (call_id, index, { title = '' }) => {
        const id = `a${this.#jobs.length + 1}`
        this.#children.push({ id, call_id, index, step_idx: this.#jobs.length, closed: null } as unknown as Child)
        const more = { delivered: false, adjustments: [], closed: null, reused_from: null }
        this.#jobs.push({ id, call_id, index, title, waits: false, ...more })
        this.#notes('began', this.#stepOf(id))
        void this.#lives(id)
        return { ok: true, id, adjustments: [] }
      },
    }
  }

  /** What the runtime does with a sub-agent, as far as turns have to do with it. */
  async #lives(id: string): Promise<void> {
    const step = this.#stepOf(id)
    const child = this.#children.find((one) => one.id === id) as Child
    const { takes, comes_out } = this.#attempt(step)
    const owns = claimOf(step)
    if (this.#plans.ahead(child, owns).length > 0) {
      await this.#waits(id, () => this.#plans.turnToWrite(child, owns, NEVER))
    }
    this.#notes('writes', step)
    await new Promise<void>((done) => this.#working.set(id, { until: this.#now + takes, done }))
    if (comes_out !== 'fails_at_work' && mayChange(step)) {
      await this.#waits(id, () => this.#plans.turnToJoin(child, NEVER))
      this.#notes('joined', step)
    }
    this.#close(id, comes_out === 'well' ? {} : FAILED)
  }

  async #waits(id: string, wait: () => Promise<void>): Promise<void> {
    this.#job(id).waits = true
    this.#plans.changed()
    await wait()
    this.#job(id).waits = false
  }

  #close(id: string, how: Partial<AgentResult>): void {
    const closed: Job['closed'] = {
      final_status: how.outcome === undefined ? 'completed' : 'failed',
      close_reason: 'it ended',
      result: result(how),
    }
    Object.assign(this.#job(id), { closed })
    Object.assign(this.#children.find((one) => one.id === id) as Child, { closed })
    this.#plans.changed()
  }

  #job(id: string): Job {
    return this.#jobs.find((job) => job.id === id) as Job
  }

  #stepOf(id: string): StepState {
    return stepOf(this.#folded, this.#job(id))?.step as StepState
  }

  #attempt({ id, attempts }: StepState): Attempt {
    if (id === PLANNER.id) return { takes: 1, comes_out: 'well' }
    return this.#random.attempts[id]?.[attempts.length - 1] as Attempt
  }

  #notes(what: Moment['what'], { id }: Pick<StepState, 'id'>): void {
    const others = this.#jobs.filter((job) => !job.closed && !job.waits && this.#stepOf(job.id).id !== id)
    this.#moments.push({ what, step: id, at_work: others.length })
  }

  #happens(said: PlanEvent): void {
    const place = { run_id: 'run', agent_id: 'root', seq: this.#events.length + 1 }
    const event = { ...said, ...place, version: 1, at: this.#now } as PlanEvent
    this.#events.push(event)
    this.#folded = withPlan(this.#folded, event)
    if (event.type === 'plan.step_ended') this.#notes('over', { id: event.data.step })
  }
}
