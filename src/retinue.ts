import { join, resolve } from 'node:path'
import { customAlphabet } from 'nanoid'
import type { Retinue, RetinueOptions, Run, RunOptions, RunResult, RunSummary, Watching } from './api.js'
import {
  type AgentRow,
  createRedactor,
  foldAgent,
  type Message,
  type NewEvent,
  type Redactor,
  type RunRow,
  type StoredEvent,
} from './domain/index.js'
import { LEASE_TTL_MS, LocalEngine } from './engine/index.js'
import { RetinueError } from './errors.js'
import { createHost, type Host } from './host/index.js'
import { createModels, type Model, type Models, recordScript } from './models/index.js'
import { checkOptions, retinueOptionsSchema, runOptionsSchema } from './options.js'
import { Preparation, type RunParts } from './preparation.js'
import { Reach } from './reach.js'
import { RunHandle, type Started } from './run-handle.js'
import {
  AgentLoop,
  type AgentPlace,
  loadAgent,
  type Material,
  Recorder,
  type Replay,
  replayAgent,
  trimHistory,
} from './runtime/index.js'
import { findSecrets } from './secrets.js'
import { blobDigest, type Lease, openSqliteStore, type Store } from './store/index.js'
import { VERSION } from './version.js'

/** The root agent's id. Its children get ids of their own. */
const ROOT = 'root'

/** Of the context, what the history of a session may take at the start of a run. */
const HISTORY_SHARE = 0.3

export async function createRetinue(options: RetinueOptions = {}): Promise<Retinue> {
  checkOptions(retinueOptionsSchema, options)
  const host = options.host ?? createHost()
  const env = options.env ?? process.env
  const folder = resolve(options.cwd ?? process.cwd())
  const cwd = await openFolder(host, folder)
  const store = await openStore(options.store ?? join(cwd, '.retinue', 'retinue.db'), host)
  const models = options.models ?? createModels({ env, scripts_root: cwd, readText: host.readText })
  const { reach: sources = {} } = options
  const reach = new Reach(host, { cwd, env }, typeof sources === 'function' ? sources : async () => sources)
  const redactor = createRedactor([
    ...findSecrets({ env, named: options.settings?.secrets ?? [] }),
    ...(options.secrets ?? []),
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
    settings: options.settings ?? {},
  })
}

/** The real path of a folder that can be worked in. */
export async function openFolder(host: Host, folder: string): Promise<string> {
  const opened = await host.workspace(folder).catch((error: Error) => error)
  if (opened instanceof Error) throw new RetinueError('input', `Cannot work in ${folder}: ${opened.message}`)
  return opened.root
}

async function openStore(store: Store | string, host: Host): Promise<Store> {
  if (typeof store !== 'string') return store
  const opened = await openSqliteStore({ file: store, clock: host.clock })
  if (!opened.ok) throw new RetinueError('store', opened.message)
  return opened.store
}

const newId = customAlphabet('0123456789abcdefghijkmnpqrstuvwxyz', 10)

class LocalRetinue implements Retinue {
  readonly cwd: string
  readonly store: Store
  readonly models: Models
  private readonly host: Host
  readonly #engine: LocalEngine
  readonly #preparation: Preparation
  readonly #reach: Reach
  readonly #redactor: Redactor

  constructor(parts: RunParts) {
    const { cwd, host, store, models, reach, redactor, settings } = parts
    this.cwd = cwd
    this.host = host
    this.store = store
    this.models = models
    this.#reach = reach
    this.#redactor = redactor
    this.#engine = new LocalEngine(store, host.clock, host.identity, settings.max_concurrent ?? 8)
    this.#preparation = new Preparation(parts)
  }

  run(options: RunOptions): Run {
    const run_id = newId()
    return new RunHandle(this.store, run_id, options?.signal, (started) =>
      this.#telling(() => this.#start(run_id, options, started)),
    )
  }

