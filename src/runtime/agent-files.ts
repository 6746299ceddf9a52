import type { AgentMemory } from '../domain/index.js'
import type { TreeResult } from '../host/index.js'
import { blobDigest } from '../store/index.js'
import type { AgentTree, Files, RunTrees, TreeOwner } from '../workspaces/index.js'
import type { Above } from './launcher.js'
import type { Recorder } from './recorder.js'
import { inTurn } from './turns.js'

type AgentSide = {
  recorder: Recorder
  trees: RunTrees
  /** What it has from the agent above it; null for the root. */
  above: Above | null
  /** The person's folder. */
  folder: Files
  signal: () => AbortSignal
  /** Waits while neither a slot is held nor its time passes. */
  pause: <T>(wait: () => Promise<T>) => Promise<T>
  /** Makes a fresh tree ready to work in. Says why it could not. */
  setUp: (tree: AgentTree, commit: string) => Promise<string | null>
}

const OWN_CHANGES = 'Changes of the agent itself'

/**
 * What an agent works in: what the one above it does, and from the moment that it or one below it writes, a tree of its
 * own. There is no way back, and none into the tree above it.
 */
export class AgentFiles {
  /** Whatever changes its files does it alone: its own calls, and the merges of what its sub-agents wrote. */
  readonly alone = inTurn()
  #tree: AgentTree | null = null
  /** The commit that its tree is known to be at, with nothing in it that is not committed. */
  #at: string | null = null
  #making: Promise<TreeResult<{ tree: AgentTree }>> | null = null
  /** It waits until the one above it lets it write. */
  #awaits = false
  /** What it reads of the one above it may be a copy, in which nobody would find what it writes. */
  #travels = false
  /** Calls of its own that wait for their turn or for its tree. */
  #waiting = 0

  constructor(private readonly side: AgentSide) {}

  get now(): Files {
    return this.#tree?.files ?? this.side.above?.files() ?? this.side.folder
  }

  /** What its sub-agents look at. null: it is only closed, perhaps where that is not to be had. */
  get shown(): Files | null {
    const { cancel, no_tree } = this.side.recorder.memory
    return this.#tree === null && (cancel !== null || no_tree !== null) ? null : this.now
  }

  /** The same, where nobody of the run changes it before the run lands. A tree may have another's work by now. */
  get lasting(): Files | null {
    const { shown } = this
    return shown === this.side.folder ? shown : null
  }

  get tree(): AgentTree | null {
    return this.#tree
  }

