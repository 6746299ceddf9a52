import { type Catalog, type CatalogDigests, catalogDigests, NO_CATALOG, sameAsBefore } from '../../control/index.js'
import {
  type AgentMemory,
  type AgentResult,
  foldAgent,
  type Landing,
  type Mode,
  type NewEvent,
  type OpenQuestion,
  ownerInWords,
  type Redactor,
} from '../../domain/index.js'
import { AT_REST, type Engine, givenToWorkers, type PauseSignal, type ResumeSignal } from '../../engine/index.js'
import type { Host } from '../../host/index.js'
import type { Model } from '../../models/index.js'
import { AgentLoop, type AgentPlace, Recorder, trimHistory } from '../../runtime/index.js'
import { blobDigest, type Lease, type Signal, type Store } from '../../store/index.js'
import { commitCheck, fanOut, type Proposal, type Tool } from '../../tools/index.js'
import { RunTrees } from '../../workspaces/index.js'
import type { RunOptions, RunResult, RunSummary, WaitOptions, Watching } from '../api.js'
import type { Catalogs } from '../catalogs.js'
import { RetinueError } from '../errors.js'
import { FAN_OUT_MODEL } from '../programs/fan-out.js'
import { PLAN_MODEL, planCall, proposalIn } from '../programs/plan-runs.js'
import { isProgram } from '../programs/programs.js'
import type { Reach } from '../project/reach.js'
import { VERSION } from '../version.js'
import type { FarRuns } from '../workers/far-runs.js'
import { travelOf } from '../workers/itineraries.js'
import type { Waker } from '../workers/waker.js'
import { Asking } from './asking.js'
import { ChildContracts } from './child-contracts.js'
import { RunChildren } from './children.js'
import { Conversations, NO_SESSION } from './conversations.js'
import type { Started } from './handle.js'
import type { KeptRuns } from './kept.js'
import { Papers } from './papers.js'
import { Pauses } from './pauses.js'
import type { ContractChoice, Family, Preparation } from './preparation.js'
import { ROOT, type RunReader } from './reader.js'

type RootChoice = ContractChoice & {
  model: Model
  /** What its contract and those of its sub-agents say it is about. Default: the task. */
  goal?: string
  /** What a person said, to which the result of a program's one task is the answer. */
  said?: string
}

type Parts = {
  cwd: string
  host: Host
  store: Store
  engine: Engine
  preparation: Preparation
  reach: Reach
  catalogs: Catalogs
  redactor: Redactor
  reader: RunReader
  new_id: () => string
  /** Where workers run agents. null: they run in this process. */
  far: FarRuns | null
  /** Has agents of runs that workers have worked on, whether or not they run in this process. */
  waker: Waker
  /** The one that a worker works in. null: runs are worked on in the folder that they were begun in. */
  checkout: string | null
  /** What runs have left, here and elsewhere. */
  kept: Pick<KeptRuns, 'apply' | 'bring'>
}

/** Begins runs, goes on with them and ends them: everything that makes a root agent work in this process. */
export class RunDriver {
  readonly #asking: Asking
  readonly #pauses: Pauses
  readonly #conversations: Conversations

  constructor(private readonly parts: Parts) {
    const { store, engine, reader, redactor, new_id, host } = parts
    const asking = new Asking(store, host.clock, (wanted, about) => this.#wake(wanted, about))
    const isForWorkers = async (run_id: string) => (await givenToWorkers(store, run_id)) !== null
    this.#asking = asking
    this.#pauses = new Pauses({ store, engine, reader, redactor, new_id, asking, isForWorkers })
    this.#conversations = new Conversations({ store, reader, belongsHere: (run) => this.belongsHere(run) })
  }

  /** Whoever rests does not hear what is said to it. */
  async #wake(wanted: Omit<Signal, 'id' | 'at'>, about: string): Promise<void> {
    const { kind, data, run_id } = wanted
    const { store, waker } = this.parts
    if ((await givenToWorkers(store, run_id)) === null) return
    try {
      await waker.wake({ run_id, kind: kind === 'pause' ? `pause-${(data as PauseSignal).ask}` : kind }, about)
    } catch (error) {
      // Whoever is at work hears it without being woken.
      const lease = await store.lease(run_id, about || ROOT)
      if (!lease || lease.owner === AT_REST || !this.parts.engine.isHeld(lease)) throw error
    }
  }

