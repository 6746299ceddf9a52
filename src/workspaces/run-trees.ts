import { join } from 'node:path'
import { nanoid } from 'nanoid'
import {
  type Contract,
  type EventData,
  type FileChange,
  type Landing,
  ownedFolders,
  type Receipt,
} from '../domain/index.js'
import type {
  CommitCheck,
  CommitNote,
  Host,
  Parcel,
  Repository,
  TreeChange,
  TreeResult,
  Trees,
  WorkTree,
} from '../host/index.js'
import type { Files } from './files.js'
import { type LandingWish, landResult, type RunResult } from './landing.js'
import { copyName, INTEGRATION, ownPath, ROOT } from './names.js'
import { ownershipFault } from './ownership.js'
import type { Travel, Whereabouts } from './travel.js'

/** An agent as far as its tree is concerned. */
export type TreeOwner = { agent_id: string; is_root: boolean }

/** A tree of files that is one agent's own. */
export interface AgentTree {
  readonly files: Files
  /** All that it has written, as a commit. `uncommittable`: what no commit can have. */
  snapshot(title: string): Promise<TreeResult<{ commit: string; uncommittable: string[] }>>
  /** Those of these files that git ignores. */
  ignored(paths: readonly string[]): Promise<TreeResult<{ paths: string[] }>>
  /** Brings it to a commit, whatever is in it; `is_clean`: it is known to be as it was committed. */
  reset(commit: string, options?: { is_clean?: boolean }): Promise<TreeResult<object>>
}

/** A tree as the events of its agent have it. */
type SeenTree = { base: string; checkout?: string | undefined; carried?: { commit: string } | undefined }

type MadeTree = { tree: AgentTree; created: EventData<'agent.worktree_created'> }

/** What a sub-agent has written, as its parent finds it. */
export type Work = {
  base: string
  commit: string
  /** Paths as the agent writes them. */
  changes: TreeChange[]
  files: FileChange[]
  commits: Receipt['commits']
  left_out: string[]
  /** What no commit can have: it is in the worktree alone. */
  uncommittable: string[]
  /** Why it is not the agent's to change. */
  fault: string | null
}

/** A sub-agent that has ended. `taken`: the commit that its work was found to be, before a restart. */
type Ended = {
  contract: Contract
  base: string
  taken: string | null
  title: string
  files_changed: string[]
}

type Parts = {
  host: Host
  folder: string
  run_id: string
  /** Whether a command makes fresh trees ready, so that they need nothing of what most projects have. */
  has_setup: boolean
  /** What must not get into a commit of the person's, nor anywhere else. */
  check: CommitCheck
  /** Where its agents may work in any checkout of the project; null: they work in this folder alone. */
  travel?: () => Promise<Travel | null>
}

/** The trees of one run: made when they are needed, joined by their owners' parents, landed and cleaned up. */
export class RunTrees {
  #trees: Promise<TreeResult<{ trees: Trees }>> | null = null
  #travel: Promise<Travel | null> | null = null
  readonly #mark = nanoid(8).replaceAll(/[^0-9a-z]/gi, '0')

  constructor(private readonly parts: Parts) {}

  /** null: its agents work in this folder alone. */
  travel(): Promise<Travel | null> {
    this.#travel ??= this.parts.travel?.() ?? Promise.resolve(null)
    return this.#travel
  }

  /** Whether a tree that an event names is in this folder. Those of runs that stay in one are. */
  async isHere({ checkout }: { checkout?: string | undefined }): Promise<boolean> {
    const travel = await this.travel()
    return travel === null || checkout === travel.checkout
  }