  /** Whether it waits until the one above it lets it write, for a call of its own or only for one of its sub-agents. */
  get awaits(): 'for_call' | 'for_child' | null {
    if (!this.#awaits) return null
    return this.#waiting > 0 ? 'for_call' : 'for_child'
  }

  /** That it waits, so that it is not its own time. Whoever lets go of it meanwhile says it first. */
  sayAwaits(behind: readonly string[] = [this.side.recorder.memory.contract.parent.agent_id ?? '']): void {
    const { recorder } = this.side
    if (!this.#awaits || recorder.memory.awaits_tree) return
    recorder.record('agent.workspace_awaited', { behind: [...behind] })
  }

  /** For calls of its own, after which nobody knows what is in its tree. */
  aloneForCall<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1
    return this.alone(() => {
      this.#waiting -= 1
      return work().finally(() => {
        this.#at = null
      })
    })
  }

  /** All that is in its tree, as a commit. To be called alone. */
  committed(): Promise<TreeResult<{ tree: AgentTree; commit: string }>> {
    return this.#committed(OWN_CHANGES)
  }

  /** The same, whatever is known of it. */
  whole(title: string): Promise<TreeResult<{ tree: AgentTree; commit: string }>> {
    this.#at = null
    return this.#committed(title)
  }

  async #committed(title: string): Promise<TreeResult<{ tree: AgentTree; commit: string }>> {
    const own = await this.own()
    if (!own.ok) return own
    const { tree } = own
    if (this.#at !== null) return { ok: true, tree, commit: this.#at }
    const taken = await tree.snapshot(title)
    if (!taken.ok) return taken
    const carried = await this.#carry(taken)
    if (!carried.ok) return carried
    this.#at = taken.commit
    return { ok: true, tree, commit: taken.commit }
  }

  /** Where it may have to go on in another checkout: what a call left in its tree is there, too. To be called alone. */
  async carry(): Promise<void> {
    if (this.#tree === null || !(await this.side.trees.travel())) return
    // Whoever has let go of it touches nothing any more.
    await this.side.recorder.confirm()
    const taken = await this.whole(OWN_CHANGES)
    if (!taken.ok) this.fail(taken.message)
  }

  /** The same for what a sub-agent of it begins with, where that is not what it has itself. */
  carryFor(sub_agent_id: string, commit: string): Promise<TreeResult<object>> {
    return this.#carry({ commit, uncommittable: [] }, sub_agent_id)
  }

  async #carry(
    { commit, uncommittable }: { commit: string; uncommittable: string[] },
    begins?: string,
  ): Promise<TreeResult<object>> {
    const { recorder, trees } = this.side
    const { tree } = recorder.memory
    if (tree === null || !(await trees.travel())) return { ok: true }
    const { base, carried } = tree
    const stuck = uncommittable.length > 0 ? { uncommittable } : {}
    const isKnown = commit === (carried?.commit ?? base)
    if (isKnown && uncommittable.join('\0') === (carried?.uncommittable ?? []).join('\0')) return { ok: true }
    const packed = await trees.pack(commit, carried ? [base, carried.commit] : [base])
    if (!packed.ok) return packed
    const { bytes } = packed
    const parcel = bytes && { digest: blobDigest(bytes), bytes: bytes.length }
    if (bytes && parcel) recorder.keepBlob({ digest: parcel.digest, bytes })
    recorder.record('agent.files_carried', { commit, parcel, ...stuck, ...(begins === undefined ? {} : { begins }) })
    return { ok: true }
  }

  /** Brings its tree to a commit. To be called alone. */
  async bringTo(commit: string): Promise<TreeResult<object>> {
    const own = await this.own()
    if (!own.ok) return own
    const is_clean = this.#at !== null
    this.#at = null
    const done = await own.tree.reset(commit, { is_clean })
    if (!done.ok) return done
    const carried = await this.#carry({ commit, uncommittable: [] })
    if (carried.ok) this.#at = commit
    return carried
  }

  /**
   * Puts its tree back to a commit, whatever was left in it. One that cannot be put back is none to go on with: what is in
   * it would pass for the agent's own work. To be called alone.
   */
  async putBack(commit: string): Promise<boolean> {
    this.#at = null
    const done = await this.bringTo(commit)
    if (done.ok) return true
    this.fail(`its worktree cannot be put back to ${commit}: ${done.message}`)
    // What was committed is still on its branch.
    this.#tree = null
    return false
  }

  /** Whether it has to have a tree before it changes anything. One that had a tree never writes anywhere else. */
  get mustHaveTree(): boolean {
    const { contract, tree } = this.side.recorder.memory
    return this.#tree === null && (tree !== null || this.#travels || contract.workspace.isolation === 'worktree')
  }

  /** What it works in from the beginning, or had before a restart. */
  async open(): Promise<void> {
    const { recorder, trees, above } = this.side
    const { tree, result, landing } = recorder.memory
    // What is landing is a commit, and its tree may be gone already.
    if (result || landing) return
    const travel = await trees.travel()
    this.#travels = travel !== null
    if (tree === null) {
      // The folder that a run which travels began in may be elsewhere.
      const needsTree = above ? above.at_once : travel !== null && recorder.memory.cancel === null
      if (needsTree && recorder.memory.no_tree === null) await this.ownForCall()
      return
    }
    const isHere = await trees.isHere(tree)
    // What was carried of it is all that is needed to close it.
    if (!isHere && recorder.memory.cancel !== null) return
    const found = isHere ? await trees.reopen(this.#owner, tree.base) : await this.#moved(tree)
    if (found.ok) this.#tree = found.tree
    else if (recorder.memory.no_tree === null)
      this.fail(isHere ? `its worktree is not there any more: ${found.message}` : found.message)
  }

  /** Its tree is in another checkout: it goes on here with what was carried. */
  async #moved(tree: NonNullable<AgentMemory['tree']>): Promise<TreeResult<{ tree: AgentTree }>> {
    const { recorder, trees } = this.side
    const commit = tree.carried?.commit ?? tree.base
    // Whoever has let go of it touches nothing any more.
    await recorder.confirm()
    const made = await trees.add(this.#owner, tree.base, recorder.memory.contract.workspace.owns, commit)
    if (!made.ok) return made
    const fault = await this.side.setUp(made.tree, commit)
    // What was carried stays, for whoever sees why.
    if (fault !== null) {
      await trees.remove(this.#owner)
      return {
        ok: false,
        code: 'failed',
        message: `its worktree could not be made ready in another checkout: ${fault}`,
      }
    }
    const { included, checkout = '' } = made.created
    const ignored = await made.tree.ignored(recorder.memory.files_changed)
    const lost = ignored.ok ? ignored.paths : []
    const notes = [
      ...made.created.notes,
      ...(lost.length > 0 ? [`stayed behind, since git ignores it: ${lost.join(', ')}`] : []),
    ]
    recorder.record('agent.worktree_moved', { checkout, commit, included, notes })
    await recorder.commit()
    this.#at = commit
    return made
  }

  /** Its own tree, made where it has none. */
  own(): Promise<TreeResult<{ tree: AgentTree }>> {
    if (this.#tree) return Promise.resolve({ ok: true, tree: this.#tree })
    const { tree, no_tree } = this.side.recorder.memory
    if (tree !== null) {
      const message = no_tree ?? 'its worktree is not there any more'
      return Promise.resolve({ ok: false, code: 'missing', message })
    }
    this.#making ??= this.#make().finally(() => {
      this.#making = null
    })
    return this.#making
  }

  /** The same for a call of its own: without a tree it is over. */
  async ownForCall(): Promise<boolean> {
    this.#waiting += 1
    const made = await this.own().finally(() => {
      this.#waiting -= 1
    })
    if (!made.ok && !this.side.signal().aborted) this.fail(made.message)
    return made.ok
  }

  fail(message: string): void {
    this.side.recorder.record('agent.worktree_failed', { message })
  }

  get #owner(): TreeOwner {
    const { agent_id, contract } = this.side.recorder.memory
    return { agent_id, is_root: contract.parent.agent_id === null }
  }

  async #make(): Promise<TreeResult<{ tree: AgentTree }>> {
    const { recorder, trees, above } = this.side
    const admitted = above ? await this.side.pause(() => this.#admitted(above)) : null
    if (admitted && !admitted.ok) return admitted
    // It may have taken long, and there is a tree of that name where somebody else has gone on with it.
    await recorder.confirm()
    const made = admitted
      ? await trees.add(this.#owner, admitted.base, recorder.memory.contract.workspace.owns)
      : await trees.addRoot()
    if (!made.ok) return made
    const { tree, created } = made
    const fault = await this.side.setUp(tree, created.base)
    if (fault !== null) {
      await trees.remove(this.#owner)
      return { ok: false, code: 'failed', message: fault }
    }
    recorder.record('agent.worktree_created', created)
    await recorder.commit()
    this.#tree = tree
    this.#at = created.base
    return { ok: true, tree }
  }

  #admitted(above: Above): Promise<TreeResult<{ base: string }>> {
    this.#awaits = true
    const admitted = above.admit(this.side.signal(), (behind) => {
      this.sayAwaits(behind)
      this.side.recorder.commitSoon()
    })
    return admitted.finally(() => {
      this.#awaits = false
    })
  }
}
