import type { Clock, Identity } from '../../host/index.js'
import { AbandonedError, type AgentLoop } from '../../runtime/index.js'
import type { Lease, Signal, Store } from '../../store/index.js'
import type { Answers } from '../answers.js'
import type { Cancel, ChildTask, ChildWork, Engine, Taken } from '../engine.js'
import { AT_REST, rest } from '../rest.js'
import { type Slot, Slots } from '../slots.js'
import { Workplace } from '../workplace.js'
import { Bell } from './bell.js'
import type { Dispatch } from './dispatch.js'
import { RestingSlot } from './resting-slot.js'
import { RunWatch } from './run-watch.js'
import { Shared } from './shared.js'

/** How an agent was left. `rests`: it waits for others, and whoever it waits for has it taken up again. */
type Left =
  | { ok: true; result: Awaited<ReturnType<AgentLoop['run']>> }
  /** `heard`: the last word that it can have heard. `time_left_ms`: until its time is up; null: none passes. */
  | {
      ok: false
      code: 'rests'
      message: string
      heard: number
      settled: readonly string[]
      time_left_ms: number | null
    }
  | { ok: false; code: 'abandoned'; message: string }

/** Shorter than where a person would have to see to it: another worker goes on when it has passed. */
const LEASE_TTL_MS = 6000
/** Leases are renewed so often. */
const RENEWED_MS = LEASE_TTL_MS / 3

/** Why one is woken whose time is up. */
const DEADLINE = 'deadline-'

type Parts = {
  store: Store
  clock: Clock
  identity: Identity
  dispatch: Dispatch
  /** What this machine has. */
  labels: readonly string[]
}

/** `admit`: answers it when it asks to write, or asked before its parent was taken up. */
type Listening = {
  task: ChildTask<unknown>
  stopped: AbortSignal
  admit: () => Promise<boolean>
}

/** What is heard of a sub-agent. `caught_up`: what it asked for before has been heard. */
type Ears = { bell: Bell; caught_up: Promise<void>; close: () => void }

/** Agents on this worker. Their sub-agents are handed to whichever worker has room, this one too. */
export class WorkerEngine implements Engine {
  readonly ttl_ms = LEASE_TTL_MS
  /** Whether it lets go of what it has because it ends. */
  is_closing = false
  readonly #place: Workplace
  readonly #watch: RunWatch
  /** Of one parent so many are given away at once; what a worker takes is its queue's to limit. */
  readonly #given = new Slots(Number.MAX_SAFE_INTEGER)
  /** Parents of sub-agents that are being given away just now, with how many these are. */
  readonly #unsettled = new Map<string, number>()
  /** What was said to a run, for all its agents that are taken up together. */
  readonly #said: Shared<Signal[]>

  /** The last sub-agent of each parent that is being given away. */
  readonly #giving = new Map<string, Promise<void>>()

