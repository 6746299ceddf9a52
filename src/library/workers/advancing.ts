import type { Catalog } from '../../control/index.js'
import type { Redactor } from '../../domain/index.js'
import { type AgentMemory, type AgentResult, isOpen, parentIdOf, type RunRow } from '../../domain/index.js'
import { givenToWorkers, type Here, leaveAlone, resumeOf, type Words, type WorkerEngine } from '../../engine/index.js'
import type { Host } from '../../host/index.js'
import { AbandonedError, type Above, AgentLoop, loadMaterial, Recorder } from '../../runtime/index.js'
import { type Lease, reasonOf, type Signal, type Store } from '../../store/index.js'
import type { RunTrees } from '../../workspaces/index.js'
import type { Watching } from '../api.js'
import { RetinueError } from '../errors.js'
import { cancelledEarly, type NotStarted, type RunChildren } from '../runs/children.js'
import type { RunDriver } from '../runs/driver.js'
import type { Family, Preparation } from '../runs/preparation.js'
import { ROOT } from '../runs/reader.js'
import { FAR_PERSON } from './far-person.js'
import { WATCHED } from './far-runs.js'
import { Lately } from './lately.js'
import { Memories } from './memories.js'
import { Parents } from './parents.js'
import { REFUSED, type RefusedSignal, type WorkerRefusal } from './refusals.js'
import { type Tenure, Tenures } from './tenures.js'

/** Before one that was let go of is tried again. */
const AGAIN_MS = 1000
/** The events that whoever gives a run to the workers has written. */
const CREATED_AND_STARTED = 2
/** One that was given to the workers longer ago has waited for its turn, and that is no time of its own. */
const WAITED_MS = 1000
/** So long the sub-agents of a run are given the same catalog: one that is at work has its own for longer. */
const SAME_CATALOG_MS = 2000

type Parts = {
  cwd: string
  /** Which checkout of which project that is. */
  here: Here
  host: Host
  store: Store
  engine: WorkerEngine
  driver: RunDriver
  preparation: Preparation
  redactor: Redactor
  words: Words
}

/**
 * `held`: another works on it. `left`: this worker lets go of it, and another takes it up. `paused`: its run is. `told`:
 * nothing was done with it, but where there was something to do, others are told.
 */
type Advanced = 'over' | 'held' | 'rests' | 'left' | 'paused' | 'told'

/** What one that rests knew when it was let go of: the last word, and which sub-agents have to wait to be joined. */
type Rest = { heard: number; settled: readonly string[] }

type Outcome = Exclude<Advanced, 'rests' | 'paused' | 'told'> | Rest

/** `parent_id`: who waits for it; null: it is the root. */
type Who = { run_id: string; agent_id: string; parent_id: string | null }

/** `held`: another was faster. null: there is nothing to do any more. */
type Opened = { lease: Lease; loop: AgentLoop } | 'held' | null

type GoOn = { tenure: Tenure; memory: AgentMemory; above: Above; trees: RunTrees; cancelled: boolean }

/**
 * Works on agents for a worker: each until it rests or is over. It may be called for the same agent at any time, and by
 * any number of workers at once: its lease says who works on it, and its log what is left to do.
 */
export class Advancing {
  /** What all sub-agents of a run begin with. */
  readonly #begun: Lately<{ watching: Watching; catalog: Catalog }>
  readonly #tenures: Tenures
  readonly #memories: Memories
  readonly #parents: Parents

  constructor(private readonly parts: Parts) {
    this.#tenures = new Tenures(parts)
    this.#memories = new Memories(parts.store)
    this.#parents = new Parents({ ...parts, memories: this.#memories })
    this.#begun = new Lately(SAME_CATALOG_MS, parts.host.clock.now, async (run_id) => {
      const signals = await parts.store.signals({ run_id, after: 0 })
      const [watching, catalog] = await Promise.all([this.#watching(run_id, signals), parts.driver.catalogOf(run_id)])
      return { watching, catalog }
    })
  }

