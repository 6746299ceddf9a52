import { isAbsolute, join, relative, resolve } from 'node:path'
import { customAlphabet } from 'nanoid'
import { Advancing } from './advancing.js'
import { Answering } from './answers.js'
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
  RetinueOptions,
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
import { Catalogs } from './catalogs.js'
import { createConfigSurroundings } from './configuration.js'
import {
  type Catalog,
  effectivePin,
  type FoundProfile,
  listProfiles,
  localPrincipalId,
  profileFieldFaults,
  resolveProfile,
  workspaceId,
} from './control/index.js'
import { createControl, principalFor } from './control-plane.js'
import { Departures } from './departures.js'
import {
  type AgentResult,
  type AgentRow,
  type Answer,
  createRedactor,
  isAtLeast,
  isDatabaseUrl,
  type Mode,
  narrowerMode,
  type OpenQuestion,
  type PinPlace,
  type Principal,
  type Redactor,
  type StoredEvent,
} from './domain/index.js'
import {
  Dispatch,
  databaseOf,
  type Engine,
  LocalEngine,
  type PresentWorker,
  presentWorkers,
  Routes,
  Words,
  WorkerEngine,
} from './engine/index.js'
import { RetinueError } from './errors.js'
import { fanOutResults, isFanOut } from './fan-out.js'
import { FarRuns } from './far-runs.js'
import { hereIn } from './here.js'
import { type CommitCheck, createHost, type Host, type Identity } from './host/index.js'
import { travelOf } from './itineraries.js'
import { KeptRuns } from './kept-runs.js'
import { createModels, type Models, recordScript } from './models/index.js'
import { checkOptions, copied, retinueOptionsSchema, runOptionsSchema, signalOf, watchingSchema } from './options.js'
import { copiedOptions, outcomeIn } from './plan-runs.js'
import { type As, DEFAULT_CONCURRENT, Preparation, type RunParts } from './preparation.js'
import { noProgram, ProgramRuns } from './program-runs.js'
import { Reach } from './reach.js'
import { refusalsOf, type WorkerRefusal } from './refusals.js'
import { RunDriver } from './run-driver.js'
import { RunHandle, type Started } from './run-handle.js'
import { RunReader } from './run-reader.js'
import { type Replay, replayRun } from './runtime/index.js'
import { findSecrets, secretsOfStore } from './secrets.js'
import { createSessions } from './sessions.js'
import { openPostgresStore, openSqliteStore, type Store } from './store/index.js'
import { commitCheck } from './tools/index.js'

export function createRetinue(options: RetinueOptions = {}): Promise<Retinue> {
  return assemble(options, { kind: 'face' })
}

/** `worker`: agents that are given to the workers are worked on in this process. `face`: it gives them. */
type Role = { kind: 'face' } | { kind: 'worker'; labels: readonly string[] }

/** A Retinue whose process is a worker. */
export async function createWorkerRetinue(
  options: RetinueOptions & { store: string },
  labels: readonly string[],
): Promise<{
  retinue: Retinue
  advancing: Advancing
  dispatch: Dispatch
  machine: string
  identity: Identity
  letGo: () => Promise<void>
  sweep: () => Promise<void>
}> {
  const host = options.host ?? createHost()
  const retinue = await assemble({ ...options, host, engine: 'dbos' }, { kind: 'worker', labels })
  const { advancing, dispatch } = retinue
  if (!advancing || !dispatch) throw new Error('A worker has something to work with')
  const [machine = ''] = host.identity.owner.split(':')
  const { identity } = host
  return { retinue, advancing, dispatch, machine, identity, letGo: () => retinue.letGo(), sweep: () => retinue.sweep() }
}

