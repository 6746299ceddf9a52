import {
  type AgentResult,
  affords,
  type Check,
  type Child,
  childId,
  type DelegationRequest,
  type EventData,
  isOpen,
  type Redactor,
  type Reservation,
} from '../domain/index.js'
import type { Delegator, Job, Spawned } from '../tools/index.js'
import { checkGate, gateOf, type RunGate } from './gates.js'
import { type ChildEnd, type ChildRun, checksOf, type Launcher, type PreparedChild } from './launcher.js'
import type { Recorder } from './recorder.js'
import { inTurn } from './turns.js'

/** What a parent lends to its delegation. */
type ParentSide = {
  recorder: Recorder
  launcher: Launcher
  /** How the command of a sub-agent's gate is run. */
  runGate: (child: Child, command: string, signal: AbortSignal) => ReturnType<RunGate>
  redactor: Redactor
  now: () => number
  /** Aborts when the call that waits is stopped. */
  signal: () => AbortSignal
  /** Waits without holding a slot. */
  rest: <T>(wait: () => Promise<T>) => Promise<T>
}

type Judged = { passed: boolean; result: AgentResult; close_reason: string }

/** For gates of a sub-agent that nobody can cancel any more. */
const NEVER = new AbortController().signal

/** `run` null: its creation is on its way to the disk. */
type OpenChild = { run: ChildRun | null; closed: Promise<void>; follow: (closing: Promise<void>) => void }

/**
 * The sub-agents of one agent: created, launched, joined and closed, each exactly once. All that is known about them is
 * in the parent's memory; here is only what is under way in this process. A tool, a program and a restart all come
 * through here.
 */
export class Delegation implements Delegator {
  readonly #open = new Map<string, OpenChild>()
  /** Sub-agents are created one after the other, in the order in which they were asked for. */
  readonly #creating = inTurn()
  /** And joined one after the other. */
  readonly #joining = inTurn()
  #stopped: { by: string; reason: string } | null = null

  constructor(private readonly side: ParentSide) {}

  get profiles() {
    return this.side.launcher.profiles
  }

