import type { Catalog } from '../../control/index.js'
import type { Redactor } from '../../domain/index.js'
import { type AgentMemory, type Child, foldAgent, isOpen, parentIdOf, type RunRow } from '../../domain/index.js'
import { AT_REST, isLeftAlone, rest, resumeOf, type Words, type WorkerEngine } from '../../engine/index.js'
import type { Host, TreeResult } from '../../host/index.js'
import { AbandonedError, type Above, AgentLoop, loadMaterial, Recorder } from '../../runtime/index.js'
import type { Lease, Signal, Store } from '../../store/index.js'
import type { Files, RunTrees, TreeOwner } from '../../workspaces/index.js'
import type { Watching } from '../api.js'
import { RetinueError } from '../errors.js'
import { cancelledEarly, type NotAdmitted, type NotStarted, type RunChildren } from '../runs/children.js'
import type { RunDriver } from '../runs/driver.js'
import type { Family, Preparation } from '../runs/preparation.js'
import { ROOT } from '../runs/reader.js'
import { FAR_PERSON } from './far-person.js'
import { WATCHED } from './far-runs.js'
import { Lately } from './lately.js'
import { REFUSED, type RefusedSignal, type WorkerRefusal } from './refusals.js'

/** Before one that was let go of is tried again. */
const AGAIN_MS = 1000
/** How soon it is looked again whether whoever holds an agent is alive. */
const LOOK_MS = 250
/** The same for whether it may write. It is said that it waits after so many looks. */
const ADMITTED_MS = 50
const AWAITS_AFTER = 10
/** The events that whoever gives a run to the workers has written. */
const CREATED_AND_STARTED = 2
/** One that was given to the workers longer ago has waited for its turn, and that is no time of its own. */
const WAITED_MS = 1000
/** So long the sub-agents of a run are given the same catalog: one that is at work has its own for longer. */
const SAME_CATALOG_MS = 2000

type Parts = {
  cwd: string
  /** Which of the project's checkouts that is. */
  checkout: string
  host: Host
  store: Store
  engine: WorkerEngine
  driver: RunDriver
  preparation: Preparation
  redactor: Redactor
  words: Words
}

/** `held`: another works on it. `left`: this worker lets go of it, and another takes it up. `paused`: its run is. */
type Advanced = 'over' | 'held' | 'rests' | 'left' | 'paused'

/** What one that rests knew when it was let go of: the last word, and which sub-agents have to wait to be joined. */
type Rest = { heard: number; settled: readonly string[] }

type Outcome = Exclude<Advanced, 'rests' | 'paused'> | Rest

type Tenure = { lease: Lease; woken: boolean }

/**
 * Works on agents for a worker: each until it rests or is over. It may be called for the same agent at any time, and by
 * any number of workers at once: its lease says who works on it, and its log what is left to do.
 */
export class Advancing {
  /** What all sub-agents of a run begin with. */
  readonly #begun: Lately<{ watching: Watching; catalog: Catalog }>

  constructor(private readonly parts: Parts) {
    this.#begun = new Lately(SAME_CATALOG_MS, parts.host.clock.now, async (run_id) => {
      const [watching, catalog] = await Promise.all([this.#watching(run_id), parts.driver.catalogOf(run_id)])
      return { watching, catalog }
    })
  }

