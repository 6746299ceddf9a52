import type { AgentResult } from '../domain/index.js'
import type { Clock, Identity } from '../host/index.js'
import type { AgentLoop } from '../runtime/index.js'
import type { Lease, Signal, Store } from '../store/index.js'
import { Answers } from './answers.js'
import type { Cancel, Taken } from './engine.js'
import { type Pause, pauseIn, pauseInWords } from './pausing.js'
import { remember } from './remember.js'
import { AT_REST } from './rest.js'

/** How soon a word from another process is heard. */
const LISTEN_MS = 200

const LATE = 'its lease could not be renewed in time'

type Work = { lease: Lease; loop: AgentLoop; ended: Promise<unknown> }

type Parts = {
  store: Store
  clock: Clock
  identity: Identity
  /** How long a lease lives without a word from its owner. */
  ttl_ms: number
  /** Whether one whose lease has run out is let go of at once: somebody else goes on with it without being told to. */
  strict: boolean
}

/** The agents that are at work in this process: keeps their leases, and hears what is said to them from elsewhere. */
export class Workplace {
  /** What is said from elsewhere to those that ask in this process. */
  readonly answers: Answers
  readonly #working = new Map<string, Work>()
  /** Sub-agents that are at work or wait for their turn, and whoever waits for them here. */
  readonly #children = new Map<string, Set<(by: string, reason: string) => void>>()
  /** Cancels that came for runs which are about to be worked on; on a worker, of all runs that others have, too. */
  readonly #early = new Map<string, Cancel>()
  readonly #earlyChildren = new Map<string, Cancel>()
  /** Of runs to which something was said about pausing: what counts, and which word was the last. */
  readonly #pauses = new Map<string, { pause: Pause | null; as_of: number }>()
  /** Of agents that are being made ready. */
  readonly #kept = new Set<Lease>()
  readonly #hearers = new Set<(signal: Signal) => void>()
  #timers: NodeJS.Timeout[] = []
  #heard = 0

  constructor(private readonly parts: Parts) {
    this.answers = new Answers(parts.store, parts.clock)
  }