  /** Rejects where this worker cannot work on it, with words that may be said to anybody. */
  async advance(run_id: string, agent_id: string, why: string): Promise<Advanced> {
    try {
      if (await this.parts.engine.isDeadline(run_id, agent_id, why)) return 'told'
      return await this.#advance(run_id, agent_id)
    } catch (error) {
      throw new Error(this.parts.redactor.redact(reasonOf(error)))
    }
  }

  async #advance(run_id: string, agent_id: string): Promise<Advanced> {
    const { engine, store } = this.parts
    const run = await store.run(run_id)
    if (!run || run.status === 'closed') return 'over'
    await engine.listen()
    const is_here = await this.#isHere(run)
    const may_have = is_here && (await engine.mayHave(run_id, agent_id))
    for (;;) {
      // Those that may have it have been asked too.
      if (!may_have && !(await this.#canClose(run_id, agent_id, is_here))) return 'over'
      if (await leaveAlone(store, { run_id, agent_id })) return 'paused'
      const outcome = agent_id === ROOT ? await this.#root(run) : await this.#child(run, agent_id)
      if (outcome === 'held') await this.#tenures.lookLater(run_id, agent_id, !may_have)
      if (typeof outcome === 'string') return outcome
      if (!(await this.#isWanted(run_id, agent_id, outcome))) return 'rests'
    }
  }

  /** Says to whoever waits for a run why a worker cannot work on one of its agents. */
  async refused({ run_id, agent_id, worker, reason }: Omit<WorkerRefusal, 'at'> & { run_id: string }): Promise<void> {
    const { store } = this.parts
    const run = await store.run(run_id)
    if (!run || run.status === 'closed') return
    const data: RefusedSignal = { agent_id, reason, position: run.last_position }
    await store.signal({ run_id, kind: REFUSED, data, by: worker })
  }

  /** One whose files do not go with it is worked on where it was begun, and nowhere else. */
  async #isHere({ run_id, workspace_root }: RunRow): Promise<boolean> {
    const { store, cwd, here } = this.parts
    const given = await givenToWorkers(store, run_id)
    if (given?.checkout === here.checkout) return true
    if (given?.travels) return given.project === undefined || given.project === here.project
    return given?.checkout === undefined && workspace_root === cwd
  }

  /** One that is cancelled is closed by any worker, unless it has worktrees where it was begun. */
  async #canClose(run_id: string, agent_id: string, is_here: boolean): Promise<boolean> {
    if (!(await this.#isCancelled(run_id, agent_id))) return false
    return is_here || (await this.#memories.of(run_id, ROOT))?.tree === null
  }

  async #root(run: RunRow): Promise<Outcome> {
    const { run_id } = run
    const tenure = await this.#tenures.take(run_id, ROOT)
    if (tenure === null) return 'over'
    if (tenure === 'held') return 'held'
    const { lease } = tenure
    return this.#tended(tenure, { run_id, agent_id: ROOT, parent_id: null }, async () => {
      const memory = await this.#memories.of(run_id, ROOT)
      if (!memory || memory.result) return null
      const signals = await this.parts.engine.catchUp(run_id)
      const cancelled = memory.cancel !== null || signals.some(({ kind }) => kind === 'cancel')
      // One that is only closed needs nothing that may be missing here.
      const { place, notes } = cancelled
        ? { place: await this.parts.driver.closingPlace(run), notes: [] }
        : await this.parts.driver.reopen(run, memory, await this.#watching(run_id, signals))
      if (!cancelled) await this.#reach(place.trees, memory)
      const { store, host, redactor } = this.parts
      const recorder = new Recorder(store, host.clock, lease, memory, redactor)
      const loop = new AgentLoop(place, recorder, await loadMaterial(store, memory))
      await this.#recordStart(loop, memory, tenure, { notes, signals })
      return { lease, loop }
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
    const parent = await this.#memories.of(run_id, parentIdOf(agent_id) ?? ROOT)
    const child = parent?.children.find(({ id }) => id === agent_id)
    if (!parent || !child || !isOpen(child)) return 'over'
    const cancel = new Cancel()
    let copied: RunTrees | null = null
    const forget = engine.onCancel(run_id, agent_id, (by, reason) => cancel.hear(by, reason))
    try {
      await engine.catchUp(run_id)
      const tenure = await this.#tenures.take(run_id, agent_id)
      if (tenure === 'held') return 'held'
      const who = { run_id, agent_id, parent_id: parent.agent_id }
      return await this.#tended(tenure, who, async () => {
        const { launcher, trees } = cancel.heard ? driver.closingFamily(run) : await this.#family(run_id, session_id)
        const children = launcher as RunChildren
        copied = trees
        // Its place may have been taken by one who died before anything was written.
        const memory = tenure === null ? null : await children.known(run_id, agent_id)
        if (memory?.result) return null
        if (memory === null && cancel.heard) return this.#notStarted(tenure, who, cancelledEarly(cancel.heard))
        const reads = cancel.heard === null && memory?.tree == null
        const above = await this.#parents.above(parent, child, trees, reads)
        const opened =
          tenure === null || memory === null
            ? await this.#begin(() => children.start(run_id, child, above, tenure?.lease ?? null))
            : await this.#goOn(children, { memory, tenure, above, trees, cancelled: cancel.heard !== null })
        if (opened !== 'held') cancel.reaches(opened.loop)
        return opened
      })
    } finally {
      forget()
      await (copied as RunTrees | null)?.removeCopy({ agent_id, is_root: false })
    }
  }

  async #family(run_id: string, session_id: string): Promise<Family> {
    const { watching, catalog } = await this.#begun.get(run_id)
    return this.parts.driver.family(run_id, session_id, watching, catalog)
  }

  /**
   * Whoever claimed it first works on it. Nobody does where its run was closed meanwhile, as whoever looks later sees. Where
   * this machine cannot, another may be able to.
   */
  async #begin(start: () => ReturnType<RunChildren['start']>): Promise<Exclude<Opened, null>> {
    try {
      const begun = await start()
      if ('unfit' in begun) throw new RetinueError('input', begun.unfit.message)
      return begun
    } catch (error) {
      if (error instanceof AbandonedError) return 'held'
      throw error
    }
  }