  constructor(private readonly parts: Parts) {
    const { store, clock, identity } = parts
    this.#place = new Workplace({ store, clock, identity, ttl_ms: LEASE_TTL_MS, strict: true })
    this.#watch = new RunWatch(store)
    this.#said = new Shared((run_id) => store.signals({ run_id, after: 0 }))
    this.#place.onSignal(({ run_id, kind, data }) => {
      if (kind === 'not_started') this.#watch.tell(run_id, agentIn(data))
    })
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

  acquire(seen: Pick<Lease, 'run_id' | 'agent_id' | 'epoch'>): Promise<Lease | null> {
    return this.#place.acquire(seen)
  }

  isHeld(lease: Lease): boolean {
    return this.#place.isHeld(lease)
  }

  isAtWork(run_id: string, agent_id: string): boolean {
    return this.#place.isAtWork(run_id, agent_id)
  }

  /** Whether a worker has renewed it since it was last due. Whoever else holds one, for longer, gives it away soon. */
  isFresh({ expires_at }: Lease): boolean {
    const left_ms = expires_at - this.parts.clock.now()
    return left_ms <= LEASE_TTL_MS && left_ms > LEASE_TTL_MS - RENEWED_MS
  }

  keep<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    return this.#place.keep(lease, work)
  }

  catchUp(run_id: string): Promise<Signal[]> {
    return this.#place.catchUp(run_id)
  }

  onSignal(hear: (signal: Signal) => void): () => void {
    return this.#place.onSignal(hear)
  }

  onCancel(run_id: string, agent_id: string, cancel: (by: string, reason: string) => void): () => void {
    return this.#place.onCancel(`${run_id}/${agent_id}`, cancel)
  }

  wake(
    run_id: string,
    agent_id: string,
    why: string,
    more: { delay_ms?: number; closes?: boolean } = {},
  ): Promise<void> {
    return this.parts.dispatch.wake({ run_id, agent_id, why, ...more })
  }

  /** Whoever rests does not notice that its time is up. `epoch`: under which it was worked on before. */
  wakeAtDeadline({ run_id, agent_id, epoch }: Lease, delay_ms: number): Promise<void> {
    return this.wake(run_id, agent_id, `${DEADLINE}${epoch}`, { delay_ms })
  }

  /**
   * Whether it was asked for by that. Then it is worked on only where it rests still: each rest leaves one behind, and most
   * have been over for long. It is asked for anew: this one may be invoked again by those who find it unfinished, and
   * could not tell then whether it was late or had begun.
   */
  async isDeadline(run_id: string, agent_id: string, why: string): Promise<boolean> {
    if (!why.startsWith(DEADLINE)) return false
    const epoch = Number.parseInt(why.slice(DEADLINE.length), 10)
    const lease = await this.parts.store.lease(run_id, agent_id)
    // Whoever has taken it since knows how long it has.
    if (lease && lease.epoch <= epoch + 1) await this.wake(run_id, agent_id, `time-is-up-${epoch}`)
    return true
  }

  /** Whether this worker may work on it. Close it can any. */
  async mayHave(run_id: string, agent_id: string): Promise<boolean> {
    const { label } = (await this.parts.dispatch.routes.of(run_id, agent_id)).route
    return label === null || this.parts.labels.includes(label)
  }

  /**
   * The same for what is in the log, or was said. Whoever is at work on it sees that without being woken, or when it has
   * let go of it, for then it looks once more; should that worker die, what it was at work on is taken up. One that rests
   * is woken once, for all that happened until then.
   */
  async tell(run_id: string, agent_id: string, why: string, more: { closes?: boolean } = {}): Promise<void> {
    const lease = await this.parts.store.lease(run_id, agent_id)
    if (lease?.owner === AT_REST) await this.wake(run_id, agent_id, `rested-${lease.epoch}`, more)
    else if (!lease || !this.isHeld(lease) || !this.isFresh(lease)) await this.wake(run_id, agent_id, why, more)
  }

  async work(lease: Lease, loop: AgentLoop): Promise<Left> {
    const key = `${lease.run_id}/${lease.agent_id}`
    const slot = new RestingSlot(
      loop,
      () => this.#place.heard,
      () => !this.#unsettled.has(key),
    )
    const { store } = this.parts
    const letGo = (held: Lease) => (slot.parked ? rest(store, held).then(() => {}) : store.release(held))
    try {
      return { ok: true, result: await this.#place.during(lease, loop, () => loop.run(slot), letGo) }
    } catch (error) {
      if (!(error instanceof AbandonedError)) throw error
      const { message } = error
      if (!slot.parked) return { ok: false, code: 'abandoned', message }
      const { heard, settled, time_left_ms } = slot
      return { ok: false, code: 'rests', message, heard, settled, time_left_ms }
    } finally {
      slot.release()
    }
  }

  workOnChild<T>(task: ChildTask<T>): ChildWork<T> {
    const { run_id, agent_id } = task
    const left = new AbortController()
    let cancelled: Cancel | null = null
    let abandoned: string | null = null
    let given = false
    const cancel = (by: string, reason: string) => {
      if (cancelled) return
      cancelled = { by, reason }
      left.abort()
      if (given) void this.#tellCancel(run_id, agent_id, cancelled).catch(() => {})
    }
    const abandon = (why: string) => {
      abandoned ??= why
      left.abort()
    }
    const run = async (): Promise<T> => {
      const { group, group_limit } = task
      const slot = await this.#given.acquire(group, {
        signal: left.signal,
        ...(group_limit === undefined ? {} : { group_limit }),
        again: task.stage === 'begun',
      })
      const settled = this.#settling(group)
      // Before it is given away, and before it is looked at.
      const ears = this.#listenTo({
        task,
        stopped: left.signal,
        admit: () => task.admit(left.signal, (wait) => lent(slot, wait)),
      })
      try {
        const { bell, caught_up } = await ears
        if (abandoned !== null) throw new AbandonedError(abandoned)
        const early = await this.#inOrder(group, () => this.#unstarted(task, cancelled, left.signal))
        if (early) return early.done
        given = true
        if (cancelled) await this.#tellCancel(run_id, agent_id, cancelled)
        return await this.#ended(
          task,
          bell,
          () => abandoned,
          async () => {
            await caught_up
            settled()
          },
        )
      } finally {
        ears.then(
          ({ close }) => close(),
          () => {},
        )
        settled()
        slot?.release()
      }
    }
    const forget = this.#place.onCancel(`${run_id}/${agent_id}`, cancel)
    const ended = run()
    ended.catch(forget)
    const isBegun = async () => (await this.parts.store.agent(run_id, agent_id))?.state !== 'created'
    return { ended, cancel, abandon, stopped: left.signal, cancelled: () => cancelled, isBegun, forget }
  }

  /** Until it is over the parent does not rest: what it has not done then, nobody would. Answers with how to end that. */
  #settling(parent: string): () => void {
    const change = (by: number) => {
      const left = (this.#unsettled.get(parent) ?? 0) + by
      if (left > 0) this.#unsettled.set(parent, left)
      else this.#unsettled.delete(parent)
    }
    let over = false
    change(1)
    return () => {
      if (!over) change(-1)
      over = true
    }
  }

  /** Sub-agents of a parent are given away one after the other, so that those which come first are begun first. */
  #inOrder<T>(parent: string, give: () => Promise<T>): Promise<T> {
    const given = (this.#giving.get(parent) ?? Promise.resolve()).then(give)
    const over = given
      .catch(() => {})
      .then(() => {
        if (this.#giving.get(parent) === over) this.#giving.delete(parent)
      })
    this.#giving.set(parent, over)
    return given
  }

  /** One that was cancelled before it began does not begin: its place is taken, so that no worker begins it later. */
  async #unstarted<T>(
    { run_id, agent_id, stage, end, open }: ChildTask<T>,
    cancelled: Cancel | null,
    stopped: AbortSignal,
  ): Promise<{ done: T } | null> {
    if (stage === 'fresh' && !cancelled) {
      await this.wake(run_id, agent_id, 'start')
      return null
    }
    const done = await end()
    if (done !== null) return { done }
    const { store } = this.parts
    const held = await store.lease(run_id, agent_id)
    if (held && held.owner !== AT_REST && this.isHeld(held)) return null
    if (held && (await store.read({ run_id, agent_id, limit: 1 })).length > 0) {
      // Should nobody have it worked on any more, whoever waits for it does.
      await this.wake(run_id, agent_id, `look-${held.epoch}`)
      return null
    }
    if (!held && !cancelled) {
      await this.wake(run_id, agent_id, 'start')
      return null
    }
    // A place that was taken by one who did not get to say so is taken once more.
    const taken = await this.acquire({ run_id, agent_id, epoch: held?.epoch ?? 0 })
    if (!taken) return null
    if (!cancelled) {
      await store.release(taken)
      await this.wake(run_id, agent_id, `start-${taken.epoch}`)
      return null
    }
    const opened = await open(cancelled, stopped)
    return 'done' in opened ? opened : null
  }

  async #tellCancel(run_id: string, agent_id: string, { by, reason }: Cancel): Promise<void> {
    await this.parts.store.signal({ run_id, kind: 'cancel_agent', data: { agent_id, reason }, by })
    // Whoever rests does not hear it.
    await this.wake(run_id, agent_id, 'cancel', { closes: true })
  }

  /** Waits until it has ended, wherever that is, or until this process lets go of it. It was looked at since `bell`. */
  async #ended<T>(
    { end }: ChildTask<T>,
    bell: Bell,
    abandoned: () => string | null,
    settled: () => Promise<void>,
  ): Promise<T> {
    for (;;) {
      const why = abandoned()
      if (why !== null) throw new AbandonedError(why)
      await settled()
      await bell.rung()
      const done = await end()
      if (done !== null) return done
    }
  }

  /** That it may have ended, that it is stopped, and that it asks to write, now or before this process had its parent. */
  async #listenTo({ task: { run_id, agent_id, stage }, stopped, admit }: Listening): Promise<Ears> {
    const bell = new Bell()
    let deafened = false
    let asked = false
    const hear = (signal: Signal) => {
      if (asked || deafened || signal.kind !== 'admit' || signal.run_id !== run_id || agentIn(signal.data) !== agent_id)
        return
      asked = true
      void admit()
        .then((answered) => (answered ? this.tell(run_id, agent_id, 'admitted') : undefined))
        .catch(() => {})
    }
    const deaf = this.#place.onSignal(hear)
    stopped.addEventListener('abort', bell.ring)
    const close = () => {
      deafened = true
      deaf()
      stopped.removeEventListener('abort', bell.ring)
    }
    try {
      const unwatch = await this.#watch.add(run_id, agent_id, bell.ring)
      const caught_up =
        stage === 'fresh'
          ? Promise.resolve()
          : this.#said.get(run_id).then((signals) => {
              for (const signal of signals) hear(signal)
            })
      // Whoever waits for it is told.
      caught_up.catch(() => {})
      return {
        bell,
        caught_up,
        close: () => {
          unwatch()
          close()
        },
      }
    } catch (error) {
      close()
      throw error
    }
  }

  /** Lets go of everything that is at work here: other workers take it up. */
  close(): Promise<void> {
    this.is_closing = true
    return this.#place.close('the worker was stopped')
  }
}

/**
 * One that waits to write lends its place: whoever it waits for may be waiting for one. One that has nobody to wait for lets
 * those go first that are at work and have none: whoever takes their parent up gives the places to the eldest.
 */
async function lent(slot: Slot | null, wait: (() => Promise<void>) | null): Promise<void> {
  if (wait) await (slot ? slot.rest(wait) : wait())
  else await slot?.giveWay()
}

function agentIn(data: unknown): string {
  return String((data as { agent_id?: unknown } | null)?.agent_id)
}
