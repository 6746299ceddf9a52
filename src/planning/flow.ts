import { isDeepStrictEqual as isDeepEqual } from 'node:util'
import { z } from 'zod'
import {
  type Contract,
  type OnFailure,
  type Plan,
  type PlanState,
  planSchema,
  type StepSpec,
  type StepState,
} from '../domain/index.js'
import type { Delegator } from '../tools/index.js'
import { type AgentFacts, faultsInWords, type PlanFault, planFaults, whyUnwritable } from './faults.js'
import { type Agents, MOST_TRIES, planningStep, replanningStep, researchSteps } from './making.js'
import { planFrom, readPlan, writePlan } from './plan-file.js'
import type { PlanPreview } from './preview.js'
import { failedChecks, repairSteps, reviewStep, verdictIn, wantsReview } from './reviewing.js'
import { StepRunner } from './step-runner.js'
import { restOf, type StepsIn, stepsOf } from './steps.js'

/** What a plan run is to do, as it stands in its log. */
export const planOrderSchema = z.strictObject({
  goal: z.string().min(1),
  /** null: it is to be made. */
  plan: planSchema.nullable(),
  research: z.array(z.string()),
  context: z.string(),
  /** Whether it is carried out, or only made. */
  execute: z.boolean(),
  /** Who says yes: a person to all of it, to steps that ask for it alone, or somebody has to everything. */
  approve: z.enum(['ask', 'steps', 'yes']),
  by: z.enum(['person', 'program']),
  /** Of steps whose agents name none. */
  model: z.string(),
  /** Nobody writes anything. */
  read_only: z.boolean(),
  /** At the end: it is looked for there. */
  max_concurrent: z.int().min(1),
})
export type PlanOrder = z.infer<typeof planOrderSchema>

/** Who and what there is around a plan run. */
export type PlanPlace = {
  agent: (name: string) => (AgentFacts & { names_model: boolean }) | null
  agents: Agents
  /** Whether sub-agents may ask whom their parent may. */
  ask_person: boolean
  preview: (plan: Plan, steps: readonly StepSpec[], run: { limit: number; contract: Contract }) => Promise<PlanPreview>
  /** Keeps the plan where a person finds it. `fresh`: it takes the place of what is there. Says why it cannot. */
  save: (text: string, fresh: boolean) => Promise<string | null>
}

type Call = { call_id: string; delegator: Delegator; signal: AbortSignal }

/** Leaves the flow from wherever it is: the plan has come to its end. */
class Ended extends Error {}

/**
 * From a goal, or a plan, to its end. Each part looks at what the log says first and does only what is left to do, so
 * that a restart goes through all of it again and pays for nothing twice.
 */
export class PlanFlow {
  readonly #steps: StepRunner
  readonly #writes: StepsIn
  #unsaved: string | null = null

