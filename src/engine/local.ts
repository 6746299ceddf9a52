import type { AgentResult } from '../domain/index.js'
import type { Clock, Identity } from '../host/index.js'
import { AbandonedError, type AgentLoop } from '../runtime/index.js'
import type { Lease, Signal, Store } from '../store/index.js'
import type { Answers } from './answers.js'
import type { Cancel, ChildTask, ChildWork, Ended, Engine, Taken } from './engine.js'
import { Slots } from './slots.js'
import { Workplace } from './workplace.js'

const LEASE_TTL_MS = 15_000
/** Root agents are siblings of each other. */
const ROOTS = ''

/** Runs agents in this process, so many at once. */
export class LocalEngine implements Engine {
  readonly ttl_ms = LEASE_TTL_MS
  readonly #place: Workplace
  readonly #slots: Slots

  constructor(store: Store, clock: Clock, identity: Identity, limit: number) {
    this.#place = new Workplace({ store, clock, identity, ttl_ms: LEASE_TTL_MS, strict: false })
    this.#slots = new Slots(limit)
  }

  get answers(): Answers {
    return this.#place.answers
  }

  listen(): Promise<void> {
    return this.#place.listen()
  }

  take(run_id: string, agent_id: string, options?: { resting?: boolean }): Promise<Taken> {
    return this.#place.take(run_id, agent_id, options)
  }

  catchUp(run_id: string): Promise<Signal[]> {
    return this.#place.catchUp(run_id)
  }

  isHeld(lease: Lease): boolean {
    return this.#place.isHeld(lease)
  }

  keep<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    return this.#place.keep(lease, work)
  }

  work(lease: Lease, loop: AgentLoop): Promise<Ended> {
    return this.#run(lease, loop).finally(() => {
      if (this.#place.isIdle) this.#place.rest()
    })
  }

  async #run(lease: Lease, loop: AgentLoop): Promise<Ended> {
    try {
      // The lease of a closed run is worth nothing to anybody; only one that is left open is handed back.
      return { ok: true, result: await this.#place.during(lease, loop, () => this.#inTurn(loop)) }
    } catch (error) {
      if (!(error instanceof AbandonedError)) throw error
      return { ok: false, code: 'abandoned', message: error.message }
    }
  }

  async #inTurn(loop: AgentLoop): Promise<AgentResult> {
    // One that is stopped before its turn has nothing to do but to say so.
    const slot = await this.#slots.acquire(ROOTS, { signal: loop.stopping })
    try {
      return await loop.run(slot ?? undefined)
    } finally {
      slot?.release()
    }
  }

  workOnChild<T>(task: ChildTask<T>): ChildWork<T> {
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
        const { lease } = opened
        const opened_loop = opened.loop
        loop = opened_loop
        if (abandoned !== null) loop.abandon(abandoned)
        else if (cancelled) loop.cancel(cancelled.by, cancelled.reason)
        return done(loop, await this.#place.during(lease, loop, () => opened_loop.run(slot ?? undefined)))
      } finally {
        slot?.release()
      }
    }
    const forget = this.#place.onCancel(`${task.run_id}/${task.agent_id}`, cancel)
    const ended = run()
    ended.catch(forget)
    const isBegun = async () => true
    return { ended, cancel, abandon, stopped: left.signal, cancelled: () => cancelled, isBegun, forget }
  }

  close(): Promise<void> {
    return this.#place.close('Retinue was closed')
  }
}
