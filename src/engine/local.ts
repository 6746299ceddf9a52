import type { AgentResult } from '../domain/index.js'
import type { Clock, Identity } from '../host/index.js'
import { AbandonedError, type AgentLoop } from '../runtime/index.js'
import type { Lease, Signal, Store } from '../store/index.js'
import { Slots } from './slots.js'

/** How long a lease lives without a word from its owner, and how often the owner gives one. */
export const LEASE_TTL_MS = 15_000
const BEAT_MS = LEASE_TTL_MS / 3
/** How soon a word from another process is heard. */
const LISTEN_MS = 200

type Ended = { ok: true; result: AgentResult } | { ok: false; code: 'abandoned'; message: string }

type Work = { lease: Lease; loop: AgentLoop; ended: Promise<Ended> }

/** Runs agents in this process: keeps their leases, hears signals for them, and limits how many work at once. */
export class LocalEngine {
  readonly #slots: Slots
  readonly #working = new Map<string, Work>()
  /** Cancels that came for runs which are about to be worked on. */
  readonly #early = new Map<string, Signal>()
  #timers: NodeJS.Timeout[] = []
  #heard = 0

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly identity: Identity,
    limit: number,
  ) {
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
    this.#heard = (await this.store.signals({ after: this.#heard })).at(-1)?.id ?? this.#heard
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
    try {
      // The lease of a closed run is worth nothing to anybody; only one that is left open is handed back.
      return { ok: true, result: await this.#slots.with(() => loop.run()) }
    } catch (error) {
      await this.store.release(lease).catch(() => {})
      if (!(error instanceof AbandonedError)) throw error
      return { ok: false, code: 'abandoned', message: error.message }
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
    for (const signal of await this.store.signals({ after: this.#heard })) {
      this.#heard = signal.id
      if (signal.kind !== 'cancel') continue
      this.#early.set(signal.run_id, signal)
      for (const { lease, loop } of this.#working.values()) {
        if (lease.run_id === signal.run_id) loop.cancel(signal.by, String(signal.data))
      }
    }
  }

  #rest(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
    this.#early.clear()
  }

  /** Lets go of everything that is at work, and waits until it is let go. What is open can be resumed. */
  async close(): Promise<void> {
    const open = [...this.#working.values()]
    for (const { loop } of open) loop.abandon('Retinue was closed')
    await Promise.allSettled(open.map(({ ended }) => ended))
    this.#rest()
  }
}
