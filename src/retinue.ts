import { join, resolve } from 'node:path'
import { customAlphabet } from 'nanoid'
import type {
  AgentResult,
  AgentRow,
  Budget,
  Contract,
  Message,
  Mode,
  ModelSource,
  NewEvent,
  Rule,
  RunRow,
  StoredEvent,
} from './domain/index.js'
import { foldAgent, rootContract, unenforceable } from './domain/index.js'
import { LEASE_TTL_MS, LocalEngine } from './engine/index.js'
import { RetinueError } from './errors.js'
import { createHost, type Host } from './host/index.js'
import { createModels, type Model, type Models } from './models/index.js'
import {
  AgentLoop,
  type AgentPlace,
  type Delta,
  loadAgent,
  type Material,
  type Person,
  Recorder,
  type Replay,
  replayAgent,
  rootPrompt,
} from './runtime/index.js'
import { blobDigest, type Lease, openSqliteStore, type Store } from './store/index.js'
import { builtinTools, createToolRegistry, DEFAULT_LIMITS, type ToolLimits, type ToolRegistry } from './tools/index.js'
import { VERSION } from './version.js'

/** The root agent's id. Its children get ids of their own. */
const ROOT = 'root'

export type RetinueOptions = {
  /** The folder that runs work in. Default: the current one. */
  cwd?: string
  /** A store, or the file of an SQLite one. Default: `.retinue/retinue.db` in the folder. */
  store?: Store | string
  /** Where models come from. Default: the usual providers, with keys from `env`. */
  models?: Models
  env?: Record<string, string | undefined>
  host?: Host
  settings?: Settings
}

/** What holds for every run unless it asks otherwise. */
export type Settings = {
  model?: { name: string; source: ModelSource }
  mode?: Mode
  rules?: Rule[]
  tools?: string[]
  /** Layers of globs: a path must match in each of them. */
  read_paths?: string[][]
  write_paths?: string[][]
  budget?: Partial<Budget>
  /** Files for the system prompt: all of them, or the first that is there. */
  instructions?: { take: 'all' | 'first'; files: string[] }
  limits?: Partial<ToolLimits>
  /** Calls for one model request, retries included. */
  max_attempts?: number
  model_timeout_ms?: number
  /** Agents at work at once. */
  max_concurrent?: number
}

export type RunOptions = {
  task: string
  model?: string
  mode?: Mode
  budget?: Partial<Budget>
  /** Goes on with the conversation of this session. Default: a new one. */
  session_id?: string
} & Watching

/** Who sits in front of a run, and what they get to see. */
export type Watching = {
  person?: Person
  /** Text as it is written, progress of long calls. Events are in the log. */
  onDelta?: (delta: Delta) => void
  /** Cancels the run. */
  signal?: AbortSignal
}

export type RunResult = AgentResult & { run_id: string; session_id: string }

export type RunStatus = 'running' | 'interrupted' | 'closed'
export type RunSummary = Omit<RunRow, 'status'> & { status: RunStatus }

/** A run under way: its events as they are logged, and what it comes to. */
export interface Run extends AsyncIterable<StoredEvent> {
  readonly run_id: string
  result(): Promise<RunResult>
  cancel(reason?: string): void
  /** Stops the work in this process and leaves the run as it is, to be resumed. `result` then rejects. */
  leave(reason: string): void
}

export interface Retinue {
  readonly cwd: string
  readonly store: Store
  readonly models: Models
  run(options: RunOptions): Run
  /** Goes on with a run whose process is gone. One that is closed gives its result again. */
  resume(run_id: string, watching?: Watching): Run
  /** Cancels a run wherever it runs, and waits until it is closed. */
  cancel(run_id: string, by: string, reason: string): Promise<RunResult>
  runs(query?: { session_id?: string; limit?: number }): Promise<RunSummary[]>
  /** A run by its id or by an unambiguous beginning of it. */
  find(id: string): Promise<RunSummary>
  agents(run_id: string): Promise<AgentRow[]>
  events(run_id: string): Promise<StoredEvent[]>
  follow(run_id: string, signal?: AbortSignal): AsyncIterable<StoredEvent>
  result(run_id: string): Promise<RunResult | null>
  /** Rebuilds every request of the run from its log and compares it with what was sent. */
  replay(run_id: string): Promise<Replay>
  close(): Promise<void>
}