  constructor(
    private readonly order: PlanOrder,
    private readonly place: PlanPlace,
    private readonly call: Call,
  ) {
    this.#writes = { agent: place.agent, read_only: order.read_only }
    const context = `This is one step of a plan. The goal of the whole: ${order.goal}`
    this.#steps = new StepRunner({
      ...{ ...call, context, approved: order.approve === 'yes' },
      ...(order.read_only ? { mode: 'plan' } : {}),
      model: (agent) => (agent !== null && place.agent(agent)?.names_model ? null : order.model),
    })
  }

  async run(): Promise<PlanState> {
    try {
      if (this.#state?.ended) return this.#known
      await this.#make()
      if (!this.order.execute) this.#end('made', this.#unsaved)
      await this.#adopt()
      await this.#work()
      await this.#prove()
    } catch (error) {
      if (!(error instanceof Ended)) throw error
    }
    return this.#known
  }

  get #state(): PlanState | null {
    return this.#plans.state(this.call.call_id)
  }

  get #known(): PlanState {
    return this.#state as PlanState
  }

  get #plans() {
    return this.call.delegator.plans
  }

  get #call_id() {
    return this.call.call_id
  }

  /** Until there is a plan without faults. */
  async #make(): Promise<void> {
    const { goal, plan, research } = this.order
    if (this.#state?.plan) return this.#save(false)
    if (plan) {
      const faults = await this.#faults(plan)
      if (faults.length > 0) return this.#end('failed', `the plan cannot be carried out: ${faultsInWords(faults)}`)
      return this.#propose(plan, this.order.by, null)
    }
    if (research.length > 0) {
      if (!this.#state) this.#add(researchSteps(goal, research))
      await this.#run('continue')
    }
    const wanted = await this.#wanted(goal)
    const made = await this.#ask((attempt, faults) => planningStep(wanted, this.#state, { attempt, faults }))
    await this.#propose(made, 'planner', null)
  }

  async #wanted(goal: string) {
    const commands = (await this.#plans.refusal('node --test', this.order)) === null
    return { goal, context: this.order.context, agents: this.place.agents, commands, unwritable: this.#unwritable }
  }

  /** Asks the planner, again with the faults of what it answered, at most so often. */
  async #ask(
    step: (attempt: number, faults: readonly PlanFault[]) => StepSpec,
    taken: (plan: Plan) => Plan | { fault: string } = (plan) => plan,
  ): Promise<Plan> {
    let faults: readonly PlanFault[] = []
    for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
      const spec = step(attempt, faults)
      const tried = await this.#one(spec)
      if (tried.ended?.status !== 'completed') this.#end('failed', `the planner failed: ${tried.ended?.reason}`)
      this.#unlessCut(tried, 'the planner did not get to the end of its plan')
      const read = readPlan(this.#textOf(tried.ended.sub_agent_id))
      const plan = read.ok ? taken(read.plan) : null
      if (plan && 'fault' in plan) faults = [{ path: 'steps', message: plan.fault }]
      else faults = plan ? await this.#faults(plan) : read.ok ? [] : read.faults
      if (plan && !('fault' in plan) && faults.length === 0) return plan
    }
    return this.#end('failed', `no plan without faults after ${MOST_TRIES} tries: ${faultsInWords(faults)}`)
  }

  async #propose(plan: Plan, by: 'person' | 'planner' | 'program', reason: string | null): Promise<void> {
    this.#plans.note('plan.proposed', { call_id: this.#call_id, plan, by, reason })
    await this.#plans.commit()
    await this.#save(true)
  }

  async #save(fresh: boolean): Promise<void> {
    const { plan } = this.#known as PlanState & { plan: Plan }
    const fault = await this.place.save(writePlan(plan), fresh)
    // The log has it all the same.
    this.#unsaved = fault === null ? null : `its file could not be written: ${fault}`
  }

  /** A person has said yes to it, in one way or the other, and its steps are those that are carried out. */
  async #adopt(reason: string | null = null): Promise<void> {
    if (this.#known.revision > 0 && reason === null) return
    if (this.order.approve === 'ask') await this.#approve()
    const { plan, revision } = this.#known as PlanState & { plan: Plan }
    const steps = stepsOf(plan, this.#known, this.#writes)
    const by = this.#known.by ?? 'person'
    this.#plans.note('plan.adopted', { call_id: this.#call_id, revision: revision + 1, plan, by, reason, steps })
  }

  /** Asks until the person says yes to a plan without faults, or leaves it. */
  async #approve(): Promise<void> {
    let faults: PlanFault[] = []
    while (this.#known.approval !== 'approved') {
      const { plan } = this.#known as PlanState & { plan: Plan }
      const wrong = faults.length === 0 ? {} : { faults: faults.map(({ path, message }) => ({ path, message })) }
      this.#plans.note('plan.approval_asked', { call_id: this.#call_id, step: null, ...wrong })
      await this.#plans.commit()
      const { limit, memory } = this.#plans
      const preview = await this.place.preview(plan, stepsOf(plan, this.#known, this.#writes), {
        limit,
        contract: memory.contract,
      })
      const answer = await this.#plans.approve({ call_id: this.#call_id, plan, step: null, preview, faults })
      this.#unlessStopped()
      if (answer?.answer !== 'approve') {
        if (answer) this.#answered('declined', answer.by, answer.note)
        const note = answer?.note ? `: ${answer.note}` : ''
        this.#end('left', answer ? `it was not approved${note}` : 'nobody was there to approve it')
      }
      const { by, note } = answer
      faults = answer.plan === undefined ? [] : await this.#edited(answer.plan)
      if (faults.length === 0) this.#answered('approved', by, note)
    }
  }

  #answered(answer: 'approved' | 'declined', by = 'person', note: string | null = null): void {
    this.#plans.note('plan.approval_answered', { call_id: this.#call_id, step: null, answer, by, note })
  }

  /** What is wrong with what the person made of it; without a fault it is what is proposed now. */
  async #edited(given: unknown): Promise<PlanFault[]> {
    const read = planFrom(given)
    const faults = read.ok ? await this.#faults(read.plan) : read.faults
    if (read.ok && faults.length === 0) await this.#propose(read.plan, 'person', 'edited before it was approved')
    return faults
  }

  /** The steps of the plan, and where one fails and that is wanted, those of another rest of it. */
  async #work(): Promise<void> {
    for (;;) {
      const { plan, revision } = this.#known as PlanState & { plan: Plan }
      const replans = plan.on_failure === 'replan' && revision <= plan.replans
      const on_failure = plan.on_failure === 'replan' && !replans ? 'stop' : plan.on_failure
      await this.#run(on_failure)
      const failed = this.#unfinished()
      if (failed === null) return
      if (!replans) this.#end('failed', failed)
      await this.#replan(plan, failed)
    }
  }

  async #replan(plan: Plan, why: string): Promise<void> {
    const wanted = await this.#wanted(plan.goal)
    const changed = await this.#ask(
      (attempt, faults) => replanningStep(wanted, this.#known, { attempt, faults }),
      (given) => restOf(plan, given, this.#known),
    )
    if (!isDeepEqual(this.#known.plan, changed)) await this.#propose(changed, 'planner', why)
    await this.#adopt(why)
  }

  /** Why not all of the plan's steps are completed; null: they are. Those that a revision took out do not count. */
  #unfinished(): string | null {
    const unfinished = (status: string) =>
      this.#known.steps.find((step) => this.#isCurrent(step) && step.ended?.status === status)
    const first = unfinished('failed') ?? unfinished('skipped')
    if (!first) return null
    return `step ${first.id} ${first.ended?.status === 'failed' ? 'failed' : 'was skipped'}: ${first.ended?.reason}`
  }

  /** Whether it is a step of the plan as it stands now. */
  #isCurrent({ stage, revision }: StepState): boolean {
    return stage === 'work' && revision === this.#known.revision
  }

  /** What was done is held against what it was for, and mended, as often as the plan lets. */
  async #prove(): Promise<void> {
    const { plan } = this.#known as PlanState & { plan: Plan }
    for (let round = 0; ; round++) {
      await this.#plans.check(this.#call_id, round, plan.checks, this.order)
      this.#unlessStopped()
      const failed = failedChecks(this.#known, round)
      const findings = [...failed, ...(wantsReview(plan) ? await this.#review(plan, round) : [])]
      if (findings.length === 0) this.#complete(plan)
      if (round >= plan.repair_rounds) this.#decide(plan, failed.length > 0, findings)
      const known = this.#known.steps.some(({ id }) => id.startsWith(`repair-${round + 1}.`))
      if (!known) this.#add(repairSteps(findings, this.#known, round))
      // Whether it helped is for the next round to say.
      await this.#run('continue')
    }
  }

  /** One whose budget ended has not done all of it: something else has to prove that it is enough. */
  #complete(plan: Plan): never {
    const cut = this.#known.steps.find((step) => this.#isCurrent(step) && this.#isCut(step))
    const proven = plan.checks.length > 0 || wantsReview(plan)
    if (cut && !proven)
      this.#end('failed', `step ${cut.id} did not get to its end, and nothing proves that it is enough`)
    return this.#end('completed', null)
  }

  /** Whether its budget ended before it was done. */
  #isCut({ ended }: Pick<StepState, 'ended'>): boolean {
    const job = this.call.delegator.jobs().find(({ id }) => id === ended?.sub_agent_id)
    return job?.closed?.result.outcome === 'budget_exceeded'
  }

  #unlessCut(step: Pick<StepState, 'ended'>, what: string): void {
    const job = this.call.delegator.jobs().find(({ id }) => id === step.ended?.sub_agent_id)
    if (this.#isCut(step)) this.#end('failed', `${what}: ${job?.closed?.result.reason}`)
  }

  /** Nothing more is mended: checks decide, and where there are none, what the reviewer says. */
  #decide(plan: Plan, fails: boolean, findings: readonly { title: string }[]): never {
    const titles = findings.map(({ title }) => title).join('; ')
    if (plan.checks.length > 0 && !fails) this.#end('completed', `the checks pass; the review still finds: ${titles}`)
    return this.#end('failed', fails ? titles : `the review still finds: ${titles}`)
  }

  async #review(plan: Plan, round: number) {
    const { id, ended } = await this.#one(reviewStep(plan, this.#known, round))
    const verdict = verdictIn(this.#textOf(ended?.sub_agent_id))
    this.#unlessCut({ ended }, 'the review was not finished')
    if (ended?.status !== 'completed' || !verdict) {
      return this.#end('failed', `the review failed: ${ended?.reason ?? 'its answer is no verdict'}`)
    }
    const known = this.#known.reviews.some((review) => review.round === round)
    if (!known) this.#plans.note('plan.reviewed', { call_id: this.#call_id, step: id, round, ...verdict })
    return verdict.findings
  }

  #add(steps: StepSpec[]): void {
    this.#plans.note('plan.steps_added', { call_id: this.#call_id, steps })
  }

  /** One step of our own, to its end. */
  async #one(spec: StepSpec): Promise<StepState> {
    const known = () => this.#state?.steps.find(({ id }) => id === spec.id)
    if (!known()) this.#add([spec])
    await this.#run('continue')
    return known() as StepState
  }

  async #run(on_failure: OnFailure): Promise<void> {
    await this.#steps.run(on_failure)
    this.#unlessStopped()
  }

  #unlessStopped(): void {
    const { no_tree } = this.#plans.memory
    if (no_tree !== null) this.#end('failed', no_tree)
    if (!this.call.signal.aborted) return
    const { cancel } = this.#plans.memory
    this.#end('failed', cancel ? `cancelled by ${cancel.by}: ${cancel.reason}` : 'the run was stopped')
  }

  /** One that is only made may be carried out where more is possible. */
  get #unwritable(): string | null {
    const { execute, read_only } = this.order
    const { permissions } = this.#plans.memory.contract
    return execute ? whyUnwritable(permissions, { read_only, ask_person: this.place.ask_person }) : null
  }

  #faults(plan: Plan): Promise<PlanFault[]> {
    const { agent, agents } = this.place
    const { contract, ledger } = this.#plans.memory
    return planFaults(plan, {
      agent,
      agents: agents.map(({ name }) => name),
      budget: contract.execution.budget,
      used_agents: ledger.spent.sub_agents,
      unwritable: this.#unwritable,
      refusal: (command) => this.#plans.refusal(command, this.order),
    })
  }

  #textOf(sub_agent_id: string | null | undefined): string {
    const job = this.call.delegator.jobs().find(({ id }) => id === sub_agent_id)
    return job?.closed?.result.text ?? ''
  }

  #end(status: 'completed' | 'failed' | 'made' | 'left', reason: string | null): never {
    const call_id = this.#call_id
    for (const { id } of this.#state?.steps.filter(({ ended }) => ended === null) ?? []) {
      const why = reason ?? 'the plan ended'
      this.#plans.note('plan.step_ended', { call_id, step: id, status: 'skipped', sub_agent_id: null, reason: why })
    }
    this.#plans.note('plan.ended', { call_id, status, reason })
    throw new Ended()
  }
}