async function assemble(options: RetinueOptions, role: Role): Promise<LocalRetinue> {
  checkOptions(retinueOptionsSchema, options)
  const host = options.host ?? createHost()
  const env = options.env ?? process.env
  const folder = resolve(options.cwd ?? process.cwd())
  const cwd = await openFolder(host, folder)
  const database = options.engine === 'dbos' ? databaseFor(options.store) : null
  const { store, foreign, gone } = await openStore(options.store ?? join(cwd, '.retinue', 'retinue.db'), { host, cwd })
  const dispatch = database && new Dispatch(database, await hereIn(host, cwd, options.project), new Routes(store))
  const models = options.models ?? createModels({ env, scripts_root: cwd, readText: host.readText })
  const { reach: sources = {} } = options
  const labels = dispatch ? null : (options.settings?.labels ?? [])
  const reach = new Reach(
    host,
    { cwd, env, has_labels: labels === null || labels.length > 0 },
    typeof sources === 'function' ? sources : async () => sources,
  )
  const redactor = createRedactor([
    ...findSecrets({ env, named: options.settings?.secrets ?? [] }),
    ...(options.secrets ?? []),
    ...secretsOfStore(options.store),
  ])
  const named_secrets = [...(options.settings?.secrets ?? []), ...(options.secrets ?? []).map(({ name }) => name)]
  return new LocalRetinue({
    cwd,
    host,
    store,
    models,
    reach,
    redactor,
    named_secrets,
    labels,
    settings: options.settings ?? {},
    found: options.profiles ?? (async () => []),
    foreign,
    gone,
    database: typeof options.store === 'string' && isDatabaseUrl(options.store) ? options.store : null,
    dispatch,
    project: options.project,
    role,
  })
}

function databaseFor(store: Store | string | undefined): ReturnType<typeof databaseOf> {
  if (typeof store === 'string' && isDatabaseUrl(store)) return databaseNamed(store)
  throw new RetinueError(
    'config',
    'The engine dbos runs agents on the PostgreSQL that has the log: name one with store: postgres://…, or leave engine: local',
  )
}

function databaseNamed(url: string): ReturnType<typeof databaseOf> {
  try {
    return databaseOf(url)
  } catch (error) {
    throw new RetinueError('config', (error as Error).message)
  }
}

/** The real path of a folder that can be worked in. */
export async function openFolder(host: Host, folder: string): Promise<string> {
  const opened = await host.workspace(folder).catch((error: Error) => error)
  if (opened instanceof Error) throw new RetinueError('input', `Cannot work in ${folder}: ${opened.message}`)
  return opened.root
}

/** A store that lies in the folder and was not made there: what is in it may be a stranger's. */
type Foreign = { file: string; adopt: () => Promise<void> }

/** The file of a store that was removed while it was open, or null. */
type Gone = () => Promise<string | null>

async function openStore(
  store: Store | string,
  { host, cwd }: { host: Host; cwd: string },
): Promise<{ store: Store; foreign: Foreign | null; gone: Gone }> {
  const kept = async () => null
  if (typeof store !== 'string') return { store, foreign: null, gone: kept }
  if (isDatabaseUrl(store)) {
    const opened = await openPostgresStore({ url: store, clock: host.clock })
    if (!opened.ok) throw new RetinueError('store', opened.message)
    return { store: opened.store, foreign: null, gone: kept }
  }
  const opened = await openSqliteStore({ file: store, clock: host.clock })
  if (!opened.ok) throw new RetinueError('store', opened.message)
  const path = relative(cwd, store)
  const inside = !path.startsWith('..') && !isAbsolute(path)
  // One that lies elsewhere is there because the person put it there.
  if (!opened.made_here && !inside) await opened.adopt()
  const foreign = opened.made_here || !inside ? null : { file: path, adopt: opened.adopt }
  const gone = async () => ((await opened.isThere()) ? null : inside ? path : store)
  return { store: opened.store, foreign, gone }
}

const newId = customAlphabet('0123456789abcdefghijkmnpqrstuvwxyz', 10)

class LocalRetinue implements Retinue {
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
  #foreign: Foreign | null
  readonly #gone: Gone
  /** The name of the person whose process this is. */
  readonly #local: string
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
  readonly #words: Words | null