  /** For what is done to a run that there is: one that was begun without workers is none of theirs, whatever the setting. */
  async #farOf(run_id: string): Promise<FarRuns | null> {
    const { far, store } = this.parts
    return far && (await givenToWorkers(store, run_id)) ? far : null
  }

  async begin(
    run_id: string,
    options: RunOptions,
    { model, goal = options.task, said, ...choice }: RootChoice,
    started: Started,
  ): Promise<RunResult> {
    const session_id = options.session_id ?? this.parts.new_id()
    const { place, contract, stored } = await this.draft(
      run_id,
      { ...options, task: goal, session_id },
      { model, ...choice },
    )
    const session = options.session_id
      ? await this.#conversations.session(options.session_id, isProgram(contract))
      : NO_SESSION
    // What is secret now may not have been when it was said.
    const history = this.parts.redactor.redactAll(
      trimHistory(session.messages, contract.execution.budget.context_tokens),
    )
    const [{ platform }, sandbox, reached] = await Promise.all([
      this.parts.host.facts(),
      this.parts.preparation.sandbox(),
      this.parts.reach.open(),
    ])
    const at = this.parts.host.clock.now()
    const history_json = JSON.stringify(history)
    const catalog_json = JSON.stringify(catalogDigests(choice.catalog))
    const catalog_digest = blobDigest(catalog_json)
    const history_digest = history.length > 0 ? blobDigest(history_json) : null
    const { task, principal: by } = options
    const where = { workspace_root: this.parts.cwd, retinue_version: VERSION, platform, sandbox }
    const mcp_servers = reached.servers.map(({ name, state, version, tools }) => ({
      name,
      state,
      version,
      tools: tools.length,
    }))
    const apart = this.parts.preparation.worktrees.isolation !== 'shared'
    const departure = this.parts.far ? await this.parts.far.depart(run_id, { apart }) : null
    const notes = [...this.parts.preparation.notes(reached, choice.catalog), ...(departure?.notes ?? [])]
    const before = {
      calls_before: session.calls,
      ...(session.children > 0 ? { children_before: session.children } : {}),
    }
    const events: NewEvent[] = this.parts.redactor.redactAll([
      {
        type: 'run.created',
        version: 1,
        at,
        data: {
          session_id,
          task,
          ...where,
          mcp_servers,
          notes,
          catalog_digest,
          ...(said ? { said } : {}),
          ...(by ? { by } : {}),
          ...(departure ? { engine: { kind: 'dbos', asks: options.person !== undefined, ...departure.engine } } : {}),
        },
      },
      { type: 'agent.started', version: 1, at, data: { contract, task, history_digest, ...before } },
    ])
    const blobs = [
      { digest: stored.digest, bytes: stored.bytes },
      { digest: catalog_digest, bytes: Buffer.from(catalog_json) },
      ...(departure?.blobs ?? []),
    ]
    if (history_digest) blobs.push({ digest: history_digest, bytes: Buffer.from(history_json) })
    const { owner } = this.parts.host.identity
    const { ttl_ms } = this.parts.engine
    const claim = { owner, ttl_ms }
    await this.parts.engine.listen()
    const written = await this.parts.store.append({
      run_id,
      agent_id: ROOT,
      epoch: 1,
      expected_seq: 0,
      events,
      blobs,
      claim,
    })
    if (!written.ok) throw new RetinueError('store', written.message)
    const lease: Lease = { run_id, agent_id: ROOT, owner, epoch: 1, expires_at: at + ttl_ms }
    if (this.parts.far) return this.#elsewhere(this.parts.far, { run_id, lease }, options, started)
    const memory = foldAgent(written.events) as NonNullable<ReturnType<typeof foldAgent>>
    const recorder = new Recorder(this.parts.store, this.parts.host.clock, lease, memory, this.parts.redactor)
    return this.#work(lease, new AgentLoop(place, recorder, { prompt: stored.prompt, history }), started, session_id)
  }

  /** What a run would begin with. Nothing is written down. */
  async draft(
    run_id: string,
    options: RunOptions & { session_id: string },
    { model, ...choice }: Omit<RootChoice, 'goal'>,
  ) {
    const family = this.family(run_id, options.session_id, options, choice.catalog)
    const call = this.#callOf(run_id, model.name, family)
    const place = await this.parts.preparation.place(model, options, { ...family, ...call })
    return { place, ...(await this.parts.preparation.contract(run_id, options, place, choice)) }
  }

  /** The one call of a root agent that is a program. */
  #callOf(run_id: string, model: string, { catalog, trees }: Pick<Family, 'catalog' | 'trees'>): { call?: Tool } {
    if (model === FAN_OUT_MODEL) return { call: fanOut }
    if (model !== PLAN_MODEL) return {}
    const { cwd, store, preparation } = this.parts
    const papers = this.#papers(run_id, () => trees.isAway())
    return { call: planCall({ cwd, store, papers, catalog, delegation: preparation.delegation }) }
  }

  #papers(run_id: string, isAway: () => Promise<boolean>): Papers {
    const { cwd, host, store, redactor } = this.parts
    return new Papers({ cwd, host, store, redactor, run_id, isAway })
  }

  /** `allow`: throws where whoever asks may not make agents work in that mode. */
  async goOn(run_id: string, watching: Watching, started: Started, allow: (mode: Mode) => void): Promise<RunResult> {
    const run = await this.parts.store.run(run_id)
    if (!run) throw new RetinueError('not_found', `There is no run ${run_id} in this store`)
    const done = await this.parts.reader.result(run_id)
    if (done) return done
    const far = await this.#farOf(run_id)
    if (this.parts.far && !far) throw notForWorkers(run)
    await this.#canGoOn(run)
    const { memory } = await this.parts.reader.root(run_id)
    allow(memory.contract.permissions.mode)
    if (far) {
      const { principal } = watching
      const free = await this.#free(run_id)
      await far.resume(run_id, { seq: free.lease ? memory.seq : null, ...(principal ? { principal } : {}) })
      return this.#elsewhere(far, free, watching, started)
    }
    const { place, notes } = await this.reopen(run, memory, watching)
    const { principal } = watching
    const { lease, loop } = await this.#takeOver(run_id, place, notes, principal, async () => {
      const data: ResumeSignal = { seq: null, ...(principal ? { principal } : {}) }
      await this.parts.store.signal({ run_id, kind: 'resume', data, by: principal ?? 'person' })
      // Whoever told the workers to cancel it need not wait for that.
      if (await givenToWorkers(this.parts.store, run_id)) await this.parts.engine.catchUp(run_id)
    })
    return this.#work(lease, loop, started, run.session_id)
  }

  /** What the root agent of a run that has begun works in from here on. */
  async reopen(
    { run_id, session_id }: { run_id: string; session_id: string },
    { contract }: AgentMemory,
    watching: Watching,
  ): Promise<{ place: AgentPlace; notes: string[] }> {
    const { provider, model } = contract.model
    const [resolved, catalog] = await Promise.all([
      this.parts.preparation.rootModel(`${provider}/${model}`),
      this.catalogOf(run_id),
    ])
    const family = this.family(run_id, session_id, watching, catalog)
    const call = this.#callOf(run_id, resolved.name, family)
    const place = await this.parts.preparation.place(resolved, watching, { ...family, ...call })
    this.parts.preparation.check(contract, place)
    const notes = this.parts.preparation.notes(await this.parts.reach.open(), catalog)
    await this.parts.preparation.prompts.readFiles(run_id, contract.permissions, place, catalog)
    return { place, notes }
  }

  /** Hands a run to the workers, unless they have it, and follows it until it is closed. */
  async #elsewhere(
    far: FarRuns,
    { run_id, lease }: { run_id: string; lease: Lease | null },
    watching: Watching,
    started: Started,
  ): Promise<RunResult> {
    const watch = await far.watch(run_id, watching)
    // They have it; should nobody have it worked on, whoever asks for it does.
    await (lease ? far.give(lease) : this.parts.waker.wake({ run_id, kind: `resumed-${this.parts.new_id()}` }, ROOT))
    await far.follow(run_id, { ...watching, watch }, started, (by, reason) => this.cancel(run_id, by, reason))
    const result = await this.parts.reader.result(run_id)
    if (!result) throw new RetinueError('abandoned', `Run ${run_id} is left to the workers`)
    const given = await givenToWorkers(this.parts.store, run_id)
    const isHome = given?.travels !== undefined && given.checkout === far.checkout
    return isHome ? this.#broughtHome(run_id, result) : result
  }

  /** Whoever waits for it where it was begun need not see to that. */
  async #broughtHome(run_id: string, result: RunResult): Promise<RunResult> {
    const { memory } = await this.parts.reader.root(run_id)
    const { landing } = result
    const home =
      landing?.state === 'kept' ? { ...result, landing: await this.#landed(run_id, memory, landing) } : result
    await this.#papers(run_id, async () => false).bring(memory)
    return home
  }

  async #landed(run_id: string, { contract }: AgentMemory, landing: Landing): Promise<Landing> {
    const { away: _, ...there } = landing
    try {
      if (!landing.away || landing.files.length === 0) {
        await this.parts.kept.bring(run_id)
        return landing
      }
      const { commit } = await this.parts.kept.apply(run_id, { commit: contract.workspace.land === 'commit' })
      return { ...there, state: 'landed', landed_commit: commit, branch: null, reason: null }
    } catch (error) {
      if (!(error instanceof RetinueError)) throw error
      // What stands in its way is here, and it is brought in when that is gone.
      return { ...there, reason: error.message }
    }
  }

  /** What a person who sits elsewhere is asked about a plan. null: there is nothing to ask about. */
  async proposal(run_id: string, question: Extract<OpenQuestion, { kind: 'approval' }>): Promise<Proposal | null> {
    const { cwd, store, preparation } = this.parts
    const memory = foldAgent(await store.read({ run_id, agent_id: question.agent_id }))
    const catalog = await this.catalogOf(run_id)
    return memory && proposalIn(memory, question, { cwd, store, catalog, delegation: preparation.delegation })
  }

  /** What there is now of the profiles and agents that there were when a run began. */
  async catalogOf(run_id: string): Promise<Catalog> {
    const catalog = await this.parts.catalogs.load()
    const [created] = await this.parts.store.read({ run_id, limit: 1 })
    const digest = created?.type === 'run.created' ? created.data.catalog_digest : undefined
    const bytes = digest === undefined ? null : await this.parts.store.blob(digest)
    return bytes ? sameAsBefore(catalog, JSON.parse(Buffer.from(bytes).toString('utf8')) as CatalogDigests) : catalog
  }

  /** Takes a run's lease and opens its agent on what the log says now. `taken`: what is to be done when it is this one's. */
  async #takeOver(
    run_id: string,
    place: AgentPlace,
    notes: string[],
    by?: string,
    taken = async () => {},
  ): Promise<{ lease: Lease; loop: AgentLoop }> {
    const lease = await this.#take(run_id)
    const open = async () => {
      const { memory, material } = await this.parts.reader.root(run_id)
      const recorder = new Recorder(this.parts.store, this.parts.host.clock, lease, memory, this.parts.redactor)
      const loop = new AgentLoop(place, recorder, material)
      const told = { ...lease, sandbox: await this.parts.preparation.sandbox(), notes }
      loop.recordResumed(by === undefined ? told : { ...told, by })
      await taken()
      return { lease, loop }
    }
    try {
      return await this.parts.engine.keep(lease, open)
    } catch (error) {
      await this.parts.store.release(lease)
      throw error
    }
  }

  /** A run that nobody has. null: somebody has it. */
  async #free(run_id: string): Promise<{ run_id: string; lease: Lease | null }> {
    const taken = await this.parts.engine.take(run_id, ROOT)
    return { run_id, lease: taken.ok ? taken.lease : null }
  }

  async #take(run_id: string): Promise<Lease> {
    await this.parts.engine.listen()
    const taken = await this.parts.engine.take(run_id, ROOT)
    if (taken.ok) return taken.lease
    throw new RetinueError(
      'held',
      `Run ${run_id} is being worked on by ${ownerInWords(taken.held_by)}. See it with: retinue watch ${run_id}`,
    )
  }

  async #work(lease: Lease, loop: AgentLoop, started: Started, session_id: string): Promise<RunResult> {
    started(loop)
    const ended = await this.parts.engine.work(lease, loop)
    if (!ended.ok) throw new RetinueError('abandoned', `Run ${lease.run_id} is left as it is: ${ended.message}`)
    const { adjustments } = loop.memory.contract
    return { ...ended.result, run_id: lease.run_id, session_id, adjustments }
  }

  async cancel(run_id: string, by: string, reason: string, { signal }: WaitOptions = {}): Promise<RunResult> {
    const run = await this.parts.reader.find(run_id)
    const id = run.run_id
    const why = this.parts.redactor.redact(reason)
    const given = await givenToWorkers(this.parts.store, id)
    const far = given && this.parts.far
    const closed = run.status === 'closed' && (await this.parts.reader.result(id))
    if (closed) return closed
    // One whose files are elsewhere, or go with it, is for the workers to close, whoever cancels it.
    const isTheirs = given && (given.travels || run.workspace_root !== this.parts.cwd)
    if (far || isTheirs) return this.#cancelElsewhere(far, id, by, why, signal)
    if (await this.parts.reader.isHeld(id)) {
      const asked = await this.#asking.until({ run_id: id, kind: 'cancel', data: why, by }, signal, async () => {
        const done = await this.parts.reader.result(id)
        if (done) return { done }
        return (await this.parts.reader.isHeld(id)) ? null : { done: null }
      })
      if (asked.done) return asked.done
    }
    const done = await this.parts.reader.result(id)
    if (done) return done
    this.belongsHere(run)
    const { lease, loop } = await this.#takeOver(id, await this.closingPlace(run), [])
    loop.cancel(by, why)
    return this.#work(lease, loop, () => {}, run.session_id)
  }

  /** For a root agent that is only going to be closed: no model is asked, nothing connected, nothing checked. */
  closingPlace(run: { run_id: string; session_id: string }): Promise<AgentPlace> {
    return this.parts.preparation.closingPlace(NO_MODEL, this.closingFamily(run))
  }

  /** The same for what is below it. */
  closingFamily({ run_id, session_id }: { run_id: string; session_id: string }): Family {
    return this.family(run_id, session_id, {}, NO_CATALOG, async () => ({ ok: true, model: NO_MODEL }))
  }

  /** Workers close it: whoever wants that has it worked on, where nobody has it. */
  #cancelElsewhere(
    far: FarRuns | null,
    run_id: string,
    by: string,
    reason: string,
    signal: AbortSignal | undefined,
  ): Promise<RunResult> {
    return this.#asking.until({ run_id, kind: 'cancel', data: reason, by }, signal, async () => {
      const closed = await this.parts.reader.result(run_id)
      if (!far) return closed
      const { lease } = closed ? { lease: null } : await this.#free(run_id)
      if (lease) await far.give(lease)
      return closed
    })
  }

  pause(run_id: string, by: string, reason: string, options: WaitOptions = {}): Promise<RunSummary> {
    return this.#pauses.pause(run_id, by, reason, options)
  }

  async cancelAgent(
    run_id: string,
    agent_id: string,
    by: string,
    reason: string,
    { signal }: WaitOptions = {},
  ): Promise<AgentResult> {
    const run = await this.parts.reader.find(run_id)
    const agents = await this.parts.store.agents(run.run_id)
    const agent = agents.find((one) => one.agent_id === agent_id)
    const parent_id = agent?.parent_id ?? null
    if (parent_id === null) {
      const there = agents.filter((one) => one.parent_id !== null).map((one) => one.agent_id)
      const names = there.length > 0 ? `it has ${there.join(', ')}` : 'it has none'
      throw new RetinueError('not_found', `Run ${run.run_id} has no sub-agent "${agent_id}": ${names}`)
    }
    const ended = async () => {
      const closed = await this.parts.reader.closedChild(run.run_id, agent_id, parent_id)
      if (closed || (await this.parts.reader.find(run.run_id)).status === 'running') return closed
      throw new RetinueError(
        'held',
        `Nobody works on run ${run.run_id} now. Go on with it (retinue resume ${run.run_id}), or cancel all of it.`,
      )
    }
    const done = await ended()
    if (done) return done
    return this.#asking.until(
      { run_id: run.run_id, kind: 'cancel_agent', data: { agent_id, reason: this.parts.redactor.redact(reason) }, by },
      signal,
      ended,
      agent_id,
    )
  }

  /** Sub-agents of a run, at every depth, and their trees. `model`: where their models come from. */
  family(
    run_id: string,
    session_id: string,
    watching: Watching,
    catalog: Catalog,
    model?: Preparation['childModel'],
  ): Family {
    const { preparation, store, host, cwd, engine, redactor, checkout } = this.parts
    const trees = new RunTrees({
      ...{ host, folder: cwd, run_id },
      has_setup: preparation.worktrees.setup !== null,
      check: commitCheck(redactor, () => true),
      ...(checkout === null ? {} : { travel: () => travelOf(store, run_id, async () => checkout) }),
    })
    const contracts = new ChildContracts({
      ...{ preparation, store, catalog, trees, session_id },
      settings: preparation.delegation,
      now: host.clock.now,
    })
    const childModel = model ?? ((name: string) => preparation.childModel(name))
    const launcher = new RunChildren({
      ...{ host, store, engine, preparation, redactor, contracts, trees, watching, catalog },
      papers: this.#papers(run_id, () => trees.isAway()),
      model: childModel,
      closing: model !== undefined,
    })
    return { launcher, trees, above: null, catalog }
  }

  /** One whose files go with it is for the workers, wherever it is asked for: what is in its folder may be older. */
  async #canGoOn(run: { run_id: string; workspace_root: string }): Promise<void> {
    const { run_id } = run
    const given = await givenToWorkers(this.parts.store, run_id)
    if (!given?.travels) return this.belongsHere(run)
    if (this.parts.far) return
    throw new RetinueError(
      'input',
      `Run ${run_id} is for the workers, wherever they are: go on with it with --engine dbos`,
    )
  }

  /** A run goes on in the folder it was started in, and nowhere else. */
  belongsHere({ run_id, workspace_root }: { run_id: string; workspace_root: string }): void {
    if (workspace_root === this.parts.cwd) return
    throw new RetinueError(
      'input',
      `Run ${run_id} belongs to ${workspace_root}: go on there, or with --cwd ${workspace_root}`,
    )
  }
}

/** Nobody knows which of their checkouts has its files, nor whom it may ask. */
function notForWorkers({ run_id, workspace_root }: { run_id: string; workspace_root: string }): RetinueError {
  return new RetinueError(
    'input',
    `Run ${run_id} was begun without workers, and is not for them: go on with it in ${workspace_root} with --engine local`,
  )
}

/** Stands where a model would be needed and none will be asked: a run that is only going to be closed. */
const NO_MODEL: Model = {
  name: 'none/none',
  window: null,
  generate: async () => ({ ok: false, code: 'auth', message: 'no model is available', retry_after_ms: null }),
}
