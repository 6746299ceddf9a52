import type { AgentResult } from '../domain/index.js'
import type { Clock, Identity } from '../host/index.js'
import { AbandonedError, type AgentLoop } from '../runtime/index.js'
import type { Lease, Store } from '../store/index.js'
import { Slots } from './slots.js'

/** How long a lease lives without a word from its owner, and how often the owner gives one. */
export const LEASE_TTL_MS = 15_000
const BEAT_MS = LEASE_TTL_MS / 3
/** How soon a word from another process is heard. */
const LISTEN_MS = 200

export type Ended = { ok: true; result: AgentResult } | { ok: false; code: 'abandoned'; message: string }

/** Runs agents in this process: keeps their leases, hears signals for them, and limits how many work at once. */
export class LocalEngine {
  readonly #slots: Slots
  readonly #working = new Map<string, { lease: Lease; loop: AgentLoop }>()
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

  /** Takes the lease of an agent, unless a living process holds it. */
  async take(run_id: string, agent_id: string): Promise<{ ok: true; lease: Lease } | { ok: false; held_by: string }> {
    const held = await this.store.lease(run_id, agent_id)
    if (held && this.isHeld(held)) return { ok: false, held_by: held.owner }
    const { owner } = this.identity
    const lease = await this.store.acquire({
      run_id,
      agent_id,
      owner,
      ttl_ms: LEASE_TTL_MS,
      seen_epoch: held?.epoch ?? 0,
    })
    return lease ? { ok: true, lease } : { ok: false, held_by: 'another process that was faster' }
  }

  /** Whether the owner of a lease is still there. A dead process on this machine need not be waited for. */
  isHeld(lease: Lease): boolean {
    if (lease.expires_at <= this.clock.now()) return false
    return this.identity.isAlive(lease.owner) ?? true
  }

  /** Works an agent until it is finished, under its lease. */
  async work(lease: Lease, loop: AgentLoop): Promise<Ended> {
    const key = `${lease.run_id}/${lease.agent_id}`
    this.#working.set(key, { lease, loop })
    await this.#listen()
    try {
      // The lease of a closed run is worth nothing to anybody; only one that is left open is handed back.
      return { ok: true, result: await this.#slots.with(() => loop.run()) }
    } catch (error) {
      await this.store.release(lease)
      if (!(error instanceof AbandonedError)) throw error
      return { ok: false, code: 'abandoned', message: error.message }
    } finally {
      this.#working.delete(key)
      if (this.#working.size === 0) this.stop()
    }
  }

  async #listen(): Promise<void> {
    if (this.#timers.length > 0) return
    // A store that does not answer now is met again by the next append, which says so; a missed beat is made up for.
    const beat = setInterval(() => void this.#beat().catch(() => {}), BEAT_MS)
    const hear = setInterval(() => void this.#hear().catch(() => {}), LISTEN_MS)
    this.#timers = [beat, hear]
    // What was said to earlier owners was said to them.
    this.#heard = (await this.store.signals({ after: this.#heard })).at(-1)?.id ?? this.#heard
  }

  async #beat(): Promise<void> {
    for (const { lease, loop } of this.#working.values()) {
      if (!(await this.store.renew(lease, LEASE_TTL_MS))) loop.abandon('the lease is held by another process')
    }
  }

  async #hear(): Promise<void> {
    for (const signal of await this.store.signals({ after: this.#heard })) {
      this.#heard = signal.id
      if (signal.kind !== 'cancel') continue
      for (const { lease, loop } of this.#working.values()) {
        if (lease.run_id === signal.run_id) loop.cancel(signal.by, String(signal.data))
      }
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }
}
