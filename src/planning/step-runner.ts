import {
  type DelegationRequest,
  isDone,
  type Mode,
  type OnFailure,
  type PlanState,
  type StepState,
} from '../domain/index.js'
import { type Delegator, inOrder, inputText, type Job, type Spawn } from '../tools/index.js'
import { schedule } from './schedule.js'

type StepsAround = {
  call_id: string
  delegator: Delegator
  signal: AbortSignal
  /** What every step is told of the whole. */
  context: string
  /** What all of them are held to. Absent: nothing in particular. */
  mode?: Mode
  /** For a step of this agent; null: as that says, or as whoever delegates has. */
  model?: (agent: string | null) => string | null
  /** Whether a person has said yes to all steps that ask for it. */
  approved: boolean
}

/** What a step that failed says to the one that tries it again, in characters. */
const REASON_CHARS = 2000

/**
 * Carries out the steps that a plan has: begins what is ready, notes what became of it, until nothing is under way and
 * nothing can begin. All that it knows is in the log, so that after a restart it goes on as if nothing had happened.
 */
export class StepRunner {
  /** The sub-agent that is being created. One at a time: when one is refused, the next may have nothing to wait for. */
  #creating: Promise<void> | null = null
  /** Steps about which a person is being asked, and what takes the question back. */
  readonly #asking = new Map<string, { answered: Promise<void>; moot: AbortController }>()
  /** What went wrong beside the loop: the store cannot be written, this process has let go. */
  #failure: { error: unknown } | null = null
  readonly #spawn: Spawn

  constructor(private readonly around: StepsAround) {
    const { call_id, delegator } = around
    this.#spawn = inOrder((index) => delegator.spawn(call_id, index, this.#request(this.#stepOf(index))), around)
  }

  async run(on_failure: OnFailure): Promise<void> {
    const { signal } = this.around
    while (!signal.aborted) {
      if (this.#failure) throw this.#failure.error
      for (const step of this.#running()) this.#take(step)
      const limit = this.#limit
      const at_work = this.#running().filter((step) => this.#isAtWork(step)).length
      // Whoever waits for a person holds nobody up.
      const { start, skip } = schedule(this.#state.steps, { limit: Number.POSITIVE_INFINITY, at_work: 0, on_failure })
      for (const { step, reason } of skip) this.#end(step, 'skipped', null, reason)
      if (skip.length > 0) continue
      const unasked = start.filter((step) => this.#mayBegin(step))
      for (const step of start) if (!unasked.includes(step)) this.#ask(step)
      const again = this.#running().filter((step) => this.#jobOf(step)?.closed)
      const [next] = [...again, ...unasked]
      // What is left when somebody pauses the run begins when it is gone on with.
      const left = next !== undefined && this.around.delegator.pausing
      if (next && !left && at_work < limit && !this.#creating) this.#begin(next)
      if (this.#running().length === 0 && this.#asking.size === 0 && !this.#creating && !left) return
      await this.#somethingHappens()
    }
    await this.#stop()
  }

  get #state(): PlanState {
    return this.around.delegator.plans.state(this.around.call_id) as PlanState
  }

  get #limit(): number {
    const { limit } = this.around.delegator.plans
    return Math.min(limit, this.#state.plan?.max_concurrent ?? limit)
  }

  #running(): StepState[] {
    return this.#state.steps.filter(({ attempts, ended }) => attempts.length > 0 && ended === null)
  }

  #isAtWork(step: StepState): boolean {
    const job = this.#jobOf(step)
    return job === null || !(job.closed || job.waits)
  }

  #stepOf(index: number): StepState {
    return this.#state.steps.find(({ attempts }) => attempts.some((one) => one.index === index)) as StepState
  }

  /** Of its last attempt; null: it is not created yet. */
  #jobOf({ attempts }: StepState): Job | null {
    const index = attempts.at(-1)?.index
    return this.#jobs().find((job) => job.index === index) ?? null
  }

  #jobs(): Job[] {
    return this.around.delegator.jobs().filter(({ call_id }) => call_id === this.around.call_id)
  }

  /** What became of a step that is under way, unless it is nothing yet or is tried again when there is room. */
  #take(step: StepState): void {
    const index = step.attempts.at(-1)?.index as number
    const job = this.#jobOf(step)
    if (!job) {
      if (!this.#creating) this.#create(step, index)
      return
    }
    if (!job.closed) return
    const { outcome } = job.closed.result
    const again = outcome !== 'cancelled' && step.attempts.length <= step.retries
    // One whose budget ended did not get to its end; where nobody tries again, what there is of it stands.
    const done = isDone(job.closed) && !(outcome === 'budget_exceeded' && again)
    if (done) this.#end(step, 'completed', job.id, null)
    else if (!again) this.#end(step, 'failed', job.id, whyFailed(job.closed))
  }

