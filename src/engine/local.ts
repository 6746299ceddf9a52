import type { AgentResult } from '../domain/index.js'
import type { Clock, Identity } from '../host/index.js'
import { AbandonedError, type AgentLoop, type Slot } from '../runtime/index.js'
import type { Lease, Signal, Store } from '../store/index.js'
import { Answers } from './answers.js'
import { Slots } from './slots.js'

/** How long a lease lives without a word from its owner, and how often the owner gives one. */
export const LEASE_TTL_MS = 15_000
const BEAT_MS = LEASE_TTL_MS / 3
/** How soon a word from another process is heard. */
const LISTEN_MS = 200
/** Root agents are siblings of each other. */
const ROOTS = ''

type Ended = { ok: true; result: AgentResult } | { ok: false; code: 'abandoned'; message: string }

type Work = { lease: Lease; loop: AgentLoop; ended: Promise<Ended> }

/** A sub-agent that is to be worked on. */
type ChildTask<T> = {
  run_id: string
  agent_id: string
  /** Its siblings take turns with those of other groups; so many of them work at once. */
  group: string
  group_limit: number | undefined
  /** Called when it is its turn; or without a turn, because it was cancelled before that. The signal: it is stopped. */
  open: (cancelled: Cancel | null, stopped: AbortSignal) => Promise<{ lease: Lease; loop: AgentLoop } | { done: T }>
  done: (loop: AgentLoop, result: AgentResult) => T
}

type ChildWork<T> = {
  /** Rejects with AbandonedError when this process lets go of it. */
  ended: Promise<T>
  cancel(by: string, reason: string): void
  abandon(why: string): void
  stopped: AbortSignal
  cancelled(): Cancel | null
  /** It can be cancelled until then. */
  forget(): void
}

type Cancel = { by: string; reason: string }