  constructor(
    parts: RunParts & {
      found: () => Promise<FoundProfile[]>
      foreign: Foreign | null
      gone: Gone
      database: string | null
      dispatch: Dispatch | null
      project: string | undefined
      role: Role
    },
  ) {
    const { cwd, host, store, models, reach, redactor, settings } = parts
    this.cwd = cwd
    this.store = store
    this.models = models
    this.#reach = reach
    this.#redactor = redactor
    this.#settings = settings
    this.#foreign = parts.foreign
    this.#gone = parts.gone
    this.#catalogs = new Catalogs({ store, settings, found: parts.found, checkStore: () => this.#checkStore() })
    this.#local = localPrincipalId(host.user)
    this.#now = host.clock.now
    this.#host = host
    this.#project = parts.project
    this.sessions = createSessions({ store, cwd, redactor, now: host.clock.now, new_id: newId })
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
    this.#preparation = new Preparation({ ...parts, elsewhere: this.#engine.answers })
    this.#reader = new RunReader(store, this.#engine)
    this.#answering = new Answering({ store, reader: this.#reader, clock: host.clock, redactor })
    const check = commitCheck(redactor, () => true)
    const checkout = dispatch?.here.checkout ?? null
    const travel = async (run_id: string) => travelOf(store, run_id, checkout ?? (await host.checkout(cwd)).id)
    this.#kept = new KeptRuns({ host, cwd, reader: this.#reader, check, travel })
    const words = dispatch ? new Words(dispatch.database) : null
    this.#words = words
    const far = dispatch && words && !worker ? this.#farRuns(dispatch, words, { host, check }) : null
    this.#far = far
    this.#driver = new RunDriver({
      ...{ far, cwd, host, store, reach, redactor, reader: this.#reader, new_id: newId },
      ...{ checkout: worker && checkout, kept: this.#kept },
      ...{ engine: this.#engine, preparation: this.#preparation, catalogs: this.#catalogs },
    })
    if (worker && words) {
      const known = { preparation: this.#preparation, checkout: checkout as string }
      const mine = { driver: this.#driver, ...known, words }
      this.advancing = new Advancing({ cwd, host, store, engine: worker, redactor, ...mine })
    }
    this.#programs = new ProgramRuns({
      ...{ cwd, store, settings, catalogs: this.#catalogs, preparation: this.#preparation, driver: this.#driver },
      inSession: (given) => this.#inSession(given),
      allow: (principal, mode) => this.#operator(principal, mode),
    })
  }

  #farRuns(dispatch: Dispatch, words: Words, { host, check }: { host: Host; check: CommitCheck }): FarRuns {
    const { store, cwd } = this
    const { here, database } = dispatch
    const workers = async () => (await presentWorkers(database)) ?? []
    return new FarRuns({
      ...{ store, dispatch, words },
      departures: new Departures({ host, cwd, here, check, workers }),
      answer: (...said) => this.answer(...said),
      proposal: (...asked) => this.#driver.proposal(...asked),
    })
  }

  run(options: RunOptions): Run {
    const run_id = newId()
    return new RunHandle(this.store, run_id, signalOf(options), (started) =>
      this.#telling(() => this.#start(run_id, options, started)),
    )
  }

  resume(run_id: string, watching: Watching = {}): Run {
    return new RunHandle(this.store, run_id, signalOf(watching), (started) =>
      this.#telling(async () => {
        checkOptions(watchingSchema, watching)
        return this.#driver.goOn(run_id, watching, started, (mode) => this.#operator(watching.principal, mode))
      }),
    )
  }

  /**
   * Whatever works asks this first: pins, agents, sessions and runs of a store that came with the folder would be a
   * stranger's words about what may be done here, and one that was removed keeps nothing.
   */
  async #checkStore(): Promise<void> {
    if (this.#foreign !== null) {
      throw new RetinueError(
        'config',
        `${this.#foreign.file} was not made in this folder: it was copied, or came with the repository. If it is yours, say so with: retinue adopt. If not, remove it.`,
      )
    }
    const gone = await this.#gone()
    if (gone !== null) {
      throw new RetinueError(
        'store',
        `${gone} was removed or replaced while it was open, and what is written to it would be lost: end this process and start again.`,
      )
    }
  }

  async adopt(): Promise<boolean> {
    const foreign = this.#foreign
    await foreign?.adopt()
    this.#foreign = null
    return foreign !== null
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
    const options = await this.#inSession(given)
    const catalog = await this.#catalogs.load()
    const operator = this.#operator(options.principal, options.mode ?? this.#settings.mode ?? 'normal')
    const as = await this.#profileOf(options, operator, catalog)
    const choice = await this.#preparation.chooseModel(options.model, as)
    return this.#driver.begin(run_id, options, { ...choice, catalog, as }, started)
  }

  /** With the model of its session, and of that one's mode and the usual one the narrower, unless it names others. */
  async #inSession<O extends Pick<RunOptions, 'session_id' | 'model' | 'mode'>>(options: O): Promise<O> {
    const session = options.session_id ? await this.sessions.known(options.session_id) : null
    if (!session) return options
    const mode = options.mode ?? (session.mode && narrowerMode(session.mode, this.#settings.mode ?? 'normal'))
    const model = options.model ?? session.model
    return { ...options, ...(mode ? { mode } : {}), ...(model ? { model } : {}) }
  }

  /** The profile that a run names, else the one that is pinned for whoever it is and wherever this is. */
  async #profileOf({ profile, session_id }: RunOptions, operator: Principal, catalog: Catalog): Promise<As | null> {
    if (profile === null) return null
    if (profile !== undefined) {
      const found = resolveProfile(catalog, profile)
      if (!found.ok) throw new RetinueError('input', found.message)
      return found
    }
    const pin = await effectivePin(this.store, this.#pinPlace(operator, session_id), catalog)
    if (!pin.ok) throw new RetinueError('config', pin.message)
    return pin.pinned
  }

  /**
   * Whoever makes agents work. `mode`: the one in effect, wherever it comes from. In dangerous mode nothing is asked and
   * no command fenced in, on a machine that may be somebody else's.
   */
  #operator(name: string | undefined, mode: Mode): Principal {
    const principal = this.#principal(name)
    const { id, role } = principal
    if (!isAtLeast(role, 'operator'))
      throw new RetinueError('denied', `${id} is a ${role}: only operators and admins start runs`)
    if (mode === 'dangerous' && !isAtLeast(role, 'admin')) {
      throw new RetinueError(
        'denied',
        `${id} is an ${role}, and only admins run in dangerous mode: name another mode for a new run, such as auto`,
      )
    }
    return principal
  }

  #principal(name: string | undefined): Principal {
    return principalFor(name, { local: { id: this.#local }, principals: this.#settings.principals ?? {} })
  }

  async choices({ session_id, principal }: { session_id?: string; principal?: string } = {}): Promise<Choices> {
    const catalog = await this.#catalogs.load({ lenient: true })
    const found = await effectivePin(this.store, this.#pinPlace(this.#principal(principal), session_id), catalog)
    const { model, mode = 'normal' } = this.#settings
    return {
      agents: listProfiles(catalog),
      pin: found.ok ? (found.pinned?.pin ?? null) : found.pin,
      defaults: { model: model?.name ?? null, mode },
    }
  }

  #pinPlace({ id }: Principal, session_id: string | undefined): PinPlace {
    return { session: session_id ?? null, user: id, workspace: workspaceId(this.cwd) }
  }

  control(principal?: string): Control {
    return createControl({
      check: () => this.#checkStore(),
      records: this.store,
      catalog: () => this.#catalogs.load({ lenient: true }),
      principal: this.#principal(principal),
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
    const handle = new RunHandle(this.store, run_id, signalOf(options), (started) =>
      this.#telling(() => start(started)),
    )
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
    const handle = new RunHandle(this.store, run_id, signalOf(options), (started) =>
      this.#telling(async () => start(run_id, started)),
    )
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
    const present = (await presentWorkers(databaseOf(this.#database))) ?? []
    const { project, checkout: id } = this.dispatch?.here ?? (await hereIn(this.#host, this.cwd, this.#project))
    return all ? present : present.filter((worker) => worker.project_id === project || worker.checkout === id)
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
      await this.dispatch?.close()
      await this.store.close()
    }
  }
}
