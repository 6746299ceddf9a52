import { customAlphabet } from 'nanoid'
import { type FoundProfile, profileFieldFaults } from '../control/index.js'
import type { AgentResult, AgentRow, Answer, OpenQuestion, Redactor, StoredEvent } from '../domain/index.js'
import {
  askedFor,
  Dispatch,
  databaseOf,
  type Engine,
  LocalEngine,
  type PresentWorker,
  presentWorkers,
  Routes,
  Words,
  WorkerEngine,
} from '../engine/index.js'
import type { CommitCheck, Host } from '../host/index.js'
import { type Models, recordScript } from '../models/index.js'
import { type Replay, replayRun } from '../runtime/index.js'
import type { Store } from '../store/index.js'
import { commitCheck } from '../tools/index.js'
import type {
  Choices,
  Control,
  FanOut,
  FanOutOptions,
  GoalOptions,
  KeptTree,
  PlanCheck,
  PlanOptions,
  PlanOutcome,
  PlanRun,
  Reachable,
  Retinue,
  Run,
  RunOptions,
  RunResult,
  RunSummary,
  Sessions,
  Settings,
  SpawnResult,
  SpawnTask,
  WaitOptions,
  Watching,
} from './api.js'
import { Callers } from './callers.js'
import { Catalogs } from './catalogs.js'
import { createControl } from './control-plane.js'
import { RetinueError } from './errors.js'
import type { OpenedStore } from './open-store.js'
import { checkOptions, copied, runOptionsSchema, signalOf, watchingSchema } from './options.js'
import { fanOutResults, isFanOut } from './programs/fan-out.js'
import { copiedOptions, outcomeIn } from './programs/plan-runs.js'
import { noProgram, ProgramRuns } from './programs/program-runs.js'
import { createConfigSurroundings } from './project/configuration.js'
import type { Reach } from './project/reach.js'
import { Answering } from './runs/answers.js'
import { RunDriver } from './runs/driver.js'
import { RunHandle, type Started } from './runs/handle.js'
import { KeptRuns } from './runs/kept.js'
import { DEFAULT_CONCURRENT, Preparation, type RunParts } from './runs/preparation.js'
import { RunReader } from './runs/reader.js'
import { createSessions } from './sessions.js'
import { Advancing } from './workers/advancing.js'
import { Departures } from './workers/departures.js'
import { FarRuns } from './workers/far-runs.js'
import { hereIn } from './workers/here.js'
import { travelOf } from './workers/itineraries.js'
import { refusalsOf, type WorkerRefusal } from './workers/refusals.js'
import { NOWHERE, Waker } from './workers/waker.js'

/** `worker`: agents that are given to the workers are worked on in this process. `face`: it gives them. */
export type Role = { kind: 'face' } | { kind: 'worker'; labels: readonly string[] }

const newId = customAlphabet('0123456789abcdefghijkmnpqrstuvwxyz', 10)

export class LocalRetinue implements Retinue {
  readonly cwd: string
  readonly store: Store
  readonly models: Models
  readonly #engine: Engine
  readonly #reader: RunReader
  readonly #driver: RunDriver
  readonly #answering: Answering
  readonly #programs: ProgramRuns
  readonly #preparation: Preparation
  readonly #reach: Reach
  readonly #redactor: Redactor
  readonly #settings: Settings
  readonly #kept: KeptRuns
  readonly #catalogs: Catalogs
  readonly #callers: Callers
  readonly #opened: OpenedStore
  readonly #now: () => number
  readonly #host: Host
  /** The project that it was given; undefined: the folder says which it is. */
  readonly #project: string | undefined
  readonly sessions: Sessions
  readonly engine: 'local' | 'dbos'
  /** The URL of the store, where that is a database. */
  readonly #database: string | null

  /** What gives agents to the workers. null: they work in this process. */
  readonly dispatch: Dispatch | null
  readonly advancing: Advancing | null = null
  readonly #far: FarRuns | null
  readonly #waker: Waker
  readonly #words: Words | null