  /** What is to be done after it was worked on. */
  async #settled(lease: Lease, left: Awaited<ReturnType<WorkerEngine['work']>>, who: Who): Promise<Outcome> {
    const { engine } = this.parts
    const { run_id, agent_id } = who
    if (left.ok) {
      await this.#tellEnd(who)
      return 'over'
    }
    if (left.code === 'rests') {
      const { heard, settled, time_left_ms } = left
      // Where its time was up before, those it waits for have been told.
      if (time_left_ms !== null && time_left_ms > 0) await engine.wakeAtDeadline(lease, time_left_ms)
      return { heard, settled }
    }
    // What made this worker let go of it may be there still.
    const later = engine.is_closing ? {} : { delay_ms: AGAIN_MS }
    await engine.wake(run_id, agent_id, `again-${lease.epoch}`, { closes: true, ...later })
    return 'left'
  }

  /** Works on an agent. `tenure` null: nobody has its place yet, and whoever opens it takes that. */
  async #tended(tenure: Tenure | null, who: Who, open: () => Promise<Opened>): Promise<Outcome> {
    const { engine } = this.parts
    const opened = await this.#tenures.keep(tenure, open)
    if (opened === 'held') return 'held'
    if (opened === null) {
      // It has ended before, and whoever waits for it may not have been told.
      await this.#tellEnd(who)
      return 'over'
    }
    await engine.catchUp(who.run_id)
    return this.#settled(opened.lease, await engine.work(opened.lease, opened.loop), who)
  }

  /** Its place is taken before that is said: no worker begins it later, and none has begun it meanwhile. */
  async #notStarted(tenure: Tenure | null, { run_id, agent_id }: Who, result: AgentResult): Promise<Opened> {
    const { engine, store } = this.parts
    const is_mine = tenure
      ? await store.renew(tenure.lease, engine.ttl_ms)
      : (await engine.acquire({ run_id, agent_id, epoch: 0 })) !== null
    if (!is_mine) return 'held'
    const data: NotStarted = { agent_id, result }
    await store.signal({ run_id, kind: 'not_started', data, by: 'runtime' })
    return null
  }

  /** Where this machine cannot hold it to its contract, another may be able to. */
  async #goOn(
    children: RunChildren,
    { tenure, memory, above, trees, cancelled }: GoOn,
  ): Promise<Exclude<Opened, null>> {
    if (!cancelled) await this.#reach(trees, memory)
    const { lease, loop, fault } = await children.goOn(tenure.lease, memory, above, tenure.woken)
    if (fault !== null) throw new RetinueError('input', fault)
    return { lease, loop }
  }

  /** One that is cancelled waits for that to be closed, by whichever worker. */
  async #tellEnd({ run_id, agent_id, parent_id }: Who): Promise<void> {
    if (parent_id !== null) await this.parts.engine.tell(run_id, parent_id, `ended-${agent_id}`, { closes: true })
  }

  /** Signals are kept until the run is closed. */
  async #isCancelled(run_id: string, agent_id: string): Promise<boolean> {
    const signals = await this.parts.store.signals({ run_id, after: 0 })
    return signals.some(({ kind, data }) => {
      if (agent_id === ROOT) return kind === 'cancel'
      return kind === 'cancel_agent' && (data as { agent_id?: unknown } | null)?.agent_id === agent_id
    })
  }

  /** Before it is touched: another worker may be able to have its files. */
  async #reach(trees: RunTrees, { agent_id, tree }: AgentMemory): Promise<void> {
    const found = await trees.canHave(agent_id, tree?.carried?.commit ?? tree?.base ?? null)
    if (!found.ok) throw new RetinueError('input', `The files of ${agent_id} cannot be had here: ${found.message}`)
  }

  /** Whether something happened to one that rests while it was let go of. Whoever came meanwhile found it held. */
  async #isWanted(run_id: string, agent_id: string, { heard, settled }: Rest): Promise<boolean> {
    const { store } = this.parts
    const [memory, ended, signals] = await Promise.all([
      this.#memories.of(run_id, agent_id),
      store.agents(run_id, ENDED),
      store.signals({ run_id, after: heard }),
    ])
    if (!memory || memory.result) return false
    const open = new Set(memory.children.filter(isOpen).map(({ id }) => id))
    if (ended.some((row) => open.has(row.agent_id) && !settled.includes(row.agent_id))) return true
    if (signals.some(({ kind, data }) => concerns(kind, data, agent_id, open))) return true
    // The answer stays: whoever was not let write, and waits for something else by now, would find it at every rest.
    if (!memory.awaits_tree) return false
    return (await this.#parents.admission(run_id, memory.contract.parent.agent_id ?? ROOT, agent_id)) !== null
  }

  /** Somebody may be asked where somebody could be when the run was given to the workers. Who listens has said so. */
  async #watching(run_id: string, signals: readonly Signal[]): Promise<Watching> {
    const { store, words } = this.parts
    const asks = (await givenToWorkers(store, run_id))?.asks
    const watched = signals.some(({ kind }) => kind === WATCHED)
    return { ...(asks ? { person: FAR_PERSON } : {}), ...(watched ? { onDelta: words.speaker(run_id) } : {}) }
  }
}

/** A cancel that may be heard before there is a loop to stop. */
class Cancel {
  heard: { by: string; reason: string } | null = null
  #loop: AgentLoop | null = null

  hear(by: string, reason: string): void {
    this.heard ??= { by, reason }
    this.#loop?.cancel(by, reason)
  }

  reaches(loop: AgentLoop): void {
    this.#loop = loop
    if (this.heard) loop.cancel(this.heard.by, this.heard.reason)
  }
}

/** Of those that are not closed yet. */
const ENDED = ['waiting_for_merge', 'failed'] as const

/** Whether a word is for this agent: to it, or of one of its sub-agents. */
function concerns(kind: string, data: unknown, agent_id: string, children: ReadonlySet<string>): boolean {
  const about = String((data as { agent_id?: unknown } | null)?.agent_id)
  if (kind === 'cancel') return agent_id === ROOT
  if (kind === 'cancel_agent' || kind === 'not_admitted') return about === agent_id
  return (kind === 'admit' || kind === 'not_started') && children.has(about)
}