  async advance(run_id: string, agent_id: string): Promise<Advanced> {
    const { engine, store } = this.parts
    const run = await store.run(run_id)
    if (!run || run.status === 'closed') return 'over'
    await engine.listen()
    const is_here = await this.#isHere(run)
    const may_have = is_here && (await engine.mayHave(run_id, agent_id))
    for (;;) {
      // Those that may have it have been asked too.
      if (!may_have && !(await this.#canClose(run_id, agent_id, is_here))) return 'over'
      if (await isLeftAlone(store, { run_id, agent_id })) return 'paused'
      const outcome = agent_id === ROOT ? await this.#root(run) : await this.#child(run, agent_id)
      if (outcome === 'held') await this.#lookLater(run_id, agent_id, !may_have)
      if (typeof outcome === 'string') return outcome
      if (!(await this.#isWanted(run_id, agent_id, outcome))) return 'rests'
    }
  }

  /** Says to whoever waits for a run why a worker cannot work on one of its agents. */
  async refused({ run_id, agent_id, worker, reason }: Omit<WorkerRefusal, 'at'> & { run_id: string }): Promise<void> {
    const { store, redactor } = this.parts
    const run = await store.run(run_id)
    if (!run || run.status === 'closed') return
    const data: RefusedSignal = { agent_id, reason: redactor.redact(reason), position: run.last_position }
    await store.signal({ run_id, kind: REFUSED, data, by: worker })
  }

  /** One whose files do not go with it is worked on where it was begun, and nowhere else. */
  async #isHere({ run_id, workspace_root }: RunRow): Promise<boolean> {
    const { store, cwd, checkout } = this.parts
    const [created] = await store.read({ run_id, limit: 1 })
    const engine = created?.type === 'run.created' ? created.data.engine : undefined
    if (engine?.travels) return true
    return engine?.checkout === undefined ? workspace_root === cwd : engine.checkout === checkout
  }

  /** One that is cancelled is closed by any worker, unless it has worktrees where it was begun. */
  async #canClose(run_id: string, agent_id: string, is_here: boolean): Promise<boolean> {
    if (!(await this.#isCancelled(run_id, agent_id))) return false
    return is_here || (await this.#memory(run_id, ROOT))?.tree === null
  }

  async #root(run: RunRow): Promise<Outcome> {
    const { run_id } = run
    const tenure = await this.#take(run_id, ROOT)
    if (tenure === null) return 'over'
    if (tenure === 'held') return 'held'
    const { lease } = tenure
    return this.#tended(tenure, null, async () => {
      const memory = await this.#memory(run_id, ROOT)
      if (!memory || memory.result) return null
      const signals = await this.parts.engine.catchUp(run_id)
      const cancelled = memory.cancel !== null || signals.some(({ kind }) => kind === 'cancel')
      // One that is only closed needs nothing that may be missing here.
      const { place, notes } = cancelled
        ? { place: await this.parts.driver.closingPlace(run), notes: [] }
        : await this.parts.driver.reopen(run, memory, await this.#watching(run_id))
      if (!cancelled) await this.#reach(place.trees, memory)
      const { store, host, redactor } = this.parts
      const recorder = new Recorder(store, host.clock, lease, memory, redactor)
      const loop = new AgentLoop(place, recorder, await loadMaterial(store, memory))
      await this.#recordStart(loop, memory, tenure, { notes, signals })
      return loop
    })
  }

  /** One that has not done anything yet has nothing to go on with, unless it has waited for its turn. */
  async #recordStart(
    loop: AgentLoop,
    memory: AgentMemory,
    { lease, woken }: Tenure,
    { notes, signals }: { notes: string[]; signals: readonly Signal[] },
  ): Promise<void> {
    const is_new = memory.seq === CREATED_AND_STARTED
    if (woken && is_new && this.parts.host.clock.now() - memory.at < WAITED_MS) return
    // One that somebody had to see to was nobody's until then.
    const resumed = resumeOf(signals, memory.seq)
    if (woken && !is_new && resumed === null) return loop.recordWoken(lease)
    const by = resumed?.principal === undefined ? {} : { by: resumed.principal }
    loop.recordResumed({ ...lease, sandbox: await this.parts.preparation.sandbox(), notes, ...by })
  }

  async #child(run: RunRow, agent_id: string): Promise<Outcome> {
    const { run_id, session_id } = run
    const { driver, engine } = this.parts
    const parent = await this.#memory(run_id, parentIdOf(agent_id) ?? ROOT)
    const child = parent?.children.find(({ id }) => id === agent_id)
    if (!parent || !child || !isOpen(child)) return 'over'
    let cancelled: { by: string; reason: string } | null = null
    let working: AgentLoop | null = null
    let copied: RunTrees | null = null
    const forget = engine.onCancel(run_id, agent_id, (by, reason) => {
      cancelled ??= { by, reason }
      working?.cancel(by, reason)
    })
    try {
      await engine.catchUp(run_id)
      const tenure = await this.#take(run_id, agent_id)
      if (tenure === 'held') return 'held'
      const { launcher, trees } = cancelled ? driver.closingFamily(run) : await this.#family(run_id, session_id)
      const children = launcher as RunChildren
      copied = trees
      // Its place may have been taken by one who died before anything was written.
      const memory = tenure === null ? null : await children.known(run_id, agent_id)
      const reads = cancelled === null && memory?.tree == null
      const above = await this.#keeping(tenure, () => this.#above(parent, child, trees, reads))
      if (tenure === null || memory === null) {
        if (cancelled)
          return await this.#notStarted(run_id, parent.agent_id, { agent_id, result: cancelledEarly(cancelled) })
        const opened = await this.#begin(() => children.start(run_id, child, above, tenure?.lease ?? null))
        if (opened === 'held') return 'held'
        if ('done' in opened) {
          return await this.#notStarted(run_id, parent.agent_id, { agent_id, result: opened.done.result })
        }
        const { lease, loop } = opened
        working = loop
        if (cancelled) loop.cancel((cancelled as { by: string }).by, (cancelled as { reason: string }).reason)
        return await this.#settled(lease, await engine.work(lease, loop), parent.agent_id)
      }
      return await this.#tended(tenure, parent.agent_id, async () => {
        if (memory.result) return null
        if (!cancelled) await this.#reach(trees, memory)
        const { loop } = await children.goOn(tenure.lease, memory, above, tenure.woken)
        working = loop
        if (cancelled) loop.cancel((cancelled as { by: string }).by, (cancelled as { reason: string }).reason)
        return loop
      })
    } finally {
      forget()
      await copied?.removeCopy({ agent_id, is_root: false })
    }
  }

  /** What has to be there before it is opened may take its time. Where it cannot be had, another may have it. */
  async #keeping<T>(tenure: Tenure | null, work: () => Promise<T>): Promise<T> {
    if (tenure === null) return work()
    try {
      return await this.parts.engine.keep(tenure.lease, work)
    } catch (error) {
      await this.#letGo(tenure)
      throw error
    }
  }

  async #family(run_id: string, session_id: string): Promise<Family> {
    const { watching, catalog } = await this.#begun.get(run_id)
    return this.parts.driver.family(run_id, session_id, watching, catalog)
  }

  /** Whoever claimed it first works on it. */
  async #begin<T>(start: () => Promise<T>): Promise<T | 'held'> {
    try {
      return await start()
    } catch (error) {
      if (error instanceof AbandonedError) return 'held'
      throw error
    }
  }

  /** What is to be done after it was worked on. `parent_id`: who waits for it. */
  async #settled(
    { run_id, agent_id, epoch }: Lease,
    left: Awaited<ReturnType<WorkerEngine['work']>>,
    parent_id: string | null,
  ): Promise<Outcome> {
    const { engine } = this.parts
    if (left.ok) {
      if (parent_id !== null) await this.#tellEnd(run_id, agent_id, parent_id)
      return 'over'
    }
    if (left.code === 'rests') {
      const { heard, settled, time_left_ms } = left
      // Whoever rests does not notice that its time is up. Where it was before, those it waits for have been told.
      if (time_left_ms !== null && time_left_ms > 0) {
        await engine.wake(run_id, agent_id, `deadline-${epoch}`, { delay_ms: time_left_ms })
      }
      return { heard, settled }
    }
    // What made this worker let go of it may be there still.
    const later = engine.is_closing ? {} : { delay_ms: AGAIN_MS }
    await engine.wake(run_id, agent_id, `again-${epoch}`, { closes: true, ...later })
    return 'left'
  }

  /** Works on an agent whose lease was taken. `open` null: there is nothing to do any more. */
  async #tended(
    { lease, woken }: Tenure,
    parent_id: string | null,
    open: () => Promise<AgentLoop | null>,
  ): Promise<Outcome> {
    const { engine } = this.parts
    const { run_id, agent_id } = lease
    let loop: AgentLoop | null
    try {
      loop = await engine.keep(lease, open)
    } catch (error) {
      await this.#letGo({ lease, woken })
      throw error
    }
    if (!loop) {
      // It has ended before, and whoever waits for it may not have been told.
      if (parent_id !== null) await this.#tellEnd(run_id, agent_id, parent_id)
      return 'over'
    }
    await engine.catchUp(run_id)
    return this.#settled(lease, await engine.work(lease, loop), parent_id)
  }

  /** As it was: another worker may be able to do what this one is not. */
  async #letGo({ lease, woken }: Tenure): Promise<void> {
    const { store } = this.parts
    await (woken ? rest(store, lease) : store.release(lease))
  }

  async #notStarted(run_id: string, parent_id: string, data: NotStarted): Promise<Outcome> {
    await this.parts.store.signal({ run_id, kind: 'not_started', data, by: 'runtime' })
    await this.#tellEnd(run_id, data.agent_id, parent_id)
    return 'over'
  }

  /** One that is cancelled waits for that to be closed, by whichever worker. */
  #tellEnd(run_id: string, agent_id: string, parent_id: string): Promise<void> {
    return this.parts.engine.tell(run_id, parent_id, `ended-${agent_id}`, { closes: true })
  }

  /**
   * Whoever holds it may be dead, or die after what it had was taken up and found held. Later its lease has run out then. It is
   * asked for once in that time, by however many find it held.
   */
  async #lookLater(run_id: string, agent_id: string, closes: boolean): Promise<void> {
    const { engine, store } = this.parts
    const lease = await store.lease(run_id, agent_id)
    if (!lease || lease.owner === AT_REST) return
    // By the second until which it is held: a later look finds another, or that it is free.
    const until = Math.floor(lease.expires_at / 1000)
    await engine.wake(run_id, agent_id, `held-${lease.epoch}-${until}`, { delay_ms: engine.ttl_ms, closes })
  }

  /** Signals are kept until the run is closed. */
  async #isCancelled(run_id: string, agent_id: string): Promise<boolean> {
    const signals = await this.parts.store.signals({ run_id, after: 0 })
    return signals.some(({ kind, data }) => {
      if (agent_id === ROOT) return kind === 'cancel'
      return kind === 'cancel_agent' && (data as { agent_id?: unknown } | null)?.agent_id === agent_id
    })
  }

  /** null: it has no stream. `held`: somebody who is alive works on it. */
  async #take(run_id: string, agent_id: string): Promise<Tenure | 'held' | null> {
    const { store, engine, host } = this.parts
    let seen = await store.lease(run_id, agent_id)
    for (;;) {
      if (!seen) return null
      const woken = seen.owner === AT_REST && seen.expires_at > 0
      if (woken || !engine.isHeld(seen)) {
        const lease = await engine.acquire(seen)
        if (lease) return { lease, woken }
      } else if (seen.owner === host.identity.owner && engine.isAtWork(run_id, agent_id)) return 'held'
      // It was alive a moment ago, and it is looked again later.
      else if (engine.isFresh(seen)) return 'held'
      await host.clock.sleep(LOOK_MS)
      const now = await store.lease(run_id, agent_id)
      const is_same = now?.epoch === seen.epoch && now.owner === seen.owner
      // It says that it is alive: whatever there is to do, it will see to.
      if (now && is_same && now.expires_at > seen.expires_at) return 'held'
      seen = now
    }
  }

  /** Whether something happened to one that rests while it was let go of. Whoever came meanwhile found it held. */
  async #isWanted(run_id: string, agent_id: string, { heard, settled }: Rest): Promise<boolean> {
    const { store } = this.parts
    const [memory, rows, signals] = await Promise.all([
      this.#memory(run_id, agent_id),
      store.agents(run_id),
      store.signals({ run_id, after: heard }),
    ])
    if (!memory || memory.result) return false
    const open = new Set(memory.children.filter(isOpen).map(({ id }) => id))
    const ended = rows.some((row) => open.has(row.agent_id) && ENDED.has(row.state) && !settled.includes(row.agent_id))
    if (ended || signals.some(({ kind, data }) => concerns(kind, data, agent_id, open))) return true
    if (agent_id === ROOT || memory.tree !== null) return false
    return (await this.#admission(run_id, memory.contract.parent.agent_id ?? ROOT, agent_id)) !== null
  }

  async #memory(run_id: string, agent_id: string): Promise<AgentMemory | null> {
    return foldAgent(await this.parts.store.read({ run_id, agent_id }))
  }

  /** Somebody may be asked where somebody could be when the run was given to the workers. Who listens has said so. */
  async #watching(run_id: string): Promise<Watching> {
    const { store, words } = this.parts
    const [created] = await store.read({ run_id, limit: 1 })
    const asks = created?.type === 'run.created' && created.data.engine?.asks
    const watched = (await store.signals({ run_id, after: 0 })).some(({ kind }) => kind === WATCHED)
    return { ...(asks ? { person: FAR_PERSON } : {}), ...(watched ? { onDelta: words.speaker(run_id) } : {}) }
  }

  /** `reads`: it looks at what its parent has. One with a tree of its own does not, nor one that is only closed. */
  async #above(parent: AgentMemory, child: Child, trees: RunTrees, reads: boolean): Promise<Above> {
    const reader = { agent_id: child.id, is_root: false }
    const files = reads ? await this.#filesOf(parent, trees, reader) : await this.parts.preparation.folder()
    return {
      files: () => files,
      at_once: child.repairs !== null,
      admit: (signal, onWait) => this.#askToWrite(parent, child.id, signal, onWait),
    }
  }

  /** Before it is touched: another worker may be able to have its files. */
  async #reach(trees: RunTrees, { agent_id, tree }: AgentMemory): Promise<void> {
    const found = await trees.canHave(tree?.carried?.commit ?? tree?.base ?? null)
    if (!found.ok) throw new RetinueError('input', `The files of ${agent_id} cannot be had here: ${found.message}`)
  }

  /**
   * What an agent works in: its own tree, else what the one above it works in. Where that is in another checkout, its
   * sub-agent reads a copy.
   */
  async #filesOf(memory: AgentMemory, trees: RunTrees, reader: TreeOwner): Promise<Files> {
    const { run_id, agent_id, contract, tree } = memory
    const above = contract.parent.agent_id
    if (tree !== null) {
      const owner = { agent_id, is_root: above === null }
      const isElsewhere = tree.checkout !== undefined && tree.checkout !== this.parts.checkout
      const found = isElsewhere
        ? await trees.copyFor(reader, owner, tree.carried?.commit ?? tree.base)
        : await trees.look(owner, tree.base)
      if (!found.ok) throw new RetinueError('input', `The files of ${agent_id} cannot be had here: ${found.message}`)
      return found.tree.files
    }
    const parent = above === null ? null : await this.#memory(run_id, above)
    return parent ? this.#filesOf(parent, trees, reader) : this.parts.preparation.folder()
  }

  /** Asks the parent, wherever that is; it lets one write by an event of its own. */
  async #askToWrite(
    parent: AgentMemory,
    agent_id: string,
    signal: AbortSignal,
    onWait: (behind: string[]) => void,
  ): Promise<TreeResult<{ base: string }>> {
    const { run_id } = parent
    const { store, engine } = this.parts
    const known = await this.#admission(run_id, parent.agent_id, agent_id)
    if (known) return known
    await store.signal({ run_id, kind: 'admit', data: { agent_id }, by: 'runtime' })
    await engine.tell(run_id, parent.agent_id, `admit-${agent_id}`)
    for (let looks = 0; ; looks++) {
      // The parent knows behind whom it waits; here it is enough that it is not its own time.
      if (looks === AWAITS_AFTER) onWait([parent.agent_id])
      const admission = await this.#admission(run_id, parent.agent_id, agent_id)
      if (admission) return admission
      if (signal.aborted) return { ok: false, code: 'failed', message: 'it was stopped while it waited to write' }
      await this.parts.host.clock.sleep(ADMITTED_MS, signal)
    }
  }

  async #admission(run_id: string, parent_id: string, agent_id: string): Promise<TreeResult<{ base: string }> | null> {
    const { store } = this.parts
    const parent = await this.#memory(run_id, parent_id)
    const base = parent?.children.find(({ id }) => id === agent_id)?.base ?? null
    if (base !== null) return { ok: true, base }
    const signals = await store.signals({ run_id, after: 0 })
    const told = signals.find(
      ({ kind, data }) => kind === 'not_admitted' && (data as NotAdmitted).agent_id === agent_id,
    )
    if (!told) return null
    const { code, message } = told.data as NotAdmitted
    return { ok: false, code, message }
  }
}

const ENDED = new Set(['waiting_for_merge', 'failed'])

/** Whether a word is for this agent: to it, or of one of its sub-agents. */
function concerns(kind: string, data: unknown, agent_id: string, children: ReadonlySet<string>): boolean {
  const about = String((data as { agent_id?: unknown } | null)?.agent_id)
  if (kind === 'cancel') return agent_id === ROOT
  if (kind === 'cancel_agent' || kind === 'not_admitted') return about === agent_id
  return (kind === 'admit' || kind === 'not_started') && children.has(about)
}
