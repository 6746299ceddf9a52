import {
  type AgentMemory,
  type Check,
  type Child,
  claimOf,
  type EventData,
  type EventType,
  isOpen,
  mayOverlap,
  type PlanState,
  type Redactor,
  type StepState,
  stepOf,
  stepsBefore,
} from '../domain/index.js'
import type { Approval, Bounds, CarryOut, PlanKeeper, Proposal } from '../tools/index.js'
import type { Files } from '../workspaces/index.js'
import type { AgentFiles } from './agent-files.js'
import { checkGate, gateOf, type RunGate } from './gates.js'
import type { Recorder } from './recorder.js'
import { unlessAborted } from './unless-aborted.js'

/** What an agent lends to whoever carries out its plans. */
export type PlanSide = {
  recorder: Recorder
  files: AgentFiles
  redactor: Redactor
  now: () => number
  signal: () => AbortSignal
  /** Waits without holding a slot. */
  rest: <T>(wait: () => Promise<T>) => Promise<T>
  /** How a command is run that looks at the whole, and whether it would be. */
  runWhole: (files: Files, command: string, bounds: Bounds) => ReturnType<RunGate>
  refusal: (command: string, bounds: Bounds) => Promise<string | null>
  approve: (proposal: Proposal, moot?: AbortSignal) => Promise<Approval | null>
  /** Agents at work at once, where the contract does not say. */
  limit: number
  carryOut: CarryOut
}

/** The plans of one agent: how far they have come, and whose turn it is to write and to be integrated. */
export class Plans implements PlanKeeper {
  #changed = newChange()

  constructor(
    private readonly side: PlanSide,
    private readonly allClosed: (ids: readonly string[]) => Promise<void>,
  ) {}

  get memory(): AgentMemory {
    return this.side.recorder.memory
  }

  get limit() {
    return this.memory.contract.execution.max_concurrent ?? this.side.limit
  }

  get carryOut() {
    return this.side.carryOut
  }

  state(call_id: string): PlanState | null {
    return this.memory.plans.find((plan) => plan.call_id === call_id) ?? null
  }

  note<T extends Extract<EventType, `plan.${string}`>>(type: T, data: EventData<T>): void {
    this.side.recorder.record(type, data)
    this.side.recorder.commitSoon()
    this.changed()
  }

  commit(): Promise<void> {
    return this.side.recorder.commit()
  }

  /** Whoever waits for a turn looks again. */
  changed(): void {
    const { tell } = this.#changed
    this.#changed = newChange()
    tell()
  }