export async function createRetinue(options: RetinueOptions = {}): Promise<Retinue> {
  const host = options.host ?? createHost()
  const cwd = resolve(options.cwd ?? process.cwd())
  const store = await openStore(options.store ?? join(cwd, '.retinue', 'retinue.db'), host)
  const models = options.models ?? createModels({ env: options.env ?? process.env, scripts_root: cwd })
  return new LocalRetinue(cwd, host, store, models, options.settings ?? {})
}

async function openStore(store: Store | string, host: Host): Promise<Store> {
  if (typeof store !== 'string') return store
  const opened = await openSqliteStore({ file: store, clock: host.clock })
  if (!opened.ok) throw new RetinueError('store', opened.message)
  return opened.store
}

const newId = customAlphabet('0123456789abcdefghijkmnpqrstuvwxyz', 10)

/** Nobody is there: what would ask is refused. */
const NOBODY: Person = { permit: async () => null, answer: async () => null }

class LocalRetinue implements Retinue {
  readonly #engine: LocalEngine
  readonly #registry: ToolRegistry = createToolRegistry(builtinTools())
  readonly #limits: ToolLimits

  constructor(
    readonly cwd: string,
    private readonly host: Host,
    readonly store: Store,
    readonly models: Models,
    private readonly settings: Settings,
  ) {
    this.#engine = new LocalEngine(store, host.clock, host.identity, settings.max_concurrent ?? 8)
    this.#limits = { ...DEFAULT_LIMITS, ...settings.limits }
  }

  run(options: RunOptions): Run {
    const run_id = newId()
    return new RunHandle(this.store, run_id, options.signal, (cancelled) => this.#start(run_id, options, cancelled))
  }

  resume(run_id: string, watching: Watching = {}): Run {
    return new RunHandle(this.store, run_id, watching.signal, (cancelled) => this.#goOn(run_id, watching, cancelled))
  }

  async #start(run_id: string, options: RunOptions, started: Started): Promise<RunResult> {
    if (options.task.trim() === '') throw new RetinueError('input', 'The task is empty: say what is to be done')
    const { model, source } = await this.#chooseModel(options.model)
    const place = await this.#place(model, options)
    const { contract, prompt } = await this.#contract(run_id, options, place, source)
    const session_id = options.session_id ?? newId()
    const history = options.session_id ? await this.#history(options.session_id) : []
    const facts = await this.host.facts()
    const at = this.host.clock.now()
    const history_json = JSON.stringify(history)
    const history_digest = history.length > 0 ? blobDigest(history_json) : null
    const { task } = options
    const { platform, sandbox } = facts
    const events: NewEvent[] = [
      {
        type: 'run.created',
        version: 1,
        at,
        data: { session_id, task, workspace_root: this.cwd, retinue_version: VERSION, platform, sandbox },
      },
      { type: 'agent.started', version: 1, at, data: { contract, task, history_digest } },
    ]
    const blobs = [{ digest: contract.agent.prompt_digest, bytes: Buffer.from(prompt) }]
    if (history_digest) blobs.push({ digest: history_digest, bytes: Buffer.from(history_json) })
    const { owner } = this.host.identity
    const claim = { owner, ttl_ms: LEASE_TTL_MS }
    const written = await this.store.append({ run_id, agent_id: ROOT, epoch: 1, expected_seq: 0, events, blobs, claim })
    if (!written.ok) throw new RetinueError('store', written.message)
    const lease: Lease = { run_id, agent_id: ROOT, owner, epoch: 1, expires_at: at + LEASE_TTL_MS }
    const memory = foldAgent(written.events) as NonNullable<ReturnType<typeof foldAgent>>
    const recorder = new Recorder(this.store, this.host.clock, lease, memory)
    return this.#work(
      lease,
      new AgentLoop(place, recorder, { prompt: JSON.parse(prompt), history }),
      started,
      session_id,
    )
  }

