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
import type { Approval, CarryOut, PlanKeeper, Proposal } from '../tools/index.js'
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
  runWhole: (files: Files, command: string) => ReturnType<RunGate>
  refusal: (command: string) => Promise<string | null>
  approve: (proposal: Proposal) => Promise<Approval | null>
  /** Agents at work at once, where the contract does not say. */
  limit: number
  carryOut: CarryOut
}

/** Sub-agents as far as plans have to do with them. */
type Followed = {
  /** Settles when it has done its work; null: it is closed. */
  worked: (id: string) => Promise<unknown> | null
  closed: (ids: readonly string[]) => Promise<void>
}

/** The plans of one agent: how far they have come, and whose turn it is to write and to be integrated. */
export class Plans implements PlanKeeper {
  #changed = newChange()

  constructor(
    private readonly side: PlanSide,
    private readonly followed: Followed,
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

  next(ids: readonly string[]): Promise<void> {
    const all = ids.flatMap((id) => this.followed.worked(id) ?? [])
    const { happened } = this.#changed
    const one = Promise.race([happened, ...all.map((worked) => worked.then(ignore, ignore))])
    return this.side.rest(() => unlessAborted(one, this.side.signal())).then(ignore)
  }

  closed(ids: readonly string[]): Promise<void> {
    return this.side.rest(() => this.followed.closed(ids))
  }

  refusal(command: string): Promise<string | null> {
    return this.side.refusal(command)
  }

  approve(proposal: Proposal): Promise<Approval | null> {
    return this.side.approve(proposal)
  }

  /** Checks only look, so one that a dead process had begun is made again. What they leave behind is put back. */
  async check(call_id: string, round: number, checks: readonly Check[]): Promise<void> {
    const known = (number: number) =>
      this.state(call_id)?.checks.some((one) => one.round === round && one.check === number)
    const open = [...checks.entries()].filter(([number]) => !known(number))
    if (open.length === 0) return
    await this.side.files.alone(async () => {
      const shares = this.memory.children.some(({ contract }) => contract?.workspace.isolation === 'shared')
      const taken = shares ? null : await this.side.files.committed()
      for (const [number, check] of open) {
        const fault = taken?.ok === false ? taken.message : null
        await this.#check({ call_id, round, number, check }, fault)
        if (this.side.signal().aborted) break
      }
      if (taken?.ok) await this.side.files.bringTo(taken.commit)
    })
  }

  async #check(
    { call_id, round, number, check }: { call_id: string; round: number; number: number; check: Check },
    fault: string | null,
  ): Promise<void> {
    const { recorder, files, redactor, now, runWhole } = this.side
    const { gate, kind, what } = gateOf(check, number)
    const named = { call_id, round, check: gate, kind, what }
    this.note('plan.check_started', named)
    await recorder.commit()
    const started = now()
    const changed = this.memory.files_changed
    const output = { text: '', changed, workspace: files.now.workspace }
    const run = (command: string) => runWhole(files.now, command)
    const found = fault === null ? await checkGate(check, output, run, redactor) : noPlace(fault)
    // Nobody knows what it would have found.
    if (found === 'stopped') return
    const { passed, detail, whole } = found
    const kept = whole === null ? null : recorder.keep(whole)
    this.note('plan.checked', { ...named, passed, detail, output: kept, duration_ms: now() - started })
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
    const isNext = () => {
      const found = stepOf(this.memory.plans, child)
      return !found || stepsBefore(found.plan, found.step).length === 0
    }
    await this.#until(isNext, signal)
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