  #mayBegin({ needs_approval, approval }: StepState): boolean {
    return !needs_approval || this.around.approved || approval === 'approved'
  }

  #ask(step: StepState): void {
    if (this.#asking.has(step.id)) return
    const moot = new AbortController()
    const answered = this.#askFor(step, moot.signal)
      .catch((error) => this.#fail(error))
      .finally(() => this.#asking.delete(step.id))
    this.#asking.set(step.id, { answered, moot })
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
  }

  async #askFor({ id }: StepState, moot: AbortSignal): Promise<void> {
    const { call_id, delegator, signal } = this.around
    const { plans } = delegator
    plans.note('plan.approval_asked', { call_id, step: id })
    await plans.commit()
    const { plan } = this.#state
    const given = plan && (await plans.approve({ call_id, plan, step: id, preview: null, faults: [] }, moot))
    if (signal.aborted || moot.aborted) return
    const { by = 'person', note = null } = given ?? {}
    const answer = given?.answer === 'approve' ? 'approved' : 'declined'
    const who = given ? by : 'nobody'
    plans.note('plan.approval_answered', { call_id, step: id, answer, by: who, note })
    const step = this.#state.steps.find((one) => one.id === id) as StepState
    if (answer === 'approved') return
    const reason = given ? `declined by ${by}${note === null ? '' : `: ${note}`}` : 'nobody was there to approve it'
    this.#end(step, 'skipped', null, reason)
  }

  #begin(step: StepState): void {
    const { call_id, delegator } = this.around
    const index = Math.max(-1, ...this.#state.steps.flatMap((one) => one.attempts.map((attempt) => attempt.index))) + 1
    const attempt = step.attempts.length + 1
    delegator.plans.note('plan.step_started', { call_id, step: step.id, attempt, index })
    if (!this.#creating) this.#create(this.#stepOf(index), index)
  }

  #create(step: StepState, index: number): void {
    const { signal } = this.around
    const made = this.#spawn(index).then((spawned) => {
      this.#creating = null
      if (!spawned.ok && !signal.aborted) this.#end(step, 'failed', null, forPeople(spawned.message))
    })
    this.#creating = made
    made.catch((error) => {
      this.#creating = null
      this.#fail(error)
    })
  }

  #request(step: StepState): DelegationRequest {
    const { steps } = this.#state
    const before = step.attempts.length > 1 ? this.#failureBefore(step) : ''
    const inputs = step.inputs.flatMap((id) => {
      const done = steps.find((one) => one.id === id)
      const job = this.#jobs().find((one) => one.id === done?.ended?.sub_agent_id)
      if (!job?.closed) return []
      const { outcome, text } = job.closed.result
      return [{ from: job.id, title: job.title, outcome, text: inputText(text) }]
    })
    const { mode, model } = this.around
    const named = model?.(step.agent) ?? null
    return {
      task: step.description,
      title: step.title,
      context: [this.around.context, step.context ?? '', before].filter((part) => part !== '').join('\n\n'),
      ...(step.agent === null ? {} : { profile: step.agent }),
      ...(step.label === undefined ? {} : { label: step.label }),
      ...(mode === undefined ? {} : { mode }),
      ...(named === null ? {} : { model: named }),
      ...(step.owns === null ? {} : { owns: step.owns }),
      ...(step.scope === undefined ? {} : { scope: step.scope }),
      ...(step.checks.length > 0 ? { checks: step.checks } : {}),
      ...(step.success_criteria.length > 0 ? { success_criteria: step.success_criteria } : {}),
      ...(inputs.length > 0 ? { inputs } : {}),
      ...(Object.keys(step.budget).length > 0 ? { budget: step.budget } : {}),
    }
  }

  #failureBefore({ attempts }: StepState): string {
    const index = attempts.at(-2)?.index
    const job = this.#jobs().find((one) => one.index === index)
    if (!job?.closed) return ''
    const why = whyFailed(job.closed).slice(0, REASON_CHARS)
    const left = isDone(job.closed) ? 'What it did is there. See what is left to do.' : 'Nothing of its work is there.'
    return `Another sub-agent tried this before you and did not get to the end: ${why}\n${left}`
  }

  #end(
    step: StepState,
    status: 'completed' | 'failed' | 'skipped',
    sub_agent_id: string | null,
    reason: string | null,
  ) {
    const { call_id, delegator } = this.around
    this.#asking.get(step.id)?.moot.abort()
    delegator.plans.note('plan.step_ended', { call_id, step: step.id, status, sub_agent_id, reason })
  }

  async #somethingHappens(): Promise<void> {
    const asked = [...this.#asking.values()].map(({ answered }) => answered)
    await this.around.delegator.plans.next(this.#creating ? [...asked, this.#creating] : asked)
  }

  /** Everything was stopped: what was at work is closed by whoever stopped it. */
  async #stop(): Promise<void> {
    const { delegator } = this.around
    await Promise.allSettled([this.#creating])
    const jobs = () => this.#running().flatMap((step) => this.#jobOf(step) ?? [])
    await delegator.plans.closed(jobs().map(({ id }) => id))
    for (const step of this.#running()) {
      const job = this.#jobOf(step)
      if (!job?.closed) this.#end(step, 'skipped', null, 'the run was stopped')
      else if (isDone(job.closed)) this.#end(step, 'completed', job.id, null)
      else this.#end(step, 'failed', job.id, whyFailed(job.closed))
    }
  }
}

/** A refusal says to a model what it can do instead; nobody here can. */
function forPeople(message: string): string {
  return message.replace(/[;,.]? (?:do the rest yourself|leave it out|wait for running|ask for more)\b.*$/is, '')
}

function whyFailed({ result, close_reason }: NonNullable<Job['closed']>): string {
  return `${result.outcome}: ${result.reason ?? close_reason}`
}