  constructor(
    parts: Omit<RunParts, 'store'> & {
      opened: OpenedStore
      found: () => Promise<FoundProfile[]>
      database: string | null
      dispatch: Dispatch | null
      project: string | undefined
      role: Role
    },
  ) {
    const { cwd, host, opened, models, reach, redactor, settings } = parts
    const { store } = opened
    this.cwd = cwd
    this.store = store
    this.models = models
    this.#reach = reach
    this.#redactor = redactor
    this.#settings = settings
    this.#opened = opened
    const catalogs = new Catalogs({ store, settings, found: parts.found, checkStore: () => opened.check() })
    this.#catalogs = catalogs
    this.#now = host.clock.now
    this.#host = host
    this.#project = parts.project
    this.sessions = createSessions({ store, cwd, redactor, now: host.clock.now, new_id: newId })
    this.#callers = new Callers({ cwd, store, settings, catalogs, sessions: this.sessions, user: host.user })
    const { dispatch, role } = parts
    this.dispatch = dispatch
    this.engine = dispatch ? 'dbos' : 'local'
    this.#database = parts.database
    const { clock, identity } = host
    const worker =
      dispatch && role.kind === 'worker'
        ? new WorkerEngine({ store, clock, identity, dispatch, labels: role.labels })
        : null
    this.#engine = worker ?? new LocalEngine(store, clock, identity, settings.max_concurrent ?? DEFAULT_CONCURRENT)
    this.#preparation = new Preparation({ ...parts, store, elsewhere: this.#engine.answers })
    this.#reader = new RunReader(store, this.#engine, (ids) => this.#askedFor(ids))
    this.#answering = new Answering({ store, reader: this.#reader, clock: host.clock, redactor })
    const check = commitCheck(redactor, () => true)
    const checkout = dispatch?.here.checkout ?? null
    const here = async () => checkout ?? (await host.checkout(cwd)).id
    const travel = (run_id: string) => travelOf(store, run_id, here)
    this.#kept = new KeptRuns({ host, cwd, reader: this.#reader, check, travel })
    const words = dispatch ? new Words(dispatch.database) : null
    this.#words = words
    const far = dispatch && words && !worker ? this.#farRuns(dispatch, words, { host, check }) : null
    this.#far = far
    this.#waker = this.#openWaker()
    this.#driver = new RunDriver({
      ...{ far, waker: this.#waker, cwd, host, store, reach, redactor, reader: this.#reader, new_id: newId },
      ...{ checkout: worker && checkout, kept: this.#kept },
      ...{ engine: this.#engine, preparation: this.#preparation, catalogs: this.#catalogs },
    })
    if (worker && words && dispatch) {
      const mine = { driver: this.#driver, preparation: this.#preparation, words, here: dispatch.here }
      this.advancing = new Advancing({ cwd, host, store, engine: worker, redactor, ...mine })
    }
    this.#programs = new ProgramRuns({
      ...{ cwd, store, settings, catalogs, callers: this.#callers },
      ...{ preparation: this.#preparation, driver: this.#driver },
    })
  }

  #farRuns(dispatch: Dispatch, words: Words, { host, check }: { host: Host; check: CommitCheck }): FarRuns {
    const { store, cwd } = this
    const { here, database } = dispatch
    const workers = async () => (await presentWorkers(database, host.identity)) ?? []
    return new FarRuns({
      ...{ store, dispatch, words },
      departures: new Departures({ host, cwd, here, check, workers }),
      answer: (...said) => this.#answering.answer(...said),
      proposal: (...asked) => this.#driver.proposal(...asked),
    })
  }

  #openWaker(): Waker {
    const { dispatch } = this
    const database = this.#database
    if (dispatch) return new Waker(() => dispatch)
    if (database === null) return new Waker(null)
    return new Waker(() => new Dispatch(databaseOf(database), NOWHERE, new Routes(this.store)))
  }

  /** Whoever cannot look at the queues, or may not, takes it that what was given to the workers is in them. */
  async #askedFor(run_ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.#database === null) return new Set()
    return askedFor(databaseOf(this.#database), run_ids).catch(() => new Set(run_ids))
  }

  #handle(run_id: string, options: unknown, start: (started: Started) => Promise<RunResult>): RunHandle {
    // What a worker begins itself it works on itself.
    const of = { store: this.store, engine: this.#far ? ('dbos' as const) : ('local' as const) }
    return new RunHandle(of, run_id, signalOf(options), (started) => this.#telling(() => start(started)))
  }

  run(options: RunOptions): Run {
    const run_id = newId()
    return this.#handle(run_id, options, (started) => this.#start(run_id, options, started))
  }

  resume(run_id: string, watching: Watching = {}): Run {
    return this.#handle(run_id, watching, async (started) => {
      checkOptions(watchingSchema, watching)
      return this.#driver.goOn(run_id, watching, started, (mode) => this.#callers.operator(watching.principal, mode))
    })
  }