  next(also: readonly Promise<unknown>[]): Promise<void> {
    const one = Promise.race([this.#changed.happened, ...also.map((settled) => settled.then(ignore, ignore))])
    return this.side.rest(() => unlessAborted(one, this.side.signal())).then(ignore)
  }

  closed(ids: readonly string[]): Promise<void> {
    return this.side.rest(() => this.allClosed(ids))
  }

  refusal(command: string, bounds: Bounds): Promise<string | null> {
    return this.side.refusal(command, bounds)
  }

  approve(proposal: Proposal, moot?: AbortSignal): Promise<Approval | null> {
    return this.side.approve(proposal, moot)
  }

  /**
   * Checks only look, so one that a dead process had begun is made again. What each leaves behind is put back, so that
   * the next one sees what will land, and nothing of it lands.
   */
  async check(call_id: string, round: number, checks: readonly Check[], bounds: Bounds): Promise<void> {
    const known = (number: number) =>
      this.state(call_id)?.checks.some((one) => one.round === round && one.check === number)
    const open = [...checks.entries()].filter(([number]) => !known(number))
    if (open.length === 0) return
    await this.side.files.alone(async () => {
      const shares = this.memory.children.some(({ contract }) => contract?.workspace.isolation === 'shared')
      // Whoever has let go of the run touches nothing any more.
      await this.side.recorder.commit()
      const taken = shares ? null : await this.side.files.committed()
      for (const [number, check] of open) {
        const goes_on = await this.#check({ call_id, round, number, check }, taken, bounds)
        if (!goes_on || this.side.signal().aborted) break
      }
    })
  }

  /** What a check of a dead process left is gone, before anything else happens in the tree. */
  async putBack(): Promise<void> {
    const { files, recorder } = this.side
    const commit = this.memory.plans.find(({ checking }) => checking !== null)?.checking ?? null
    // Where its tree is gone, or what is in it is landing, there is nothing to put back.
    if (commit === null || files.tree === null) return
    await files.alone(async () => {
      await recorder.commit()
      await files.putBack(commit)
    })
  }

  async #check(
    { call_id, round, number, check }: { call_id: string; round: number; number: number; check: Check },
    taken: Awaited<ReturnType<AgentFiles['committed']>> | null,
    bounds: Bounds,
  ): Promise<boolean> {
    const { recorder, files, redactor, now, runWhole } = this.side
    const { gate, kind, what } = gateOf(check, number)
    const named = { call_id, round, check: gate, kind, what }
    const commit = taken?.ok ? taken.commit : null
    this.note('plan.check_started', { ...named, commit })
    await recorder.commit()
    const started = now()
    const changed = this.memory.files_changed
    const output = { text: '', changed, workspace: files.now.workspace }
    const run = (command: string) => runWhole(files.now, command, bounds)
    const found = taken?.ok === false ? noPlace(taken.message) : await checkGate(check, output, run, redactor)
    // Before it is known what it found: a restart puts back what a check left that is not over.
    await recorder.commit()
    if (commit !== null && !(await files.putBack(commit))) return false
    // Nobody knows what it would have found.
    if (found === 'stopped') return false
    const { passed, detail, whole } = found
    const kept = whole === null ? null : recorder.keep(whole)
    this.note('plan.checked', { ...named, passed, detail, output: kept, duration_ms: now() - started })
    return true
  }

  /**
   * Where a sub-agent stands in the order in which work is integrated. Those of one plan stand where its first one does,
   * in the order of their steps: what is between them was asked for by somebody else, and none waits for the other.
   */
  precedes(one: Child, other: Child): boolean {
    if (this.memory.plans.length === 0) return one.step_idx < other.step_idx
    const [a, b] = [this.#place(one), this.#place(other)]
    return (a.at - b.at || a.position - b.position || one.step_idx - other.step_idx) < 0
  }

  #place(child: Child): { at: number; position: number } {
    const found = stepOf(this.memory.plans, child)
    if (!found) return { at: child.step_idx, position: 0 }
    return { at: this.#firstOf(found.plan), position: found.step.position }
  }

  #firstOf({ call_id }: PlanState): number {
    return this.memory.children.find((child) => child.call_id === call_id)?.step_idx ?? this.memory.children.length
  }

  /** Waits until all that is integrated before the work of a step is over. Nothing to wait for where it is of no plan. */
  async turnToJoin(child: Child, signal: AbortSignal): Promise<void> {
    await this.#until(() => !this.hasStepsBefore(child), signal)
  }

  /** Steps that may write the same as a sub-agent and write before it. */
  #ahead(child: Child, owns: readonly string[]): { plan: PlanState; step: StepState }[] {
    const { plans } = this.memory
    const own = stepOf(plans, child)
    const steps = own
      ? stepsBefore(own.plan, own.step).map((step) => ({ plan: own.plan, step }))
      : plans
          .filter((plan) => plan.ended === null && this.#firstOf(plan) < child.step_idx)
          .flatMap((plan) => plan.steps.filter(({ ended }) => ended === null).map((step) => ({ plan, step })))
    return steps.filter(({ step }) => mayOverlap(claimOf(step), owns))
  }

  /** Whom a sub-agent waits for before it may write: those who do such steps, or the steps that nobody does yet. */
  ahead(child: Child, owns: readonly string[]): string[] {
    return this.#ahead(child, owns).map(({ plan: { call_id }, step: { attempts, id } }) => {
      const index = attempts.at(-1)?.index
      const doing = this.memory.children.find((one) => one.call_id === call_id && one.index === index)
      return doing && isOpen(doing) ? doing.id : `step ${id}`
    })
  }

  /** Whether a sub-agent does a step of one of the plans. */
  isStep(child: Child): boolean {
    return stepOf(this.memory.plans, child) !== null
  }

  hasStepsBefore(child: Child): boolean {
    const found = stepOf(this.memory.plans, child)
    return found !== null && stepsBefore(found.plan, found.step).length > 0
  }

  async turnToWrite(child: Child, owns: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#ahead(child, owns).length === 0, signal)
  }

  async #until(isTrue: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isTrue() && !signal.aborted) await unlessAborted(this.#changed.happened, signal)
  }
}

function newChange(): { happened: Promise<void>; tell: () => void } {
  let tell = () => {}
  const happened = new Promise<void>((resolve) => {
    tell = resolve
  })
  return { happened, tell }
}

function noPlace(message: string) {
  return { passed: false, detail: `not run: there is no tree to run it in: ${message}`, whole: null }
}

function ignore(): void {}