  get #memory() {
    return this.side.recorder.memory
  }

  async spawn(call_id: string, index: number, request: DelegationRequest): Promise<Spawned> {
    const created = await this.#creating(() => this.#create(call_id, index, request))
    if (!created.ok) return created
    // It must be durable that there is a sub-agent before it does anything.
    await this.side.recorder.commit()
    const { child } = created
    if (this.#open.get(child.id)?.run === null) this.#launch(child, true)
    return { ok: true, id: child.id, adjustments: child.contract?.adjustments ?? [] }
  }

  async #create(
    call_id: string,
    index: number,
    request: DelegationRequest,
  ): Promise<{ ok: true; child: Child } | Extract<Spawned, { ok: false }>> {
    const known = this.#memory.children.find((child) => child.call_id === call_id && child.index === index)
    if (known) return { ok: true, child: known }
    const { children, children_before, agent_id, contract } = this.#memory
    const step_idx = children.length
    const id = childId(agent_id, contract.parent.depth, children_before + step_idx + 1)
    const prepared = await this.#prepare(request, { id, step_idx })
    if (!prepared.ok) return prepared
    if (this.#stopped || this.#memory.cancel) {
      return { ok: false, message: 'Not spawned: this agent is being stopped.' }
    }
    const { recorder } = this.side
    const { task, cache_key, reuse } = prepared
    const place = { sub_agent_id: id, step_idx, call_id, index }
    if (reuse && cache_key !== null) {
      const { title } = prepared.contract.step
      recorder.record('agent.subagent_reused', { ...place, title, cache_key, ...reuse })
    } else {
      recorder.keepBlob(prepared.prompt)
      recorder.record('agent.subagent_created', { ...place, contract: prepared.contract, task, cache_key })
    }
    const child = this.#child(id)
    if (isOpen(child)) this.#open.set(id, openChild())
    return { ok: true, child }
  }

  /** Once more where another sub-agent, closed in the meantime, had spent more than was set aside for it. */
  async #prepare(request: DelegationRequest, child: { id: string; step_idx: number }): Promise<PreparedChild> {
    for (;;) {
      const { ledger } = this.#memory
      const prepared = await this.side.launcher.prepare(this.#memory, request, child)
      if (!prepared.ok || prepared.reuse || ledger === this.#memory.ledger) return prepared
      if (affords(this.#memory.ledger, prepared.contract)) return prepared
    }
  }

  jobs(): readonly Job[] {
    return this.#memory.children.map(jobOf)
  }

  async earlier(ids: readonly string[]): Promise<Job[]> {
    return (await this.side.launcher.earlier(this.#memory, ids)).map(jobOf)
  }

  async wait(ids: readonly string[]): Promise<Job[]> {
    const open = ids.flatMap((id) => this.#open.get(id) ?? [])
    if (open.length > 0) await this.#closing(open, this.side.signal())
    return ids.map((id) => jobOf(this.#child(id)))
  }

  /** Takes up what an earlier process left open. Where nothing was, nothing happens. */
  recover(): void {
    for (const child of this.#memory.children.filter(isOpen)) {
      this.#open.set(child.id, openChild())
      this.#launch(child, false)
    }
  }

  /** Waits until every sub-agent is closed, or the signal. */
  async join(): Promise<void> {
    await this.#closing([...this.#open.values()], this.side.signal())
  }

  /** Cancels every sub-agent that is open. None is created after that, and one that is taken up is cancelled too. */
  halt(by: string, reason: string): void {
    this.#stopped = { by, reason }
    for (const { run } of this.#open.values()) run?.cancel(by, reason)
  }

  /** The same, and waits until they are closed. */
  async stop(by: string, reason: string): Promise<void> {
    this.halt(by, reason)
    await this.side.rest(() => Promise.all([...this.#open.values()].map(({ closed }) => closed)))
  }

  /** A new attempt may delegate again. */
  restart(): void {
    this.#stopped = null
  }

  abandon(why: string): void {
    this.#stopped = { by: 'runtime', reason: why }
    for (const { run } of this.#open.values()) run?.abandon(why)
  }

  async #closing(open: OpenChild[], signal: AbortSignal): Promise<void> {
    const all = Promise.all(open.map(({ closed }) => closed)).then(() => {})
    await this.side.rest(() => unlessAborted(all, signal))
  }

  #launch(child: Child, fresh: boolean): void {
    const open = this.#open.get(child.id) as OpenChild
    const run = this.side.launcher.launch(this.#memory, child, fresh)
    open.run = run
    open.follow(run.ended.then((end) => this.#joining(() => this.#close(child.id, end))))
    if (this.#stopped) run.cancel(this.#stopped.by, this.#stopped.reason)
  }

  /** The one place where a sub-agent is closed. */
  async #close(id: string, end: ChildEnd): Promise<void> {
    const { recorder, launcher } = this.side
    const { step_idx, failed } = this.#child(id)
    if (!end.started && !failed) {
      recorder.record('agent.subagent_failed', { sub_agent_id: id, step_idx, result: end.result })
    }
    const run = this.#open.get(id)?.run ?? null
    const judged = recorder.cleaned(await this.#judge(this.#child(id), end.result, run))
    const { fault } = await launcher.file(this.#memory, this.#child(id), judged.result)
    recorder.record('agent.subagent_closed', {
      sub_agent_id: id,
      step_idx,
      final_status: judged.passed ? 'completed' : 'failed',
      close_reason: fault === null ? judged.close_reason : `${judged.close_reason} (${fault})`,
      result: judged.result,
      used: usedBy(end.used),
    })
    run?.forget()
    this.#open.delete(id)
    recorder.commitSoon()
  }

  /** What the sub-agent's own end and its gates come to. Gates that a dead process had checked are not checked again. */
  async #judge(child: Child, result: AgentResult, run: ChildRun | null): Promise<Judged> {
    const { outcome, reason, text } = result
    if (outcome !== 'completed' && outcome !== 'budget_exceeded') return failed(result, reason ?? outcome)
    const checks = checksOf(child)
    for (const [number, check] of checks.entries()) {
      const known = child.gates.find(({ gate }) => gate === number)
      const checked = known ?? (await this.#check(child, number, check, text, run?.stopped ?? NEVER))
      if (!checked) return this.#stoppedWhileChecked(result, run)
      if (checked.passed) continue
      const close_reason = `the check failed: ${checked.what}: ${checked.detail}`
      return failed({ ...result, outcome: 'gate_failed', cause: 'gate', reason: close_reason }, close_reason)
    }
    const proven = checks.length > 0 ? `; ${checks.length} of ${checks.length} checks passed` : ''
    // An answer that says nothing, and that nothing else speaks for, is none.
    if (text.trim() === '' && checks.length === 0) {
      const close_reason = reason ?? 'it answered without a word'
      if (outcome === 'budget_exceeded') return failed(result, close_reason)
      return failed({ ...result, outcome: 'error', cause: 'no_answer', reason: close_reason }, close_reason)
    }
    return { passed: true, result, close_reason: `${reason ?? 'it gave its answer'}${proven}` }
  }

  #stoppedWhileChecked(result: AgentResult, run: ChildRun | null): Judged {
    const by = run?.cancelled() ?? this.#stopped ?? { by: 'parent', reason: 'its parent was stopped' }
    const close_reason = `cancelled by ${by.by} while it was checked: ${by.reason}`
    return failed({ ...result, outcome: 'cancelled', cause: by.by, reason: close_reason }, close_reason)
  }

  /** null: it was stopped. */
  async #check(
    { id, step_idx }: Child,
    number: number,
    check: Check,
    text: string,
    stopped: AbortSignal,
  ): Promise<EventData<'agent.gate_checked'> | null> {
    const { recorder, runGate, redactor, now } = this.side
    const gate = { sub_agent_id: id, step_idx, ...gateOf(check, number) }
    recorder.record('agent.gate_started', gate)
    await recorder.commit()
    const started = now()
    const run = (command: string) => runGate(this.#child(id), command, stopped)
    const checked = await checkGate(check, text, run, redactor)
    if (checked === 'stopped') return null
    const { passed, detail, whole } = checked
    const output = whole === null ? null : recorder.keep(whole)
    recorder.record('agent.gate_checked', { ...gate, passed, detail, output, duration_ms: now() - started })
    return this.#child(id).gates.at(-1) ?? null
  }

  #child(id: string): Child {
    const child = this.#memory.children.find((one) => one.id === id)
    if (!child) throw new Error(`${id} is no sub-agent of ${this.#memory.agent_id}`)
    return child
  }
}

function openChild(): OpenChild {
  let follow: OpenChild['follow'] = () => {}
  const closed = new Promise<void>((resolve) => {
    follow = resolve
  })
  // A sub-agent that this process lets go of stays open; whoever waits for it is stopped by its own signal.
  closed.catch(() => {})
  return { run: null, closed, follow }
}

function jobOf({ id, call_id, index, title, delivered, contract, closed, reused_from }: Child): Job {
  return { id, call_id, index, title, delivered, adjustments: contract?.adjustments ?? [], closed, reused_from }
}

/** What is known of its cost; whether that is all, the result says. */
function usedBy({ total_tokens, cost_usd, sub_agents }: Reservation): EventData<'agent.subagent_closed'>['used'] {
  return { total_tokens: total_tokens ?? 0, cost_usd: cost_usd ?? 0, sub_agents }
}

function failed(result: AgentResult, close_reason: string): Judged {
  return { passed: false, result, close_reason }
}

function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const stop = () => resolve()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
