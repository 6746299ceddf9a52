import { setTimeout as sleep } from 'node:timers/promises'
import { customAlphabet } from 'nanoid'
import type { Identity } from '../../host/index.js'
import { reasonOf } from '../../store/index.js'
import { OWN_TIMEOUT } from './database.js'
import { ADVANCE, APPLICATION, APPLICATION_VERSION, type Dispatch, QUIET, whyOf } from './dispatch.js'
import { LostClaims } from './lost-claims.js'
import { limitHere } from './own-limit.js'
import { openPool } from './pool.js'
import { Reach } from './reach.js'
import { Roll, SILENT_MS } from './roll.js'
import { queuesFor } from './routes.js'
import { changedLimits, type SharedLimits, sharedLimits } from './shared-limits.js'

/** How often it says that it is there. */
const BEAT_MS = 1000
/** How often it looks for those that are not any more. */
const LOOK_MS = 1000
/** How often the queue is looked at when nothing else says that there is work. */
const POLL_MS = 50
/** To the database, for the queue alone. */
const CONNECTIONS = 10
/** What one says who is told to stop is heard by the others as soon as that. */
const GRACE_MS = 20_000
/** How often what was done long ago is removed. */
const TIDY_MS = 60_000
/** Before one that failed is tried again, here or elsewhere. */
const AGAIN_MS = 2000

/**
 * What is never done stays among what this worker has, and others take it up when it is gone; what fails would be done
 * for good.
 */
const NEVER_DONE = new Promise<never>(() => {})

/** So many refusals are kept in mind. */
const MOST_REFUSED = 1000

const newName = customAlphabet('0123456789abcdefghijkmnpqrstuvwxyz', 8)

/** What a person should hear of. */
export type WorkerNews = { kind: 'took_up' | 'problem' | 'mended' | 'note'; text: string }

/**
 * How a worker is. `ok`: it takes agents, and has reached the database a moment ago. `silent_ms`: since it did. `done`:
 * how often it was done with an agent, for good or until that is woken.
 */
export type WorkerHealth = {
  ok: boolean
  id: string
  concurrency: number
  labels: readonly string[]
  at_once: number | null
  per_run: number | null
  working: number
  done: number
  stopping: boolean
  silent_ms: number
  problem: string | null
}

type WorkerParts = {
  dispatch: Dispatch
  /** The name of this machine. */
  machine: string
  identity: Identity
  project: string
  concurrency: number
  /** What this machine has that others have not. */
  labels: readonly string[]
  limits: SharedLimits
  version: string
  /** `why`: as whoever wanted it worked on said. */
  advance: (run_id: string, agent_id: string, why: string) => Promise<string>
  /** Lets go of all that is at work. */
  letGo: () => Promise<void>
  /** For whoever waits for the agent. */
  refused: (refusal: { run_id: string; agent_id: string; worker: string; reason: string }) => Promise<void>
  /** Removes from this checkout what runs of others have left. */
  sweep: () => Promise<void>
  /** An agent that could not be worked on here, a database that is away. */
  say: (news: WorkerNews) => void
}

/** A process that takes agents from the queue, as many at once as it may. There is one in a process: DBOS has no more. */
export class QueueWorker {
  readonly id: string
  readonly #roll: Roll
  #pool: Awaited<ReturnType<typeof openPool>> | null = null
  readonly #reach: Reach
  readonly #timers: NodeJS.Timeout[] = []
  #stopped: Promise<void> | null = null
  #working = 0
  #done = 0
  #beaten_at = 0
  #tidied_at = 0
  #beating: Promise<void> | null = null
  #looking: Promise<void> | null = null
  #sweeping: Promise<void> | null = null
  #unlimit = () => {}
  /** The workflows that are under way here. */
  readonly #begun = new Set<string>()
  readonly #lost = new LostClaims()
  /** Why agents could not be worked on here. */
  readonly #refused = new Map<string, string>()