  /** The tree of the root agent, from what the person has now. It is what the whole run starts from. */
  async addRoot(): Promise<TreeResult<MadeTree>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    const owned = await this.#claim(opened.trees)
    if (!owned.ok) return owned
    const travel = await this.travel()
    // What the person had was captured when the run was given away.
    if (travel) return this.add(OF_ROOT, travel.base, [])
    const captured = await opened.trees.capture(this.parts.run_id)
    if (!captured.ok) return captured
    return this.#add(opened.trees, OF_ROOT, { base: captured.commit, notes: captured.notes })
  }

  /** `owns`: what it may write. `at`: what it has come to, where that is not its base. */
  async add(owner: TreeOwner, base: string, owns: readonly string[], at: string = base): Promise<TreeResult<MadeTree>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    const brought = await this.#bring(opened.trees, at, owner)
    if (!brought.ok) return brought
    return this.#add(opened.trees, owner, { base, at, folders: ownedFolders(owns) })
  }

  /** One that an event says was made, perhaps by a process that is gone. */
  async reopen(owner: TreeOwner, base: string): Promise<TreeResult<{ tree: AgentTree }>> {
    const opened = owner.is_root ? await this.#open() : null
    const owned = opened?.ok ? await this.#claim(opened.trees) : null
    return owned && !owned.ok ? owned : this.#at(owner, base, false)
  }

  /** The same for a sub-agent of it that only looks. Where it is in another checkout, that gets a copy of what is known of it. */
  async look(reader: TreeOwner, owner: TreeOwner, tree: SeenTree): Promise<TreeResult<{ tree: AgentTree }>> {
    if (await this.isHere(tree)) return this.#at(owner, tree.base, true)
    const opened = await this.#open()
    if (!opened.ok) return opened
    const { trees } = opened
    const commit = tree.carried?.commit ?? tree.base
    const found = await this.#brought(trees, this.#copyName(reader), commit, owner)
    return found.ok ? { ok: true, tree: await this.#agentTree(trees, found.tree, owner, commit) } : found
  }

  async #at(owner: TreeOwner, base: string, only_look: boolean): Promise<TreeResult<{ tree: AgentTree }>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    const found = await opened.trees.open(this.parts.run_id, nameOf(owner), { only_look })
    return found.ok ? { ok: true, tree: await this.#agentTree(opened.trees, found.tree, owner, base) } : found
  }

  async removeCopy(reader: TreeOwner): Promise<void> {
    const opened = (await this.travel()) ? await this.#open() : null
    if (opened?.ok) await opened.trees.remove(this.parts.run_id, this.#copyName(reader), { later: true })
  }

  /** What a sub-agent has written since its base, committed on its branch. */
  async work(
    owner: TreeOwner,
    { contract, base, taken, title, files_changed }: Ended,
  ): Promise<TreeResult<{ work: Work; tree: AgentTree }>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    const { trees } = opened
    const where = await (await this.travel())?.whereabouts(owner.agent_id)
    const found = await this.#found(trees, owner, where ?? null)
    if (!found.ok) return found
    const tree = await this.#agentTree(trees, found.tree, owner, base)
    const snapshot = await this.#snapshotAt(tree, title, taken)
    if (!snapshot.ok) return snapshot
    const { commit } = snapshot
    const uncommittable = [...new Set([...snapshot.uncommittable, ...(where?.uncommittable ?? [])])]
    const [compared, listed] = await Promise.all([this.#compare(trees, base, commit), trees.commits(base, commit)])
    if (!compared.ok) return compared
    if (!listed.ok) return listed
    const { changes, files } = compared
    const unseen = files_changed.filter((path) => !changes.some((change) => change.path === path))
    const ignored = await tree.ignored(unseen)
    if (!ignored.ok) return ignored
    const stuck = uncommittable.map((path) => ownPath(trees, path))
    const work: Work = {
      ...{ base, commit, changes, files, commits: listed.commits, left_out: ignored.paths, uncommittable: stuck },
      fault: ownershipFault(contract, changes, stuck),
    }
    return { ok: true, work, tree }
  }

  /** The tree of a sub-agent that has ended, brought here where that was in another checkout. */
  async #found(trees: Trees, owner: TreeOwner, where: Whereabouts | null): Promise<TreeResult<{ tree: WorkTree }>> {
    const name = nameOf(owner)
    if (where !== null && !(await this.isHere(where))) return this.#brought(trees, name, where.commit, owner)
    const there = await trees.open(this.parts.run_id, name)
    if (where === null || there.ok || there.code !== 'missing') return there
    return this.#brought(trees, name, where.commit, owner)
  }

  /** A tree of what was carried here. */
  async #brought(
    trees: Trees,
    name: string,
    commit: string,
    owner: TreeOwner,
  ): Promise<TreeResult<{ tree: WorkTree }>> {
    const brought = await this.#bring(trees, commit, owner)
    return brought.ok ? trees.add(this.parts.run_id, name, commit, { usual: !this.parts.has_setup }) : brought
  }

  /** Whether an agent of the run can be worked on here, with what it has come to. null: it has nothing of its own. */
  async canHave(agent_id: string, commit: string | null): Promise<TreeResult<object>> {
    const travel = await this.travel()
    if (travel === null) return { ok: true }
    const opened = await this.#open()
    return opened.ok ? travel.bring(opened.trees, commit ?? travel.base, agent_id) : opened
  }

  async #bring(trees: Trees, commit: string, { agent_id }: TreeOwner): Promise<TreeResult<object>> {
    const travel = await this.travel()
    return travel ? travel.bring(trees, commit, agent_id) : { ok: true }
  }

  /** What others need of a commit of this run who know these. */
  async pack(commit: string, known: readonly string[]): Promise<TreeResult<Parcel>> {
    const opened = await this.#open()
    return opened.ok ? opened.trees.pack(commit, known, this.parts.check) : opened
  }

  /** What gates left in it since it was taken is none of its work, unless no commit can have it: nobody can tell then. */
  async #snapshotAt(tree: AgentTree, title: string, taken: string | null): ReturnType<AgentTree['snapshot']> {
    const snapshot = await tree.snapshot(title)
    if (!snapshot.ok || taken === null || snapshot.uncommittable.length > 0 || snapshot.commit === taken)
      return snapshot
    const reset = await tree.reset(taken)
    return reset.ok ? { ok: true, commit: taken, uncommittable: [] } : reset
  }

  /** A commit that has both; no file is touched. */
  async merge(ours: string, theirs: string, by: TreeOwner, title: string): ReturnType<Trees['merge']> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    const merged = await opened.trees.merge(ours, theirs, this.#mergeNote(by, title))
    if (!('tree' in merged)) return merged
    return { ...merged, paths: merged.paths.map((path) => ownPath(opened.trees, path)) }
  }

  /** A merge whose conflicts are marked in its files, for whoever resolves them. */
  async marked(
    { tree, ours, theirs }: { tree: string; ours: string; theirs: string },
    by: TreeOwner,
    title: string,
  ): Promise<TreeResult<{ commit: string }>> {
    const opened = await this.#open()
    return opened.ok ? opened.trees.commitTree(tree, [ours, theirs], this.#mergeNote(by, title)) : opened
  }

  async commits(from: string, to: string): Promise<Receipt['commits']> {
    const opened = await this.#open()
    const listed = opened.ok ? await opened.trees.commits(from, to) : opened
    return listed.ok ? listed.commits : []
  }

  /** What a merge brought into a tree. */
  async brought(from: string, to: string): Promise<TreeResult<{ files: FileChange[] }>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    return this.#compare(opened.trees, from, to)
  }

  /** Whether a sub-agent worked in the person's checkout: what git ignores of it is nowhere else. */
  async isWhere(owner: TreeOwner): Promise<boolean> {
    const travel = await this.travel()
    if (travel === null) return true
    return travel.isHome && (await travel.whereabouts(owner.agent_id))?.checkout === travel.checkout
  }

  /** Removes the tree of a sub-agent whose work is integrated, or that has none. */
  async remove(owner: TreeOwner): Promise<TreeResult<object>> {
    const opened = await this.#open()
    return opened.ok ? opened.trees.remove(this.parts.run_id, nameOf(owner), { later: true }) : opened
  }

  /**
   * Leaves the tree of a sub-agent where a person finds it, as it was when the agent had ended. null: it was never
   * finished or somebody removed it, and there is nothing in it or on its branch.
   */
  async keep(owner: TreeOwner, base: string, work: Work | null): Promise<TreeResult<{ kept: Receipt['kept'] }>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    if (work === null && (await this.#isEmpty(opened.trees, owner, base))) {
      const removed = await opened.trees.remove(this.parts.run_id, nameOf(owner))
      return removed.ok ? { ok: true, kept: null } : removed
    }
    // What no commit can have would be gone.
    if (work !== null && work.uncommittable.length === 0) {
      const found = await opened.trees.open(this.parts.run_id, nameOf(owner))
      if (found.ok) await found.tree.reset(work.commit)
    }
    if (await this.isAway()) {
      // The person is elsewhere. What was carried is there too; what was not is here alone.
      const where = await (await this.travel())?.whereabouts(owner.agent_id)
      const isCarried = work === null || where?.commit === work.commit
      if (isCarried) await opened.trees.remove(this.parts.run_id, nameOf(owner), { later: true })
      return { ok: true, kept: this.placeOf(owner) }
    }
    const published = await opened.trees.publish(this.parts.run_id, nameOf(owner))
    if (!published.ok) return published
    return { ok: true, kept: { branch: published.branch, path: this.#path(owner) } }
  }

  async #isEmpty(trees: Trees, owner: TreeOwner, base: string): Promise<boolean> {
    const { run_id } = this.parts
    const [found, listed] = [await trees.isCommitted(run_id, nameOf(owner)), await trees.list()]
    if (!found.ok || !found.committed || !listed.ok) return false
    const tree = listed.trees.find((one) => one.run_id === run_id && one.name === nameOf(owner))
    return !tree || tree.commit === null || tree.commit === base
  }

  /** The last commit of the root's tree, also where its folder is gone. */
  async head(): Promise<TreeResult<{ commit: string }>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    const where = await (await this.travel())?.whereabouts(ROOT)
    if (!where) return opened.trees.head(this.parts.run_id, INTEGRATION)
    const brought = await this.#bring(opened.trees, where.commit, OF_ROOT)
    return brought.ok ? { ok: true, commit: where.commit } : brought
  }

  /** What a run has come to, kept for whoever wants to see it later. */
  async remember(base: string, commit: string): Promise<TreeResult<{ files: FileChange[] }>> {
    const opened = await this.#open()
    if (!opened.ok) return opened
    const remembered = await opened.trees.remember(this.parts.run_id, { base, result: commit })
    return remembered.ok ? this.#compare(opened.trees, base, commit) : remembered
  }

  /** Brings the result of a run into the person's folder, if that is as it was. Otherwise it is kept on its branch. */
  async land(what: RunResult, how: LandingWish): Promise<Landing> {
    if (await this.isAway()) {
      const where = 'the run ended in another checkout than it began in'
      const apply = `retinue apply ${this.parts.run_id}`
      // What a process at home had brought before it died cannot be seen from here.
      const reason = how.again
        ? `${where}, after a worker there had begun to bring it in: some of it may be in the folder already, and ${apply} brings the rest`
        : `${where}: bring it in with ${apply}`
      return { ...(await this.stay(what, reason)), away: true }
    }
    const opened = await this.#open()
    const landed = opened.ok ? await landResult(opened.trees, this.parts, what, how) : opened
    return landed.ok ? landed.landing : this.stay(what, landed.message)
  }

  /** Leaves the result of a run on its branch. */
  async stay(what: RunResult, reason: string): Promise<Landing> {
    const kept: Landing = { state: 'kept', ...what, landed_commit: null, branch: this.branchOf(OF_ROOT), reason }
    // The person's own repository is elsewhere; what there is was carried.
    if (await this.isAway()) return kept
    const opened = await this.#open()
    const published = opened.ok ? await opened.trees.publish(this.parts.run_id, INTEGRATION) : opened
    return published.ok ? kept : { ...kept, reason: `${reason}; ${published.message}` }
  }

  /** Nothing of the run is left but what has work in it that is nowhere else. */
  async end(landing: Landing): Promise<void> {
    const opened = await this.#open()
    if (!opened.ok) return
    const { trees } = opened
    const { run_id } = this.parts
    const all = await trees.isCommitted(run_id, INTEGRATION)
    if (await this.isAway()) {
      const head = await trees.head(run_id, INTEGRATION)
      const isResult = all.ok && all.committed && head.ok && head.commit === landing.commit
      // What could not be carried is here alone. What else is left of it here is swept.
      if (isResult) {
        await trees.remove(run_id, INTEGRATION)
        // Who wants it here has it brought, as in any other checkout.
        await trees.forget(run_id)
      }
      await trees.own(run_id, null)
      return
    }
    const keep_tree = (all.ok && !all.committed) || (landing.left_out ?? []).length > 0
    await trees.remove(run_id, INTEGRATION, { keep_branch: landing.state === 'kept', keep_tree })
    await trees.own(run_id, null)
    const listed = await trees.list()
    if (listed.ok && !listed.trees.some((tree) => tree.run_id === run_id)) await trees.removeRun(run_id)
  }

  /** For a run that has no tree: one that a process made and died before it could say so. Nobody has worked in it. */
  async clear(): Promise<void> {
    const { host, folder, run_id } = this.parts
    const path = join(folder, '.retinue', 'worktrees', run_id)
    const isThere = await host.workspace(path).then(
      () => true,
      () => false,
    )
    if (!isThere) return
    const opened = await this.#open()
    if (opened.ok) await opened.trees.removeRun(run_id)
  }

  placeOf(owner: TreeOwner): { branch: string; path: string } {
    return { branch: this.branchOf(owner), path: this.#path(owner) }
  }

  branchOf(owner: TreeOwner): string {
    return `retinue/${this.parts.run_id}/${nameOf(owner)}`
  }

  /** Another for each process: two may take up the same agent for a moment, and one of them is too late. */
  #copyName(reader: TreeOwner): string {
    return copyName(nameOf(reader), this.#mark)
  }

  /** Whether the person whose run it is has another folder than this. */
  async isAway(): Promise<boolean> {
    const travel = await this.travel()
    return travel !== null && !travel.isHome
  }

  /** Whoever cleans up without knowing the run sees that this process works on it. */
  #claim(trees: Trees): Promise<TreeResult<object>> {
    return trees.own(this.parts.run_id, this.parts.host.identity.owner)
  }

  #open(): Promise<TreeResult<{ trees: Trees }>> {
    this.#trees ??= this.parts.host.trees(this.parts.folder, this.parts.run_id).then((opened) => {
      // What is missing may be there the next time.
      if (!opened.ok) this.#trees = null
      return opened
    })
    return this.#trees
  }

  async #add(
    trees: Trees,
    owner: TreeOwner,
    {
      base,
      at = base,
      notes = [],
      folders = [],
    }: { base: string; at?: string; notes?: string[]; folders?: readonly string[] },
  ): Promise<TreeResult<MadeTree>> {
    const made = await trees.add(this.parts.run_id, nameOf(owner), at, { usual: !this.parts.has_setup, folders })
    if (!made.ok) return made
    const travel = await this.travel()
    const created = {
      branch: made.tree.branch,
      path: this.#path(owner),
      base,
      included: made.included,
      notes: [...notes, ...made.notes],
      ...(travel ? { checkout: travel.checkout } : {}),
    }
    return { ok: true, tree: await this.#agentTree(trees, made.tree, owner, base), created }
  }

  async #agentTree({ folder, concealed }: Trees, tree: WorkTree, owner: TreeOwner, base: string): Promise<AgentTree> {
    const travel = await this.travel()
    const workspace = await this.parts.host.workspace(tree.root, { known_as: travel?.folder ?? folder })
    return {
      files: {
        workspace,
        repository: async () => ownView(tree, base),
        around: { concealed, seen: [tree.top, ...tree.links, ...(await this.#skills())] },
      },
      snapshot: (title) => tree.snapshot(this.#note(owner, title)),
      ignored: (paths) => tree.ignored(paths),
      reset: (commit, options) => tree.reset(commit, options),
    }
  }

  async #compare(
    trees: Trees,
    from: string,
    to: string,
  ): Promise<TreeResult<{ changes: TreeChange[]; files: FileChange[] }>> {
    if (from === to) return { ok: true, changes: [], files: [] }
    const compared = await trees.changes(from, to)
    if (!compared.ok) return compared
    const changes = compared.changes.map((change) => ({ ...change, path: ownPath(trees, change.path) }))
    return { ok: true, changes, files: changes.map(({ path, kind }) => ({ path, kind })) }
  }

  /** What skills consist of is there to be run. */
  async #skills(): Promise<string[]> {
    const path = join(this.parts.folder, '.retinue', 'skills')
    return this.parts.host.workspace(path).then(
      ({ root }) => (root === path ? [path] : []),
      () => [],
    )
  }

  #mergeNote(by: TreeOwner, title: string): CommitNote {
    return this.#note(by, `${title}\n\nSub-agent ${by.agent_id} of run ${this.parts.run_id}.`)
  }

  #note({ agent_id }: TreeOwner, message: string): CommitNote {
    const { run_id, host } = this.parts
    const author = { name: `Retinue ${agent_id}`, email: `${agent_id}@${run_id}.retinue.localhost` }
    return { message, author, at: host.clock.now() }
  }

  #path(owner: TreeOwner): string {
    return `.retinue/worktrees/${this.parts.run_id}/${nameOf(owner)}`
  }
}

const OF_ROOT: TreeOwner = { agent_id: ROOT, is_root: true }

function nameOf({ agent_id, is_root }: TreeOwner): string {
  return is_root ? INTEGRATION : agent_id
}

/** What an agent changed is what it changed since its tree was made, committed or not; and what it commits stays here. */
function ownView({ branch, repository: own }: WorkTree, base: string): Repository {
  const view = (repository: Repository): Repository => ({
    ...repository,
    during: (signal) => view(repository.during(signal)),
    diff: (options) => repository.diff(options.staged || options.ref ? options : { ...options, ref: base }),
    commit: async (options) => {
      const made = await repository.commit(options)
      const where = `(on ${branch}, the branch of this tree: its files reach the folder at the end, the commit does not)`
      return made.ok ? { ...made, summary: `${made.summary}\n${where}`.trim() } : made
    },
  })
  return view(own)
}