  async #goOn(run_id: string, watching: Watching, started: Started): Promise<RunResult> {
    const run = await this.store.run(run_id)
    if (!run) throw new RetinueError('not_found', `There is no run ${run_id} in this store`)
    const done = await this.result(run_id)
    if (done) return done
    const loaded = await this.#load(run_id)
    const { provider, model } = loaded.memory.contract.model
    const { model: resolved } = await this.#chooseModel(`${provider}/${model}`)
    const { lease, loop } = await this.#takeOver(run_id, await this.#place(resolved, watching))
    return this.#work(lease, loop, started, run.session_id)
  }

  /** Takes a run's lease and opens its agent on what the log says now. */
  async #takeOver(run_id: string, place: AgentPlace): Promise<{ lease: Lease; loop: AgentLoop }> {
    const taken = await this.#engine.take(run_id, ROOT)
    if (!taken.ok) throw new RetinueError('held', `Run ${run_id} is being worked on by ${taken.held_by}`)
    const { lease } = taken
    const { memory, material } = await this.#load(run_id)
    const recorder = new Recorder(this.store, this.host.clock, lease, memory)
    recorder.record('agent.resumed', {
      owner: lease.owner,
      epoch: lease.epoch,
      interrupted_request: memory.request?.request_id ?? null,
      interrupted_calls: memory.calls.filter((call) => call.intent && !call.result).map((call) => call.part.call_id),
    })
    return { lease, loop: new AgentLoop(place, recorder, material) }
  }

  async #work(lease: Lease, loop: AgentLoop, started: Started, session_id: string): Promise<RunResult> {
    started(loop)
    const ended = await this.#engine.work(lease, loop)
    if (!ended.ok) throw new RetinueError('abandoned', `Run ${lease.run_id} is left as it is: ${ended.message}`)
    return { ...ended.result, run_id: lease.run_id, session_id }
  }

  async cancel(run_id: string, by: string, reason: string): Promise<RunResult> {
    const run = await this.find(run_id)
    const id = run.run_id
    if (run.status === 'running') {
      await this.store.signal({ run_id: id, kind: 'cancel', data: reason, by })
      for (;;) {
        const closed = await this.result(id)
        if (closed) return closed
        if ((await this.find(id)).status === 'interrupted') break
        await this.host.clock.sleep(50)
      }
    }
    const done = await this.result(id)
    if (done) return done
    const { lease, loop } = await this.#takeOver(id, await this.#place(NO_MODEL, {}))
    loop.cancel(by, reason)
    return this.#work(lease, loop, () => {}, run.session_id)
  }

  async #load(run_id: string): Promise<{ memory: AgentLoop['memory']; material: Material }> {
    const loaded = await loadAgent(this.store, run_id, ROOT)
    if (!loaded.ok) throw new RetinueError(loaded.code === 'tampered' ? 'corrupt' : 'not_found', loaded.message)
    return loaded
  }

  async #chooseModel(asked: string | undefined): Promise<{ model: Model; source: ModelSource }> {
    const { settings, models } = this
    const fallback = models.fallback()
    const choice = asked
      ? { name: asked, source: 'request' as const }
      : (settings.model ?? (fallback === null ? null : { name: fallback, source: 'environment' as const }))
    if (!choice) throw new RetinueError('auth', noModel(models))
    const resolved = await models.resolve(choice.name)
    if (!resolved.ok) throw new RetinueError(resolved.code === 'no_key' ? 'auth' : 'model', resolved.message)
    return { model: resolved.model, source: choice.source }
  }

  async #place(model: Model, watching: Watching): Promise<AgentPlace> {
    const { host, store, settings } = this
    const workspace = await host.workspace(this.cwd)
    return {
      store,
      clock: host.clock,
      processes: host.processes,
      workspace,
      repository: async () => {
        const opened = await host.git.open(workspace.root)
        return opened.ok ? opened.repository : null
      },
      model,
      registry: this.#registry,
      limits: this.#limits,
      person: watching.person ?? NOBODY,
      max_attempts: settings.max_attempts ?? 5,
      model_timeout_ms: settings.model_timeout_ms ?? 600_000,
      digest: blobDigest,
      ...(watching.onDelta ? { onDelta: watching.onDelta } : {}),
    }
  }

  async #contract(run_id: string, options: RunOptions, place: AgentPlace, source: ModelSource) {
    const { settings, host } = this
    const mode = options.mode ?? settings.mode ?? 'normal'
    const can_ask_person = options.person !== undefined
    const [facts, repository, instructions] = await Promise.all([
      host.facts(),
      place.repository(),
      this.#instructions(place),
    ])
    const head = await repository?.head()
    const slash = place.model.name.indexOf('/')
    const request = {
      run_id,
      task: options.task,
      mode,
      can_ask_person,
      rules: settings.rules ?? [],
      known_tools: this.#registry.names(),
      ...(settings.tools ? { tools: settings.tools } : {}),
      ...(settings.read_paths ? { read_paths: settings.read_paths } : {}),
      ...(settings.write_paths ? { write_paths: settings.write_paths } : {}),
      model: {
        provider: place.model.name.slice(0, slash),
        model: place.model.name.slice(slash + 1),
        source,
        window: place.model.window,
      },
      budget: { ...settings.budget, ...options.budget },
      base: head?.ok ? head.commit : null,
    }
    const usable = (settings.tools ?? this.#registry.names()).filter((name) =>
      this.#isUsable(name, mode, can_ask_person),
    )
    const prompt = JSON.stringify(
      rootPrompt({
        workspace_root: place.workspace.root,
        platform: facts.platform,
        date: new Date(host.clock.now()).toISOString().slice(0, 10),
        instructions,
        can_ask_person,
        mode,
        tools: this.#registry.definitions(usable, this.#limits),
      }),
    )
    const derived = rootContract({ ...request, prompt_digest: blobDigest(prompt) })
    if (!derived.ok) throw new RetinueError('input', derived.faults.join('; '))
    const faults = unenforceable(derived.contract, facts.sandbox.kind)
    if (faults.length > 0) throw new RetinueError('input', `This contract cannot be enforced: ${faults.join('; ')}`)
    return { contract: derived.contract satisfies Contract, prompt }
  }

  /** A tool that would be refused whatever its arguments is not offered. It would be refused all the same. */
  #isUsable(name: string, mode: Mode, can_ask_person: boolean): boolean {
    const effect = this.#registry.get(name)?.effect
    if (effect === 'ask_person') return can_ask_person
    return effect === 'read' || mode !== 'plan'
  }

  async #instructions(place: AgentPlace): Promise<{ path: string; text: string }[]> {
    const { take, files } = this.settings.instructions ?? { take: 'first', files: ['AGENTS.md', 'CLAUDE.md'] }
    const found: { path: string; text: string }[] = []
    for (const path of files) {
      const file = await place.workspace.readText(path)
      if (file.ok) found.push({ path, text: file.text })
      else if (take === 'all') throw new RetinueError('config', `instructions: ${file.message}`)
      if (take === 'first' && found.length > 0) break
    }
    return found
  }

  /** The conversation of a session: what its last run started from, and what it added. */
  async #history(session_id: string): Promise<Message[]> {
    const [last] = await this.store.runs({ session_id, limit: 1 })
    if (!last) throw new RetinueError('not_found', `There is no session ${session_id} in this store`)
    if (last.status !== 'closed') {
      throw new RetinueError('held', `The last run of this session is not closed: retinue resume ${last.run_id}`)
    }
    const { memory, material } = await this.#load(last.run_id)
    const closed = memory.messages.filter((message, i) => {
      // A run that was stopped between a call and its result ends with calls that no provider would take back.
      const open = message.role === 'assistant' && message.parts.some((part) => part.type === 'tool_call')
      return !(open && i === memory.messages.length - 1)
    })
    return [...material.history, ...closed]
  }

  async runs(query: { session_id?: string; limit?: number } = {}): Promise<RunSummary[]> {
    const rows = await this.store.runs(query)
    return Promise.all(rows.map((row) => this.#summary(row)))
  }

  async find(id: string): Promise<RunSummary> {
    const exact = await this.store.run(id)
    if (exact) return this.#summary(exact)
    const rows = await this.store.runs({ id_prefix: id, limit: 2 })
    if (rows.length > 1) throw new RetinueError('input', `More than one run starts with "${id}": give more of the id`)
    if (!rows[0] || id === '') throw new RetinueError('not_found', `There is no run "${id}" in this store`)
    return this.#summary(rows[0])
  }

  async #summary(row: RunRow): Promise<RunSummary> {
    if (row.status === 'closed') return { ...row, status: 'closed' }
    const lease = await this.store.lease(row.run_id, ROOT)
    return { ...row, status: lease && this.#engine.isHeld(lease) ? 'running' : 'interrupted' }
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

  async result(run_id: string): Promise<RunResult | null> {
    const run = await this.store.run(run_id)
    if (run?.status !== 'closed') return null
    const finished = (await this.store.read({ run_id, agent_id: ROOT })).find(
      (event) => event.type === 'agent.finished',
    )
    return finished?.type === 'agent.finished' ? { ...finished.data.result, run_id, session_id: run.session_id } : null
  }

  replay(run_id: string): Promise<Replay> {
    return replayAgent(this.store, run_id, ROOT)
  }

  async close(): Promise<void> {
    this.#engine.stop()
    await this.store.close()
  }
}

type Started = (loop: AgentLoop) => void

class RunHandle implements Run {
  #loop: AgentLoop | null = null
  #cancelled: string | null = null
  readonly #result: Promise<RunResult>

  constructor(
    private readonly store: Store,
    readonly run_id: string,
    signal: AbortSignal | undefined,
    start: (started: Started) => Promise<RunResult>,
  ) {
    const onAbort = () => this.cancel(String(signal?.reason ?? 'aborted'))
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    this.#result = start((loop) => {
      this.#loop = loop
      if (this.#cancelled !== null) loop.cancel('caller', this.#cancelled)
    }).finally(() => signal?.removeEventListener('abort', onAbort))
    // Whoever asks for the result gets the error; until then it must not bring the process down.
    this.#result.catch(() => {})
  }

  result(): Promise<RunResult> {
    return this.#result
  }

  cancel(reason = 'cancelled by the caller'): void {
    this.#cancelled = reason
    this.#loop?.cancel('caller', reason)
  }

  leave(reason: string): void {
    this.#loop?.abandon(reason)
  }

  async *[Symbol.asyncIterator](): AsyncIterator<StoredEvent> {
    const failed = new AbortController()
    this.#result.catch(() => failed.abort())
    yield* this.store.follow({ run_id: this.run_id, signal: failed.signal })
    await this.#result
  }
}

/** Stands where a model would be needed and none will be asked: a run that is only going to be closed. */
const NO_MODEL: Model = {
  name: 'none/none',
  window: null,
  generate: async () => ({ ok: false, code: 'auth', message: 'no model is available', retry_after_ms: null }),
}

function noModel(models: Models): string {
  const hints = models.available().map(({ provider, hint }) => `  ${provider}: ${hint}`)
  return [
    'No model to be had. Set one of these, or name one with --model provider/model:',
    ...hints,
    'Or look around without one: retinue demo',
  ].join('\n')
}