  constructor(private readonly parts: WorkerParts) {
    const { dispatch, machine, identity, project, concurrency, labels, limits, version } = parts
    this.id = `${machine}-${process.pid}-${newName()}`
    const { owner } = identity
    const where = { project, project_id: dispatch.here.project, checkout: dispatch.here.checkout }
    const who = { name: this.id, owner, host: machine, pid: process.pid }
    const info = { ...who, ...where, concurrency, labels, ...limits, version }
    this.#roll = new Roll(dispatch.database, this.id, info, identity)
    this.#reach = new Reach(parts.say)
  }

  async start(): Promise<void> {
    const { DBOS } = await import('@dbos-inc/dbos-sdk')
    if (DBOS.isInitialized()) throw new Error('There is one worker in a process, and this has one: stop that first')
    try {
      await this.#start()
    } catch (error) {
      await DBOS.shutdown({ deregister: true }).catch(() => {})
      this.#unlimit()
      await this.#pool?.end().catch(() => {})
      await this.#leave()
      throw error
    }
  }

  async #start(): Promise<void> {
    const { dispatch, concurrency, labels } = this.parts
    const queues = queuesFor(dispatch.here, labels)
    const { DBOS } = await import('@dbos-inc/dbos-sdk')
    this.#pool = await openPool(dispatch.database, CONNECTIONS)
    const advance = (run_id: string, agent_id: string) => this.#workflow(DBOS.workflowID ?? '', run_id, agent_id)
    DBOS.registerWorkflow(advance, { name: ADVANCE })
    DBOS.setConfig({
      name: APPLICATION,
      systemDatabaseUrl: dispatch.database.url,
      systemDatabasePool: this.#pool,
      systemDatabaseSchemaName: dispatch.database.schema,
      applicationVersion: APPLICATION_VERSION,
      executorID: this.id,
      listenQueues: queues,
      maxConcurrentQueueDispatches: 1,
      logger: QUIET,
      ...OWN_TIMEOUT,
    })
    await dispatch.open()
    this.#unlimit = await limitHere(queues, concurrency)
    // Before it takes anything: whoever has something and is not on the roll is taken for dead.
    await this.#roll.beat()
    this.#beaten_at = Date.now()
    this.#timers.push(setInterval(() => this.#beat(), BEAT_MS))
    await DBOS.launch()
    for (const queue of queues) {
      await DBOS.registerQueue(queue, {
        ...sharedLimits(this.parts.limits),
        minPollingIntervalMs: POLL_MS,
        onConflict: 'always_update',
      })
    }
    // It is said, and no reason to end.
    const before = await this.#roll.share(this.parts.limits).catch(() => [])
    for (const text of changedLimits(this.parts.limits, before)) this.parts.say({ kind: 'note', text })
    this.#timers.push(setInterval(() => this.#look(), LOOK_MS))
  }

  health(): WorkerHealth {
    const stopping = this.#stopped !== null
    const silent_ms = Date.now() - this.#beaten_at
    const { concurrency, labels } = this.parts
    const figures = { concurrency, labels, ...this.#roll.limits, working: this.#working, done: this.#done }
    return {
      ...{ ok: !stopping && silent_ms < SILENT_MS, id: this.id, ...figures },
      ...{ stopping, silent_ms, problem: this.#reach.problem },
    }
  }

  /** Takes nothing more; what is at work has a while to come to rest, and is then let go of. */
  stop(grace_ms = GRACE_MS): Promise<void> {
    this.#stopped ??= this.#stop(grace_ms)
    return this.#stopped
  }

  async #stop(grace_ms: number): Promise<void> {
    const { DBOS } = await import('@dbos-inc/dbos-sdk')
    const late = setTimeout(() => void this.parts.letGo(), grace_ms)
    // A little longer than they have, so that those that are let go of can say so.
    await DBOS.shutdown({ workflowCompletionTimeoutMS: grace_ms + AGAIN_MS, deregister: true })
    this.#unlimit()
    await this.#pool?.end().catch(() => {})
    clearTimeout(late)
    await this.parts.letGo()
    await this.#looking
    await this.#sweeping
    // Not before: whoever does not say that it is there is taken for dead, and what it works on is given to others.
    await this.#leave()
  }

  async #leave(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#beating
    await this.#roll.leave()
  }

  async #workflow(id: string, run_id: string, agent_id: string): Promise<string> {
    this.#begun.add(id)
    try {
      return await this.#advance(run_id, agent_id, whyOf(id))
    } finally {
      this.#begun.delete(id)
    }
  }

  async #advance(run_id: string, agent_id: string, why: string): Promise<string> {
    if (this.#stopped) return this.#giveBack(run_id, agent_id)
    this.#working += 1
    try {
      const advanced = await this.parts.advance(run_id, agent_id, why)
      this.#refused.delete(`${run_id}/${agent_id}`)
      return advanced
    } catch (error) {
      await this.#refuse(run_id, agent_id, reasonOf(error))
      await this.#again(run_id, agent_id)
      return 'failed'
    } finally {
      this.#working -= 1
      this.#done += 1
    }
  }

  /** Whoever waits for it gets to know why this worker is none for it. It is said once, however often it is tried. */
  async #refuse(run_id: string, agent_id: string, reason: string): Promise<void> {
    const key = `${run_id}/${agent_id}`
    if (this.#refused.get(key) === reason) return
    if (this.#refused.size >= MOST_REFUSED) this.#refused.clear()
    this.#refused.set(key, reason)
    const text = `${agent_id} of run ${run_id} could not be worked on here, and is tried again: ${reason}`
    this.parts.say({ kind: 'problem', text })
    // A database that is away is met by what gives it back.
    await this.parts.refused({ run_id, agent_id, worker: this.id, reason }).catch(() => {})
  }

  /** It was taken from the queue in the moment in which that was closed. Any worker may have been meant, to close it. */
  async #giveBack(run_id: string, agent_id: string): Promise<string> {
    const wake = { run_id, agent_id, why: `given-back-${newName()}`, closes: true }
    return this.parts.dispatch.wake(wake).then(
      () => 'left',
      () => NEVER_DONE,
    )
  }

  /** Another may be able to, or this one in a while. As long as that cannot be written down, it is not done. */
  async #again(run_id: string, agent_id: string): Promise<void> {
    const wake = { run_id, agent_id, why: `failed-${newName()}`, delay_ms: AGAIN_MS, closes: true }
    while (
      !(await this.parts.dispatch.wake(wake).then(
        () => true,
        () => false,
      ))
    ) {
      if (this.#stopped) return NEVER_DONE
      await sleep(AGAIN_MS)
    }
  }

  /** One at a time, however slow the database is. It waits for nothing else: who is late with it is taken for dead. */
  #beat(): void {
    const beat = async () => {
      await this.#roll.beat()
      this.#beaten_at = Date.now()
    }
    this.#beating ??= this.#reach.during('beat', beat).finally(() => {
      this.#beating = null
    })
  }

  /** One at a time too, and it may take its time. */
  #look(): void {
    if (this.#stopped !== null) return
    const look = async () => {
      await this.#takeUp()
      if (this.#stopped === null) await this.#tidy()
    }
    this.#looking ??= this.#reach.during('look', look).finally(() => {
      this.#looking = null
    })
  }

  async #tidy(): Promise<void> {
    if (Date.now() - this.#tidied_at < TIDY_MS) return
    this.#tidied_at = Date.now()
    await this.parts.dispatch.tidy()
    // Nobody waits for it, who looks for the dead least of all. What cannot be removed now is there the next time.
    this.#sweeping ??= this.parts
      .sweep()
      .catch(() => {})
      .finally(() => {
        this.#sweeping = null
      })
  }

  async #takeUp(): Promise<void> {
    const { dispatch, say } = this.parts
    const claims = await dispatch.claims()
    const others = new Set(claims.map(({ executor }) => executor).filter((executor) => executor !== this.id))
    const gone = await this.#roll.gone([...others])
    const taken = gone.length > 0 ? await dispatch.takeUp(gone) : 0
    if (taken > 0) say({ kind: 'took_up', text: `Took up ${taken} that a worker left when it ended` })
    const own = claims.filter(({ executor }) => executor === this.id)
    const lost = this.#lost.among(own, this.#begun)
    if (lost.length === 0) return
    await dispatch.giveBack(lost)
    say({ kind: 'took_up', text: `Gave back ${lost.length} that it had without having been told` })
  }
}
