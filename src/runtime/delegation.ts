import {
  affords,
  type Child,
  childId,
  type DelegationRequest,
  type EventData,
  endState,
  isOpen,
  mayOverlap,
  type Reservation,
  union,
} from '../domain/index.js'
import type { TreeResult } from '../host/index.js'
import type { Delegator, Job, Spawned } from '../tools/index.js'
import { Joining, type JoiningSide, type Repaired, type Taken } from './joining.js'
import type { ChildEnd, ChildRun, Launcher, PreparedChild, Resting, Stage } from './launcher.js'
import { type PlanSide, Plans } from './plan-keeper.js'
import { AbandonedError } from './recorder.js'
import { type Conflict, repairRequest } from './repair.js'
import { inTurn } from './turns.js'
import { unlessAborted } from './unless-aborted.js'

/** So long nothing happens before a run that is paused is let go of. */
const IDLE_MS = 50

/** For whoever waits until this process lets go. */
const NEVER = new Promise<never>(() => {})

/** What a parent lends to its delegation. */
type ParentSide = JoiningSide &
  PlanSide & {
    launcher: Launcher
    /** Lets go of the agent. */
    leave: (why: string) => void
  }

/** `run` null: its creation is on its way to the disk. */
type OpenChild = {
  run: ChildRun | null
  /** Its own work is over, and its parent sees to the rest. */
  ended: boolean
  closed: Promise<void>
  follow: (closing: Promise<void>) => void
  /**
   * Whether it waits for others: until it may write or its work may be joined, for the one that resolves its conflict, or
   * behind one that is being joined.
   */
  waits: 'its turn' | 'its repair' | 'in line' | null
}

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
  readonly #inTurn = inTurn()
  readonly #joining: Joining
  readonly plans: Plans
  /** Why no more sub-agents begin. null: they do. */
  #paused: string | null = null
  /** Whether what an earlier process left open is taken up: before that nobody knows who is at work. */
  #recovered = false
  /** Sub-agents that are being made just now, and those that are being let write. */
  #making = 0
  #admitting = 0
  /** How often it is being looked just now whether a run that is paused can be let go of. */
  #leaving = 0
  #stopped: { by: string; reason: string } | null = null
  /** Why this process lets go of the agent, and so of those below it. */
  #abandoned: string | null = null

  constructor(private readonly side: ParentSide) {
    this.#joining = new Joining(side, {
      stopper: () => this.#stopped,
      repair: (child, conflict) => this.#repair(child, conflict),
    })
    this.plans = new Plans(side, (ids) => this.#allClosed(ids))
  }

  get profiles() {
    return this.side.launcher.profiles
  }

  get #memory() {
    return this.side.recorder.memory
  }

  spawn(call_id: string, index: number, request: DelegationRequest): Promise<Spawned> {
    return this.#spawn(call_id, index, request, null)
  }

  async #spawn(
    call_id: string,
    index: number,
    request: DelegationRequest,
    repairs: Child['repairs'],
  ): Promise<Spawned> {
    // One that resolves a conflict belongs to what is at work.
    if (this.#paused !== null && repairs === null) await unlessAborted(NEVER, this.side.signal())
    this.#making += 1
    try {
      const created = await this.#creating(() => this.#create(call_id, index, request, repairs))
      if (!created.ok) return created
      // It must be durable that there is a sub-agent before it does anything.
      await this.side.recorder.commit()
      const { child } = created
      if (this.#open.get(child.id)?.run === null) {
        // This parent may go on elsewhere, where nobody has the conflict. Why it may not write it hears when it asks.
        if (repairs !== null) await this.#admit(child.id, this.side.signal(), () => {}, undefined)
        this.#launch(this.#child(child.id), 'fresh')
      }
      // It was being made when the pause came, and does not begin: nobody else would look once more.
      this.#leaveWhenIdle()
      return { ok: true, id: child.id, adjustments: child.contract?.adjustments ?? [] }
    } finally {
      this.#making -= 1
    }
  }

  async #create(
    call_id: string,
    index: number,
    request: DelegationRequest,
    repairs: Child['repairs'],
  ): Promise<{ ok: true; child: Child } | Extract<Spawned, { ok: false }>> {
    const known = this.#memory.children.find((child) => child.call_id === call_id && child.index === index)
    if (known) return { ok: true, child: known }
    const { children, children_before, agent_id, contract: own } = this.#memory
    const step_idx = children.length
    const id = childId(agent_id, own.parent.depth, children_before + step_idx + 1)
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
      const { contract } = prepared
      const repairing = repairs === null ? {} : { repairs }
      recorder.record('agent.subagent_created', { ...place, contract, task, cache_key, ...repairing })
    }
    const child = this.#child(id)
    if (isOpen(child)) this.#open.set(id, openChild())
    return { ok: true, child }
  }

  /** Once more where another sub-agent, closed in the meantime, had spent more than was set aside for it. */
  async #prepare(request: DelegationRequest, child: { id: string; step_idx: number }): Promise<PreparedChild> {
    for (;;) {
      const { ledger } = this.#memory
      const prepared = await this.side.launcher.prepare(this.#memory, request, child, this.side.files.shown)
      if (!prepared.ok || prepared.reuse || ledger === this.#memory.ledger) return prepared
      if (affords(this.#memory.ledger, prepared.contract)) return prepared
    }
  }

  jobs(): readonly Job[] {
    return this.#memory.children.map((child) => this.#job(child))
  }

  async earlier(ids: readonly string[]): Promise<Job[]> {
    return (await this.side.launcher.earlier(this.#memory, ids)).map((child) => this.#job(child))
  }

  async wait(ids: readonly string[]): Promise<Job[]> {
    const open = ids.flatMap((id) => this.#open.get(id) ?? [])
    if (open.length > 0) await this.#closing(open, this.side.signal())
    return ids.map((id) => this.#job(this.#child(id)))
  }

  /** Takes up what an earlier process left open. Where nothing was, nothing happens. */
  async recover(): Promise<void> {
    const open = this.#memory.children.filter(isOpen)
    await this.plans.putBack()
    for (const child of open) await this.#joining.takeBack(child)
    for (const { id } of open) this.#open.set(id, openChild())
    const { ended, working, others } = await this.#standing(open)
    for (const id of [...ended, ...working]) this.#launch(this.#child(id), 'begun')
    for (const id of others) this.#launch(this.#child(id), 'created')
    this.#recovered = true
    this.#leaveWhenIdle()
  }

  /**
   * Who has a place before whom: those that have ended, who give it back at once, then those that were at work. Where there
   * are enough nobody need know.
   */
  async #standing(open: readonly Child[]) {
    const ids = open.map(({ id }) => id)
    const { max_concurrent = Number.POSITIVE_INFINITY } = this.#memory.contract.execution
    if (ids.length <= max_concurrent) return { ended: [], working: [], others: ids }
    const { ended, working } = await this.side.launcher.begun(this.#memory)
    return {
      ended: ids.filter((id) => ended.has(id)),
      working: ids.filter((id) => working.has(id)),
      others: ids.filter((id) => !ended.has(id) && !working.has(id)),
    }
  }

  /** Lets a sub-agent write, when no earlier one is open that may write the same. */
  async #admit(
    id: string,
    signal: AbortSignal,
    onWait: (behind: string[]) => void,
    resting: Resting | undefined,
  ): Promise<TreeResult<{ base: string }>> {
    const child = this.#child(id)
    const { base, step_idx, repairs } = child
    if (base !== null) return { ok: true, base }
    const owns = ownedBy(child)
    const after = this.#before(id)
      .filter((other) => mayOverlap(ownedBy(other), owns))
      .map((other) => other.id)
    const behind = union(after, repairs === null ? this.plans.ahead(child, owns) : [])
    const turn = () =>
      this.#waiting(id, 'its turn', async () => {
        await unlessAborted(this.#allClosed(after), signal)
        if (repairs === null) await this.plans.turnToWrite(child, owns, signal)
      })
    if (behind.length > 0) onWait(behind)
    if (resting) await resting(behind.length > 0 ? turn : null)
    else if (behind.length > 0) await turn()
    const { recorder, files } = this.side
    const stopped = { ok: false, code: 'failed', message: 'it was stopped while it waited to write' } as const
    // What it asked elsewhere may be heard when it has ended.
    const isOver = () => signal.aborted || this.#open.get(id)?.ended !== false
    this.#admitting += 1
    const admitted = files.alone(async (): Promise<TreeResult<{ base: string }>> => {
      if (isOver()) return stopped
      // Whoever has let go of the run touches nothing any more.
      await recorder.commit()
      const taken = await files.committed()
      if (!taken.ok) return taken
      if (isOver()) return stopped
      const begins_at = repairs?.base ?? taken.commit
      const carried = repairs === null ? taken : await files.carryFor(id, begins_at)
      if (!carried.ok) return carried
      recorder.record('agent.subagent_admitted', { sub_agent_id: id, step_idx, base: begins_at, after })
      await recorder.commit()
      return { ok: true, base: begins_at }
    })
    const done = () => {
      this.#admitting -= 1
    }
    admitted.then(done, done)
    // What its parent is doing may take longer than anybody waits for one that is cancelled.
    return unlessAborted(admitted, signal).then((done) => done ?? stopped)
  }

  /** One that resolves the conflict of this one, and is closed when this resolves. */
  async #repair(child: Child, conflict: Conflict): Promise<Repaired> {
    if (!this.side.launcher.repairs || child.repairs !== null) return null
    const repairs = { sub_agent_id: child.id, base: conflict.base }
    const spawned = await this.#spawn(`repair:${child.id}`, 0, repairRequest(child, conflict), repairs)
    if (!spawned.ok) return { obstacle: spawned.message }
    await this.#waiting(child.id, 'its repair', () => this.#allClosed([spawned.id]))
    return { repairer: this.#child(spawned.id) }
  }

  /** Earlier sub-agents that are open and may write in trees of their own. One that repairs has its turn at once. */
  #before(id: string): Child[] {
    const child = this.#child(id)
    if (child.repairs !== null) return []
    return this.#memory.children.filter(
      (other) =>
        isOpen(other) &&
        this.plans.precedes(other, child) &&
        (other.base !== null || other.contract?.workspace.isolation === 'worktree'),
    )
  }

  #allClosed(ids: readonly string[]): Promise<void> {
    return Promise.all(ids.flatMap((id) => this.#open.get(id)?.closed ?? [])).then(() => {})
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

  /** No more sub-agents begin; when those at work have done theirs, the agent is let go of. */
  pause(why: string): void {
    this.#paused ??= why
    this.#leaveWhenIdle()
  }

  get pausing(): boolean {
    return this.#paused !== null
  }

  #leaveWhenIdle(): void {
    const why = this.#paused
    if (why === null || !this.#recovered) return
    this.#leaving += 1
    const look = async () => {
      if (await this.#isIdle()) this.side.leave(why)
    }
    const over = () => {
      this.#leaving -= 1
    }
    // One that has just closed may let another go on that waited for it. A store that does not answer is met by the loop.
    setTimeout(() => void look().then(over, over), IDLE_MS)
  }

  /** Whether everybody waits for something that will not happen as long as it is paused: also those that have not begun. */
  async #isIdle(): Promise<boolean> {
    const unbegun = new Set<string>()
    const busy = () => [...this.#open].filter(([id, { waits }]) => waits === null && !unbegun.has(id))
    for (const [id, { run, ended }] of busy()) {
      const begins = run === null || ended || this.#child(id).repairs !== null
      if (begins || (await run.isBegun())) return false
      unbegun.add(id)
    }
    return busy().length === 0
  }

  /** Whether all that is left to do here is to wait for what sub-agents do elsewhere. */
  get rests(): boolean {
    if (this.#making > 0 || this.#leaving > 0) return false
    // Nobody below it may write before it may itself; and where it waits for nobody, nobody has it taken up again.
    if ((this.#admitting > 0 || this.#open.size === 0) && this.side.files.awaits === null) return false
    return [...this.#open.values()].every(({ run, ended, waits }) => run !== null && (!ended || this.#isLong(waits)))
  }

  /** Whether what is waited for is done by others. Who is being joined here is soon done, unless that one waits itself. */
  #isLong(waits: OpenChild['waits']): boolean {
    if (waits !== 'in line') return waits !== null
    return [...this.#open.values()].some((other) => other.waits === 'its repair')
  }

  /** Those that have ended, and wait for others until they are joined. */
  get settled(): string[] {
    return [...this.#open].flatMap(([id, { ended, waits }]) => (ended && this.#isLong(waits) ? [id] : []))
  }

  /** A new attempt may delegate again. */
  restart(): void {
    this.#stopped = null
  }

  abandon(why: string): void {
    this.#abandoned = why
    this.#stopped = { by: 'runtime', reason: why }
    for (const { run, follow } of this.#open.values()) {
      if (run) run.abandon(why)
      // Its creation is not written down any more, so that it would never be launched, nor closed.
      else follow(letGo(why))
    }
  }

  async #closing(open: OpenChild[], signal: AbortSignal): Promise<void> {
    const all = Promise.all(open.map(({ closed }) => closed)).then(() => {})
    await this.side.rest(() => unlessAborted(all, signal))
  }

  #launch(child: Child, stage: Stage): void {
    const open = this.#open.get(child.id) as OpenChild
    const run = this.side.launcher.launch(this.#memory, child, stage, {
      files: () => this.side.files.now,
      admit: (signal, onWait, resting) => this.#admit(child.id, signal, onWait, resting),
      at_once: child.repairs !== null,
    })
    open.run = run
    const joined = run.ended.then((end) => this.#join(child.id, end, run))
    // Nobody hears of it where it was let go of before it was launched.
    joined.catch(() => {})
    open.follow(joined)
    // One that is let go of is worked on elsewhere: whoever comes late must not end it.
    if (this.#abandoned !== null) run.abandon(this.#abandoned)
    else if (this.#stopped) run.cancel(this.#stopped.by, this.#stopped.reason)
  }

  /** What wrote in a tree of its own is integrated in the order in which the steps were given. */
  async #join(id: string, end: ChildEnd, { stopped }: ChildRun): Promise<void> {
    const open = this.#open.get(id)
    if (open) open.ended = true
    const work = await this.#joining.take(this.#child(id), end.result)
    const merges = this.#child(id).base !== null && endState(end.result.outcome) === 'waiting_for_merge'
    if (merges) await this.#turn(id, end, stopped)
    // The one that it repairs is being joined just now, and waits for it.
    if (this.#child(id).repairs !== null) return this.#close(id, end, work)
    if (open) open.waits = 'in line'
    return this.#inTurn(() => {
      if (open) open.waits = null
      return this.#close(id, end, work)
    })
  }

  /** What it does not need any more is given back first: whoever it waits for may need it. */
  async #turn(id: string, end: ChildEnd, stopped: AbortSignal): Promise<void> {
    const child = this.#child(id)
    const before = this.#before(id).map((other) => other.id)
    const ofPlan = child.repairs === null && this.plans.isStep(child)
    // Whether it really has to wait or not: the same work gives the same log.
    if (ofPlan && !child.settled) {
      const { step_idx } = child
      this.side.recorder.record('agent.subagent_settled', { sub_agent_id: id, step_idx, used: usedBy(end.used) })
      this.side.recorder.commitSoon()
    }
    if (before.length === 0 && !this.plans.hasStepsBefore(child)) return
    await this.#waiting(id, 'its turn', async () => {
      await unlessAborted(this.#allClosed(before), stopped)
      if (ofPlan) await this.plans.turnToJoin(child, stopped)
    })
  }

  /** Whoever counts who is at work hears that one only waits. */
  async #waiting(id: string, what: NonNullable<OpenChild['waits']>, wait: () => Promise<void>): Promise<void> {
    const open = this.#open.get(id)
    if (open) open.waits = what
    this.plans.changed()
    this.#leaveWhenIdle()
    await wait().finally(() => {
      if (open) open.waits = null
    })
  }

  /** The one place where a sub-agent is closed. */
  async #close(id: string, end: ChildEnd, work: Taken): Promise<void> {
    const { recorder, launcher, files } = this.side
    const { step_idx, failed } = this.#child(id)
    if (!end.started && !failed) {
      recorder.record('agent.subagent_failed', { sub_agent_id: id, step_idx, result: end.result })
    }
    const run = this.#open.get(id)?.run ?? null
    const judged = recorder.cleaned(await this.#joining.join(this.#child(id), end.result, run, work))
    const { fault } = await launcher.file(this.#memory, this.#child(id), judged.result, files.lasting)
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
    this.plans.changed()
    this.#leaveWhenIdle()
  }

  #job({ id, call_id, index, title, delivered, contract, closed, reused_from }: Child): Job {
    // One whose conflict is being resolved is at work by another.
    const waits = this.#open.get(id)?.waits === 'its turn'
    const adjustments = contract?.adjustments ?? []
    return { id, call_id, index, title, waits, delivered, adjustments, closed, reused_from }
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
  return { run: null, ended: false, closed, follow, waits: null }
}

/** It may be said more than once, and then nobody hears of it. */
function letGo(why: string): Promise<void> {
  const over = Promise.reject(new AbandonedError(why))
  over.catch(() => {})
  return over
}

function ownedBy({ contract }: Child): readonly string[] {
  return contract?.workspace.owns ?? []
}

/** What is known of its cost; whether that is all, the result says. */
function usedBy({ total_tokens, cost_usd, sub_agents }: Reservation): EventData<'agent.subagent_closed'>['used'] {
  return { total_tokens: total_tokens ?? 0, cost_usd: cost_usd ?? 0, sub_agents }
}