  /** Begins to hear signals. Before an agent is owned, so that nothing said to its owner is missed. */
  async listen(): Promise<void> {
    if (this.#timers.length > 0) return
    this.#attend()
    // What was said to earlier owners was said to them.
    this.#heard = Math.max(this.#heard, await this.parts.store.lastSignal())
  }

  #attend(): void {
    if (this.#timers.length > 0) return
    // A store that does not answer now is met again by the next append, which says so.
    const hear = setInterval(() => void this.#hear().catch(() => {}), LISTEN_MS)
    const beat = setInterval(() => this.#beat(), this.parts.ttl_ms / 3)
    this.#timers = [hear.unref(), beat.unref()]
  }

  /** Every word that is said to a run, besides those that are understood here. Answers with how to stop that. */
  onSignal(hear: (signal: Signal) => void): () => void {
    this.#hearers.add(hear)
    return () => this.#hearers.delete(hear)
  }

  /** Takes the lease of an agent, unless a living process holds it. */
  async take(run_id: string, agent_id: string, { resting = false } = {}): Promise<Taken> {
    const held = await this.parts.store.lease(run_id, agent_id)
    const isFree = !held || !this.isHeld(held) || (resting && held.owner === AT_REST)
    if (!isFree) return { ok: false, held_by: held.owner }
    const taken = await this.acquire({ run_id, agent_id, epoch: held?.epoch ?? 0 })
    return taken ? { ok: true, lease: taken } : { ok: false, held_by: 'another process that was faster' }
  }

  /** Takes a lease that was seen at an epoch. null: somebody else was faster. */
  acquire({ run_id, agent_id, epoch }: Pick<Lease, 'run_id' | 'agent_id' | 'epoch'>): Promise<Lease | null> {
    const { store, identity, ttl_ms } = this.parts
    return store.acquire({ run_id, agent_id, owner: identity.owner, ttl_ms, seen_epoch: epoch })
  }

  /**
   * Whether the owner of a lease is still there. On this machine that is known: a dead process need not be waited
   * for, and a living one is respected even if it was stopped for a while. Elsewhere only time tells.
   */
  isHeld(lease: Lease): boolean {
    if (lease.expires_at === 0) return false
    const alive = this.parts.identity.isAlive(lease.owner)
    if (this.parts.strict && alive) return lease.expires_at > this.parts.clock.now()
    return alive ?? lease.expires_at > this.parts.clock.now()
  }

  /** While it is made ready: its lease is kept. */
  async keep<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    // Whoever was the last at work here may have ended since it was listened.
    this.#attend()
    this.#kept.add(lease)
    try {
      return await work()
    } finally {
      this.#kept.delete(lease)
    }
  }

  /** While it works: its lease is kept, and what is said to it is heard. */
  async during(
    lease: Lease,
    loop: AgentLoop,
    work: () => Promise<AgentResult>,
    letGo: (lease: Lease) => Promise<unknown> = (held) => this.parts.store.release(held),
  ): Promise<AgentResult> {
    const key = `${lease.run_id}/${lease.agent_id}`
    // One that was stopped may go on with what it was about to do before it notices how late it is.
    if (this.parts.strict) loop.fence(() => (this.#isLate(lease) ? LATE : null))
    this.#attend()
    const result = work()
    const mine = { lease, loop, ended: result.catch(() => {}) }
    this.#working.set(key, mine)
    const early = this.#cancelOf(lease, loop)
    if (early) loop.cancel(early.by, early.reason)
    this.#tellPause(mine)
    try {
      return await result
    } catch (error) {
      // First: a beat that came after the letting go would make it this process's again, for ever.
      this.#forget(key, mine)
      await letGo(lease).catch(() => {})
      throw error
    } finally {
      this.#forget(key, mine)
      if (isRoot(loop) && loop.memory.result) this.#forgetRun(lease.run_id)
    }
  }

  /** Nothing is said to a run that is closed. */
  #forgetRun(run_id: string): void {
    this.#early.delete(run_id)
    this.#pauses.delete(run_id)
    for (const key of this.#earlyChildren.keys()) if (key.startsWith(`${run_id}/`)) this.#earlyChildren.delete(key)
  }

  #forget(key: string, work: Work): void {
    if (this.#working.get(key) === work) this.#working.delete(key)
  }

  /** The last word that was heard. */
  get heard(): number {
    return this.#heard
  }

  /** Whether this process works on an agent. */
  isAtWork(run_id: string, agent_id: string): boolean {
    return this.#working.has(`${run_id}/${agent_id}`)
  }

  get isIdle(): boolean {
    return this.#working.size === 0 && this.#kept.size === 0
  }

  /** `cancel` is called when somebody cancels this sub-agent; also at once. Answers with how to stop that. */
  onCancel(key: string, cancel: (by: string, reason: string) => void): () => void {
    const cancels = this.#children.get(key) ?? new Set()
    this.#children.set(key, cancels.add(cancel))
    const early = this.#earlyChildren.get(key)
    if (early) cancel(early.by, early.reason)
    return () => {
      cancels.delete(cancel)
      if (cancels.size === 0 && this.#children.get(key) === cancels) this.#children.delete(key)
    }
  }

  #isLate(lease: Lease): boolean {
    return this.parts.clock.now() > lease.expires_at
  }

  #beat(): void {
    const { store, clock, ttl_ms, strict } = this.parts
    for (const lease of this.#kept) {
      const asked_at = clock.now()
      const kept = (renewed: boolean) => {
        if (renewed) lease.expires_at = asked_at + ttl_ms
      }
      // Whoever lost it meanwhile is told when it begins to write.
      store.renew(lease, ttl_ms).then(kept, () => {})
    }
    for (const { lease, loop } of this.#working.values()) {
      if (strict && this.#isLate(lease)) {
        loop.abandon(LATE)
        continue
      }
      const asked_at = clock.now()
      store.renew(lease, ttl_ms).then(
        (renewed) => {
          if (renewed) lease.expires_at = asked_at + ttl_ms
          else loop.abandon('another process works on it now')
        },
        () => {
          // A missed beat is made up for by the next, as long as there is time.
          if (this.#isLate(lease)) loop.abandon(LATE)
        },
      )
    }
  }

  async #hear(): Promise<void> {
    const signals = await this.parts.store.signals({ after: this.#heard })
    this.answers.hear(signals)
    for (const signal of signals) {
      // Two looks may overlap on a slow store.
      if (signal.id <= this.#heard) continue
      this.#heard = signal.id
      this.#understand(signal)
      for (const hear of this.#hearers) hear(signal)
    }
  }

  /** What was said to a run before anybody here listened, where nobody else has heard it either. */
  async catchUp(run_id: string): Promise<Signal[]> {
    const signals = await this.parts.store.signals({ run_id, after: 0 })
    for (const signal of signals) if (!isAboutPausing(signal)) this.#understand(signal)
    this.#keepPause(run_id, signals)
    return signals
  }

  /** What counts of all that was said about pausing, for those that are at work and those that get to work. */
  #keepPause(run_id: string, signals: readonly Signal[]): void {
    const as_of = signals.findLast(isAboutPausing)?.id
    // Two looks may overlap on a slow store.
    if (as_of === undefined || as_of < (this.#pauses.get(run_id)?.as_of ?? 0)) return
    remember(this.#pauses, run_id, { pause: pauseIn(signals), as_of })
    for (const work of this.#working.values()) if (work.lease.run_id === run_id) this.#tellPause(work)
  }

  #tellPause({ lease, loop }: Pick<Work, 'lease' | 'loop'>): void {
    const said = this.#pauses.get(lease.run_id)
    if (!said) return
    const { pause } = said
    if (pause && (isRoot(loop) || !pause.finishes)) loop.pause(pauseInWords(pause))
    else if (!pause && loop.pausing) loop.abandon('somebody goes on with the run')
  }

  #understand(signal: Signal): void {
    const { run_id, kind, data, by } = signal
    if (kind === 'cancel_agent') {
      const { agent_id, reason } = data as { agent_id: string; reason: string }
      const key = `${run_id}/${agent_id}`
      remember(this.#earlyChildren, key, { by, reason })
      for (const cancel of this.#children.get(key) ?? []) cancel(by, reason)
    }
    if (kind === 'cancel') remember(this.#early, run_id, { by, reason: String(data) })
    if (isAboutPausing(signal)) this.#hearPause(signal)
    for (const { lease, loop } of this.#working.values()) {
      if (lease.run_id !== run_id) continue
      const cancel = kind === 'cancel' || kind === 'cancel_agent' ? this.#cancelOf(lease, loop) : null
      if (cancel) loop.cancel(cancel.by, cancel.reason)
    }
  }

  /** Where others go on with runs by themselves, all that was said before counts. Here a run goes on when somebody says so. */
  #hearPause(signal: Signal): void {
    const { run_id } = signal
    // Whoever waits for it says it again.
    if (this.parts.strict) return void this.catchUp(run_id).catch(() => {})
    const pause = pauseIn([signal])
    for (const { lease, loop } of this.#working.values()) {
      if (pause && lease.run_id === run_id && isRoot(loop)) loop.pause(pauseInWords(pause))
    }
  }

  /**
   * What was said to the run is for the root: what is below it is its own to cancel. But where it rests it may not get to
   * work before those below it have ended. They end by the same word then, which it hears however late that is.
   */
  #cancelOf({ run_id, agent_id }: Lease, loop: AgentLoop): Cancel | null {
    const said = this.#early.get(run_id) ?? null
    if (isRoot(loop)) return said
    if (!this.parts.strict) return null
    const cancel = said ?? this.#cancelAbove(run_id, agent_id)
    return cancel && { by: 'parent', reason: cancel.reason }
  }

  /** What was said to one of those above a sub-agent, which is in its name. */
  #cancelAbove(run_id: string, agent_id: string): Cancel | null {
    for (let end = agent_id.lastIndexOf('.'); end > 0; end = agent_id.lastIndexOf('.', end - 1)) {
      const cancel = this.#earlyChildren.get(`${run_id}/${agent_id.slice(0, end)}`)
      if (cancel) return cancel
    }
    return null
  }

  /** Hears nothing more, and forgets what it heard. */
  rest(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
    this.#early.clear()
    this.#earlyChildren.clear()
    this.#pauses.clear()
  }

  /** Lets go of everything that is at work, and waits until it is let go. What is open can be resumed. */
  async close(why: string): Promise<void> {
    const open = [...this.#working.values()]
    for (const { loop } of open) loop.abandon(why)
    await Promise.allSettled(open.map(({ ended }) => ended))
    this.rest()
  }
}

function isAboutPausing({ kind }: Signal): boolean {
  return kind === 'pause' || kind === 'resume'
}

function isRoot({ memory }: AgentLoop): boolean {
  return memory.contract.parent.agent_id === null
}