  adopt(): Promise<boolean> {
    return this.#opened.adopt()
  }

  /** What is told when something fails goes to a terminal or a log of somebody's: secrets stay out of it too. */
  async #telling<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof RetinueError) throw new RetinueError(error.code, this.#redactor.redact(error.message))
      throw error
    }
  }

  async #start(run_id: string, given: RunOptions, started: Started): Promise<RunResult> {
    checkOptions(runOptionsSchema, given)
    if (typeof given?.task !== 'string' || given.task.trim() === '')
      throw new RetinueError('input', 'The task is empty: say what is to be done')
    noProgram(given.model)
    const options = await this.#callers.inSession(given)
    const catalog = await this.#catalogs.load()
    const operator = this.#callers.operator(options.principal, options.mode ?? this.#settings.mode ?? 'normal')
    const as = await this.#callers.profileOf(options, operator, catalog)
    const choice = await this.#preparation.chooseModel(options.model, as)
    return this.#driver.begin(run_id, options, { ...choice, catalog, as }, started)
  }

  choices(asked: { session_id?: string; principal?: string } = {}): Promise<Choices> {
    return this.#callers.choices(asked)
  }

  control(principal?: string): Control {
    return createControl({
      check: () => this.#opened.check(),
      records: this.store,
      catalog: () => this.#catalogs.load({ lenient: true }),
      principal: this.#callers.principal(principal),
      workspace_root: this.cwd,
      session: (session_id) => this.sessions.known(session_id),
      redactor: this.#redactor,
      ...{ now: this.#now, new_id: newId },
      profile_faults: (profile) => profileFieldFaults(profile, createConfigSurroundings().tools),
    })
  }

  spawn(task: SpawnTask, options: FanOutOptions = {}): Promise<SpawnResult> {
    return this.fanOut([task], options)
      .results()
      .then(([result]) => result as SpawnResult)
  }

  fanOut(tasks: readonly SpawnTask[], options: FanOutOptions = {}): FanOut {
    const run_id = newId()
    const order = copied('tasks', tasks)
    const budget = copied('budget', options?.budget)
    const { delegation } = options ?? {}
    const given = options && { ...options, ...(delegation ? { delegation: { ...delegation } } : {}) }
    const start = async (started: Started) => {
      const limits = budget()
      return this.#programs.fanOut(run_id, order(), limits ? { ...given, budget: limits } : given, started)
    }
    const handle = this.#handle(run_id, options, start)
    const results = async () => {
      await handle.result()
      return this.spawnResults(run_id)
    }
    return Object.assign(handle, { results })
  }

  async spawnResults(run_id: string): Promise<SpawnResult[]> {
    const { memory } = await this.#reader.root((await this.find(run_id)).run_id)
    if (!isFanOut(memory.contract)) throw new RetinueError('input', `Run ${run_id} is no fan-out of a program`)
    return fanOutResults(memory, (digest) => this.store.blob(digest))
  }

  planForGoal(goal: string, options: GoalOptions = {}): PlanRun {
    const as = copiedOptions(options)
    return this.#planRun(options, (run_id, started) => this.#programs.planForGoal(run_id, goal, as(), started))
  }

  executePlan(plan: unknown, options: PlanOptions = {}): PlanRun {
    const given = copied('plan', plan)
    const as = copiedOptions(options)
    return this.#planRun(options, (run_id, started) => this.#programs.executePlan(run_id, given(), as(), started))
  }

  #planRun(options: PlanOptions, start: (run_id: string, started: Started) => Promise<RunResult>): PlanRun {
    const run_id = newId()
    const handle = this.#handle(run_id, options, async (started) => start(run_id, started))
    const outcome = async () => {
      await handle.result()
      return this.planOutcome(run_id)
    }
    return Object.assign(handle, { outcome })
  }

  checkPlan(plan: unknown, options: PlanOptions = {}): Promise<PlanCheck> {
    const given = copied('plan', plan)
    const as = copiedOptions(options)
    return this.#telling(async () => this.#programs.checkPlan(given(), as()))
  }

  async planOutcome(run_id: string): Promise<PlanOutcome> {
    const { memory } = await this.#reader.root((await this.find(run_id)).run_id)
    return outcomeIn(memory)
  }

  pause(run_id: string, by: string, reason: string, options?: WaitOptions): Promise<RunSummary> {
    return this.#driver.pause(run_id, by, reason, options)
  }

  cancel(run_id: string, by: string, reason: string, options?: WaitOptions): Promise<RunResult> {
    return this.#driver.cancel(run_id, by, reason, options)
  }

  cancelAgent(
    run_id: string,
    agent_id: string,
    by: string,
    reason: string,
    options?: WaitOptions,
  ): Promise<AgentResult> {
    return this.#driver.cancelAgent(run_id, agent_id, by, reason, options)
  }

  runs(query: { session_id?: string; limit?: number } = {}): Promise<RunSummary[]> {
    return this.#reader.runs(query)
  }

  find(id: string): Promise<RunSummary> {
    return this.#reader.find(id)
  }

  agents(run_id: string): Promise<AgentRow[]> {
    return this.store.agents(run_id)
  }

  events(run_id: string): Promise<StoredEvent[]> {
    return this.store.read({ run_id })
  }

  follow(run_id: string, signal?: AbortSignal): AsyncIterable<StoredEvent> {
    return this.store.follow({ run_id, ...(signal ? { signal } : {}) })
  }

  async questions(run_id: string): Promise<OpenQuestion[]> {
    return this.#answering.questions(run_id)
  }

  async answer(run_id: string, answer: Answer, by: string): Promise<void> {
    return this.#telling(() => this.#answering.answer(run_id, answer, by))
  }

  result(run_id: string): Promise<RunResult | null> {
    return this.#reader.result(run_id)
  }

  async workers({ all = false }: { all?: boolean } = {}): Promise<PresentWorker[]> {
    if (this.#database === null) {
      throw new RetinueError(
        'config',
        'Workers share a PostgreSQL database: name it with store: postgres://…, --store or RETINUE_STORE',
      )
    }
    const present = (await presentWorkers(databaseOf(this.#database), this.#host.identity)) ?? []
    if (all) return present
    const { project, checkout: id } = this.dispatch?.here ?? (await hereIn(this.#host, this.cwd, this.#project))
    return present.filter((worker) => worker.project_id === project || worker.checkout === id)
  }

  async refusals(id: string): Promise<WorkerRefusal[]> {
    return refusalsOf(this.store, (await this.#reader.find(id)).run_id)
  }

  async reachable(): Promise<Reachable> {
    const { servers, skills, notes } = await this.#reach.open()
    return {
      servers: servers.map(({ name, state, version, message, tools }) => ({ name, state, version, message, tools })),
      skills: skills.map(({ name, description, file }) => ({ name, description, file })),
      notes: [...notes],
    }
  }

  diff(run_id: string, options?: { agent_id?: string; stat?: boolean }): Promise<string> {
    return this.#kept.diff(run_id, options)
  }

  apply(
    run_id: string,
    options?: { agent_id?: string; commit?: boolean },
  ): Promise<{ paths: string[]; commit: string | null }> {
    return this.#kept.apply(run_id, options)
  }

  canBring(run_id: string, agent_id?: string): Promise<boolean> {
    return this.#kept.canBring(run_id, agent_id)
  }

  discard(run_id: string): Promise<KeptTree[]> {
    return this.#kept.discard(run_id)
  }

  worktrees(): Promise<KeptTree[]> {
    return this.#kept.worktrees()
  }

  gc(): Promise<{ removed: KeptTree[]; kept: KeptTree[] }> {
    return this.#kept.gc()
  }

  async script(run_id: string): Promise<string> {
    return recordScript(await this.events(run_id))
  }

  replay(run_id: string): Promise<Replay> {
    return replayRun(this.store, run_id)
  }

  /** What runs that were begun in other checkouts have left here. */
  sweep(): Promise<void> {
    return this.#kept.sweep()
  }

  /** Of all that is at work in this process. */
  letGo(): Promise<void> {
    return this.#engine.close()
  }

  async close(): Promise<void> {
    try {
      await this.#engine.close()
      await this.#reach.close()
    } finally {
      this.#far?.close()
      await this.#words?.close()
      await this.#waker.close()
      await this.dispatch?.close()
      await this.store.close()
    }
  }
}