  resume(run_id: string, watching: Watching = {}): Run {
    return new RunHandle(this.store, run_id, watching.signal, (started) =>
      this.#telling(() => this.#goOn(run_id, watching, started)),
    )
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

  async #start(run_id: string, options: RunOptions, started: Started): Promise<RunResult> {
    checkOptions(runOptionsSchema, options)
    if (typeof options?.task !== 'string' || options.task.trim() === '')
      throw new RetinueError('input', 'The task is empty: say what is to be done')
    const { model, source } = await this.#preparation.chooseModel(options.model)
    const place = await this.#preparation.place(model, options)
    const { contract, stored } = await this.#preparation.contract(run_id, options, place, source)
    const session_id = options.session_id ?? newId()
    const session = options.session_id ? await this.#session(options.session_id) : { messages: [], calls: 0 }
    const room = contract.execution.budget.context_tokens * HISTORY_SHARE
    // What is secret now may not have been when it was said.
    const history = this.#redactor.redactAll(trimHistory(session.messages, room))
    const [{ platform }, sandbox, reached] = await Promise.all([
      this.host.facts(),
      this.#preparation.sandbox(),
      this.#reach.open(),
    ])
    const at = this.host.clock.now()
    const history_json = JSON.stringify(history)
    const history_digest = history.length > 0 ? blobDigest(history_json) : null
    const { task } = options
    const where = { workspace_root: this.cwd, retinue_version: VERSION, platform, sandbox }
    const mcp_servers = reached.servers.map(({ name, state, version, tools }) => ({
      name,
      state,
      version,
      tools: tools.length,
    }))
    const notes = this.#preparation.notes(reached)
    const events: NewEvent[] = this.#redactor.redactAll([
      { type: 'run.created', version: 1, at, data: { session_id, task, ...where, mcp_servers, notes } },
      { type: 'agent.started', version: 1, at, data: { contract, task, history_digest, calls_before: session.calls } },
    ])
    const blobs = [{ digest: stored.digest, bytes: stored.bytes }]
    if (history_digest) blobs.push({ digest: history_digest, bytes: Buffer.from(history_json) })
    const { owner } = this.host.identity
    const claim = { owner, ttl_ms: LEASE_TTL_MS }
    await this.#engine.listen()
    const written = await this.store.append({ run_id, agent_id: ROOT, epoch: 1, expected_seq: 0, events, blobs, claim })
    if (!written.ok) throw new RetinueError('store', written.message)
    const lease: Lease = { run_id, agent_id: ROOT, owner, epoch: 1, expires_at: at + LEASE_TTL_MS }
    const memory = foldAgent(written.events) as NonNullable<ReturnType<typeof foldAgent>>
    const recorder = new Recorder(this.store, this.host.clock, lease, memory, this.#redactor)
    return this.#work(lease, new AgentLoop(place, recorder, { prompt: stored.prompt, history }), started, session_id)
  }

  async #goOn(run_id: string, watching: Watching, started: Started): Promise<RunResult> {
    const run = await this.store.run(run_id)
    if (!run) throw new RetinueError('not_found', `There is no run ${run_id} in this store`)
    const done = await this.result(run_id)
    if (done) return done
    this.#belongsHere(run)
    const loaded = await this.#load(run_id)
    const { provider, model } = loaded.memory.contract.model
    const { model: resolved } = await this.#preparation.chooseModel(`${provider}/${model}`)
    const place = await this.#preparation.place(resolved, watching)
    this.#preparation.check(loaded.memory.contract, place)
    const notes = this.#preparation.notes(await this.#reach.open())
    const { lease, loop } = await this.#takeOver(run_id, place, notes)
    return this.#work(lease, loop, started, run.session_id)
  }

  /** Takes a run's lease and opens its agent on what the log says now. */
  async #takeOver(run_id: string, place: AgentPlace, notes: string[]): Promise<{ lease: Lease; loop: AgentLoop }> {
    await this.#engine.listen()
    const taken = await this.#engine.take(run_id, ROOT)
    if (!taken.ok) {
      throw new RetinueError(
        'held',
        `Run ${run_id} is being worked on by ${taken.held_by}. See it with: retinue watch ${run_id}`,
      )
    }
    const { lease } = taken
    try {
      const { memory, material } = await this.#load(run_id)
      const recorder = new Recorder(this.store, this.host.clock, lease, memory, this.#redactor)
      recorder.record('agent.resumed', {
        owner: lease.owner,
        epoch: lease.epoch,
        sandbox: await this.#preparation.sandbox(),
        notes,
        interrupted_request: memory.request?.request_id ?? null,
        interrupted_calls: memory.calls.filter((call) => call.intent && !call.result).map((call) => call.part.call_id),
      })
      return { lease, loop: new AgentLoop(place, recorder, material) }
    } catch (error) {
      await this.store.release(lease)
      throw error
    }
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
    this.#belongsHere(run)
    const { lease, loop } = await this.#takeOver(id, await this.#preparation.closingPlace(NO_MODEL), [])
    loop.cancel(by, reason)
    return this.#work(lease, loop, () => {}, run.session_id)
  }

  /** A run goes on in the folder it was started in, and nowhere else. */
  #belongsHere({ run_id, workspace_root }: { run_id: string; workspace_root: string }): void {
    if (workspace_root === this.cwd) return
    throw new RetinueError(
      'input',
      `Run ${run_id} belongs to ${workspace_root}: go on there, or with --cwd ${workspace_root}`,
    )
  }

  async #load(run_id: string): Promise<{ memory: AgentLoop['memory']; material: Material }> {
    const loaded = await loadAgent(this.store, run_id, ROOT)
    if (!loaded.ok) throw new RetinueError(loaded.code === 'tampered' ? 'corrupt' : 'not_found', loaded.message)
    return loaded
  }

  /** The conversation of a session: what its last run started from, and what it added. */
  async #session(session_id: string): Promise<{ messages: Message[]; calls: number }> {
    const [last] = await this.store.runs({ session_id, limit: 1 })
    if (!last) throw new RetinueError('not_found', `There is no session ${session_id} in this store`)
    this.#belongsHere(last)
    if (last.status !== 'closed') {
      throw new RetinueError('held', `The last run of this session is not closed: retinue resume ${last.run_id}`)
    }
    const { memory, material } = await this.#load(last.run_id)
    const closed = memory.messages.filter((message, i) => {
      // A run that was stopped between a call and its result ends with calls that no provider would take back.
      const open = message.role === 'assistant' && message.parts.some((part) => part.type === 'tool_call')
      return !(open && i === memory.messages.length - 1)
    })
    return { messages: [...material.history, ...closed], calls: memory.calls_made }
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
    const known = { ...row, cost_usd: row.unpriced_calls > 0 ? null : row.cost_usd }
    if (row.status === 'closed') return { ...known, status: 'closed' }
    const lease = await this.store.lease(row.run_id, ROOT)
    return { ...known, status: lease && this.#engine.isHeld(lease) ? 'running' : 'interrupted' }
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

  async script(run_id: string): Promise<string> {
    return recordScript(await this.events(run_id))
  }

  replay(run_id: string): Promise<Replay> {
    return replayAgent(this.store, run_id, ROOT)
  }

  async close(): Promise<void> {
    try {
      await this.#engine.close()
      await this.#reach.close()
    } finally {
      await this.store.close()
    }
  }
}

/** Stands where a model would be needed and none will be asked: a run that is only going to be closed. */
const NO_MODEL: Model = {
  name: 'none/none',
  window: null,
  generate: async () => ({ ok: false, code: 'auth', message: 'no model is available', retry_after_ms: null }),
}