/** Runs agents in this process: keeps their leases, hears signals for them, and limits how many work at once. */
export class LocalEngine {
  /** What is said from elsewhere to those that ask in this process. */
  readonly answers: Answers
  readonly #slots: Slots
  readonly #working = new Map<string, Work>()
  /** Sub-agents that are at work or wait for their turn. */
  readonly #children = new Map<string, (by: string, reason: string) => void>()
  /** Cancels that came for runs which are about to be worked on. */
  readonly #early = new Map<string, Signal>()
  readonly #earlyChildren = new Map<string, Cancel>()
  #timers: NodeJS.Timeout[] = []
  #heard = 0

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly identity: Identity,
    limit: number,
  ) {
    this.answers = new Answers(store, clock)
    this.#slots = new Slots(limit)
  }

  /** Begins to hear signals. Before an agent is owned, so that nothing said to its owner is missed. */
  async listen(): Promise<void> {
    if (this.#timers.length > 0) return
    // A store that does not answer now is met again by the next append, which says so.
    const hear = setInterval(() => void this.#hear().catch(() => {}), LISTEN_MS)
    const beat = setInterval(() => void this.#beat(), BEAT_MS)
    this.#timers = [hear.unref(), beat.unref()]
    // What was said to earlier owners was said to them.
    this.#heard = Math.max(this.#heard, await this.store.lastSignal())
  }

  /** Takes the lease of an agent, unless a living process holds it. */
  async take(run_id: string, agent_id: string): Promise<{ ok: true; lease: Lease } | { ok: false; held_by: string }> {
    const held = await this.store.lease(run_id, agent_id)
    if (held && this.isHeld(held)) return { ok: false, held_by: held.owner }
    const { owner } = this.identity
    const seen_epoch = held?.epoch ?? 0
    const lease = await this.store.acquire({ run_id, agent_id, owner, ttl_ms: LEASE_TTL_MS, seen_epoch })
    return lease ? { ok: true, lease } : { ok: false, held_by: 'another process that was faster' }
  }

  /**
   * Whether the owner of a lease is still there. On this machine that is known: a dead process need not be waited
   * for, and a living one is respected even if it was stopped for a while. Elsewhere only time tells.
   */
  isHeld(lease: Lease): boolean {
    if (lease.expires_at === 0) return false
    return this.identity.isAlive(lease.owner) ?? lease.expires_at > this.clock.now()
  }

  /** Works an agent until it is finished, under its lease. */
  work(lease: Lease, loop: AgentLoop): Promise<Ended> {
    const key = `${lease.run_id}/${lease.agent_id}`
    const ended = this.#run(lease, loop).finally(() => {
      this.#working.delete(key)
      if (this.#working.size === 0) this.#rest()
    })
    this.#working.set(key, { lease, loop, ended })
    const early = this.#early.get(lease.run_id)
    if (early) loop.cancel(early.by, String(early.data))
    return ended
  }

  async #run(lease: Lease, loop: AgentLoop): Promise<Ended> {
    // One that is stopped before its turn has nothing to do but to say so.
    const slot = await this.#slots.acquire(ROOTS, { signal: loop.stopping })
    try {
      // The lease of a closed run is worth nothing to anybody; only one that is left open is handed back.
      return { ok: true, result: await loop.run(slot ?? undefined) }
    } catch (error) {
      await this.store.release(lease).catch(() => {})
      if (!(error instanceof AbandonedError)) throw error
      return { ok: false, code: 'abandoned', message: error.message }
    } finally {
      slot?.release()
    }
  }

  /** Works on a sub-agent when it is its turn, until it is finished. */
  workOnChild<T>(task: ChildTask<T>): ChildWork<T> {
    const key = `${task.run_id}/${task.agent_id}`
    const left = new AbortController()
    let loop: AgentLoop | null = null
    let cancelled: Cancel | null = null
    let abandoned: string | null = null
    const cancel = (by: string, reason: string) => {
      cancelled ??= { by, reason }
      loop?.cancel(by, reason)
      left.abort()
    }
    const abandon = (why: string) => {
      abandoned ??= why
      loop?.abandon(why)
      left.abort()
    }
    const run = async (): Promise<T> => {
      const { group, group_limit, open, done } = task
      const slot = await this.#slots.acquire(group, {
        signal: left.signal,
        ...(group_limit === undefined ? {} : { group_limit }),
      })
      try {
        if (abandoned !== null) throw new AbandonedError(abandoned)
        const opened = await open(cancelled, left.signal)
        if ('done' in opened) return opened.done
        loop = opened.loop
        if (abandoned !== null) loop.abandon(abandoned)
        else if (cancelled) loop.cancel(cancelled.by, cancelled.reason)
        return done(loop, await this.#workUnder(key, opened.lease, loop, slot ?? undefined))
      } finally {
        slot?.release()
      }
    }
    this.#children.set(key, cancel)
    const early = this.#earlyChildren.get(key)
    if (early) cancel(early.by, early.reason)
    const forget = () => this.#children.delete(key)
    const ended = run()
    ended.catch(forget)
    return { ended, cancel, abandon, stopped: left.signal, cancelled: () => cancelled, forget }
  }

  async #workUnder(key: string, lease: Lease, loop: AgentLoop, slot: Slot | undefined): Promise<AgentResult> {
    const result = loop.run(slot)
    const ended = result.then(
      (value): Ended => ({ ok: true, result: value }),
      (error): Ended => ({ ok: false, code: 'abandoned', message: String(error) }),
    )
    this.#working.set(key, { lease, loop, ended })
    try {
      return await result
    } catch (error) {
      await this.store.release(lease).catch(() => {})
      throw error
    } finally {
      this.#working.delete(key)
    }
  }

  async #beat(): Promise<void> {
    for (const { lease, loop } of this.#working.values()) {
      try {
        if (await this.store.renew(lease, LEASE_TTL_MS)) lease.expires_at = this.clock.now() + LEASE_TTL_MS
        else loop.abandon('another process works on it now')
      } catch {
        // A missed beat is made up for by the next, as long as there is time.
        if (this.clock.now() > lease.expires_at) loop.abandon('its lease could not be renewed')
      }
    }
  }

  async #hear(): Promise<void> {
    const signals = await this.store.signals({ after: this.#heard })
    this.answers.hear(signals)
    for (const signal of signals) {
      this.#heard = signal.id
      if (signal.kind === 'cancel_agent') {
        const { agent_id, reason } = signal.data as { agent_id: string; reason: string }
        const key = `${signal.run_id}/${agent_id}`
        this.#earlyChildren.set(key, { by: signal.by, reason })
        this.#children.get(key)?.(signal.by, reason)
      }
      if (signal.kind !== 'cancel' && signal.kind !== 'pause') continue
      if (signal.kind === 'cancel') this.#early.set(signal.run_id, signal)
      for (const { lease, loop } of this.#working.values()) {
        // Only the root: what is below it is its own to cancel.
        if (lease.run_id !== signal.run_id || loop.memory.contract.parent.agent_id !== null) continue
        if (signal.kind === 'cancel') loop.cancel(signal.by, String(signal.data))
        else loop.pause(`paused by ${signal.by}: ${signal.data}`)
      }
    }
  }

  #rest(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
    this.#early.clear()
    this.#earlyChildren.clear()
  }

  /** Lets go of everything that is at work, and waits until it is let go. What is open can be resumed. */
  async close(): Promise<void> {
    const open = [...this.#working.values()]
    for (const { loop } of open) loop.abandon('Retinue was closed')
    await Promise.allSettled(open.map(({ ended }) => ended))
    this.#rest()
  }
}
