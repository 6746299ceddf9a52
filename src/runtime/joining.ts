import { type AgentResult, type Child, type Receipt, union } from '../domain/index.js'
import type { TreeResult } from '../host/index.js'
import type { AgentTree, RunTrees, TreeOwner, Work } from '../workspaces/index.js'
import type { AgentFiles } from './agent-files.js'
import { looksAtFiles } from './gates.js'
import { failed, type Judged, Judging, type JudgingSide, type Stopper, wellDone } from './judging.js'
import { checksOf } from './launcher.js'
import type { Conflict } from './repair.js'

/** What a parent lends to the joining of its sub-agents. */
export type JoiningSide = JudgingSide & {
  trees: RunTrees
  /** What the parent works in. */
  files: AgentFiles
}

/** What a sub-agent that has ended wrote; null: it has no tree of its own. */
export type Taken = TreeResult<{ work: Work; tree: AgentTree }> | null

/** What became of a conflict: the sub-agent that was to resolve it, or why there is none. null: nobody wanted one. */
export type Repaired = { repairer: Child } | { obstacle: string } | null

/**
 * What a sub-agent's end comes to: it stands only if what it wrote is its own to write, its gates pass on its work,
 * the work goes together with what its parent has, and the gates pass on that too. All of it is in the parent's stream,
 * so that a restart goes on where a dead process was.
 */
export class Joining {
  readonly #judging: Judging

  constructor(
    private readonly side: JoiningSide,
    private readonly around: {
      /** Who stopped the parent itself. */
      stopper: () => { by: string; reason: string } | null
      /** Has a conflict resolved by another sub-agent. */
      repair: (child: Child, conflict: Conflict) => Promise<Repaired>
    },
  ) {
    this.#judging = new Judging(side, around.stopper)
  }

  /** What a sub-agent that has ended wrote, as a commit. Before its turn to be joined: it is nobody else's business. */
  async take(child: Child, { files_changed }: AgentResult): Promise<Taken> {
    const { contract, base, taken, title } = child
    if (base === null || contract === null) return null
    // Whoever has let go of the parent touches nothing any more: somebody else may be at the same already.
    await this.side.recorder.confirm()
    const ended = { contract, base, taken: taken?.commit ?? null, title, files_changed }
    const found = await this.side.trees.work(ownerOf(child), ended)
    if (found.ok && taken === null && !child.merged) {
      const { commit, files } = found.work
      this.side.recorder.record('agent.work_taken', { ...named(child), commit, files })
    }
    return found
  }

  async join(child: Child, result: AgentResult, run: Stopper, taken: Taken): Promise<Judged> {
    const shared = { files: this.side.files.now, after_merge: false }
    if (taken === null) {
      const judge = () => this.#judging.judge(child, result, run, shared, false)
      // What it looks at must not be in the middle of a merge.
      return checksOf(child).some(looksAtFiles) ? this.side.files.alone(judge) : judge()
    }
    if (taken.ok) return this.#joinWork(child, result, run, taken)
    // What was merged before a crash may be gone already, and so may one in which nothing was written.
    if (child.merged) {
      const files_changed = child.merged.files.map(({ path }) => path)
      return this.#closed(child, wellDone({ ...result, files_changed }, checksOf(child)), null)
    }
    if (child.taken?.is_empty) {
      return this.#closed(child, await this.#judging.judge(child, result, run, shared, false), null)
    }
    return this.#closed(child, unjoined(result, taken.message), null)
  }

  async #joinWork(
    child: Child,
    result: AgentResult,
    run: Stopper,
    own: { work: Work; tree: AgentTree },
  ): Promise<Judged> {
    const { work, tree } = own
    const paths = work.files.map(({ path }) => path)
    const written = { ...result, files_changed: union(paths, work.left_out) }
    if (child.merged) return this.#closed(child, wellDone(written, checksOf(child)), work)
    const judged =
      outside(written, work) ??
      (await this.#judging.judge(child, written, run, { files: tree.files, after_merge: false }, paths.length > 0))
    if (!judged.passed || paths.length === 0) return this.#closed(child, judged, work)
    const merged = await this.side.files.alone(() => this.#merge(child, judged, run, own))
    if (!('paths' in merged)) return this.#closed(child, this.#resolved(child, merged), work)
    const repaired = await this.around.repair(child, merged)
    if (repaired && 'repairer' in repaired && repaired.repairer.merged) {
      // Its work came in with that of the other, and is found to be there.
      const again = await this.side.files.alone(() => this.#merge(child, judged, run, own))
      if (!('paths' in again)) return this.#closed(child, this.#resolved(child, again), work)
    }
    return this.#closed(child, conflicting(written, merged, repaired), work)
  }

  /** Whether it was merged before or after that one was joined: with whom its conflict was resolved is said. */
  #resolved(child: Child, judged: Judged): Judged {
    const { children } = this.side.recorder.memory
    const repairer = children.find(({ repairs, merged }) => repairs?.sub_agent_id === child.id && merged !== null)
    return repairer && judged.passed ? resolvedBy(judged, repairer) : judged
  }

  /** A merge that a dead process had begun is taken back, before anything else happens in the parent's tree. */
  async takeBack(child: Child): Promise<void> {
    const { merging } = child
    if (!merging) return
    await this.side.files.alone(async () => {
      await this.#bringBack(merging.before)
      this.#takenBack(child, merging, 'the process ended during it')
    })
  }

  /** The parent's tree is touched only when the gates have passed on the merge, in the sub-agent's own tree. */
  async #merge(
    child: Child,
    judged: Judged,
    run: Stopper,
    { work, tree }: { work: Work; tree: AgentTree },
  ): Promise<Judged | Conflict> {
    const { recorder, trees, files } = this.side
    const { result } = judged
    if (run?.stopped.aborted) return this.#judging.stopped(result, run)
    // Whoever has let go of the run touches nothing any more.
    await recorder.commit()
    const ours = await files.committed()
    if (!ours.ok) return unjoined(result, ours.message)
    const before = ours.commit
    const made = await trees.merge(before, work.commit, ownerOf(child), child.title)
    if (!made.ok && 'tree' in made) {
      const sides = { tree: made.tree, ours: before, theirs: work.commit }
      const marked = await trees.marked(sides, ownerOf(child), child.title)
      return marked.ok ? { paths: made.paths, base: marked.commit } : unjoined(result, marked.message)
    }
    if (!made.ok) return unjoined(result, made.message)
    const after = made.commit
    const merge = { ...named(child), before, after, kind: made.kind === 'merge' ? 'merge' : 'fast_forward' } as const
    recorder.record('agent.merge_started', merge)
    const [brought] = await Promise.all([trees.brought(before, after), recorder.commit()])
    const unmet = brought.ok ? await this.#onMerge(child, result, run, tree, after) : unjoined(result, brought.message)
    const entered = unmet || !brought.ok ? null : await files.bringTo(after)
    if (!entered?.ok || !brought.ok) {
      if (entered) await this.#bringBack(before)
      const why = unmet ?? unjoined(result, entered?.ok === false ? entered.message : '')
      this.#takenBack(child, merge, why.close_reason)
      return why
    }
    recorder.record('agent.worktree_merged', { ...merge, files: brought.files })
    // From here on its own tree may go.
    await recorder.commit()
    return judged
  }

  /** null: the gates pass on what the merge has. */
  async #onMerge(
    child: Child,
    result: AgentResult,
    run: Stopper,
    tree: AgentTree,
    merge: string,
  ): Promise<Judged | null> {
    if (!checksOf(child).some(looksAtFiles)) return null
    const entered = await tree.reset(merge)
    if (!entered.ok) return unjoined(result, entered.message)
    return this.#judging.gates(child, result, run, { files: tree.files, after_merge: true })
  }

  /** A tree that cannot be put back is none to go on with: half a merge would pass for the agent's own work. */
  async #bringBack(before: string): Promise<void> {
    const { files } = this.side
    const reset = await files.bringTo(before)
    if (!reset.ok) files.fail(`its worktree cannot be put back to ${before}: ${reset.message}`)
  }

  #takenBack(child: Child, { before, after }: { before: string; after: string }, reason: string): void {
    this.side.recorder.record('agent.merge_taken_back', { ...named(child), before, after, reason })
  }

  /** With what can be shown of its work, and its tree gone, or kept where it holds work that is nowhere else. */
  async #closed(child: Child, judged: Judged, work: Work | null): Promise<Judged> {
    const { trees, recorder } = this.side
    const owner = ownerOf(child)
    const base = child.base as string
    const { merged, gates } = recorder.memory.children.find(({ id }) => id === child.id) as Child
    const left_out = work?.left_out ?? []
    const nothing = work !== null && work.changes.length === 0 && work.uncommittable.length === 0
    const integrated = merged !== null || nothing
    // Without its tree a restart can only go by what is written down, and whoever has let go touches nothing any more.
    await recorder.commit()
    // What git ignores stayed in the checkout that it was written in, and this may be another.
    const is_here = left_out.length > 0 && (await trees.isWhere(owner))
    if (integrated && !is_here) await trees.remove(owner)
    const kept = integrated ? null : await trees.keep(owner, base, work)
    const receipt: Receipt = {
      branch: trees.branchOf(owner),
      base,
      commits: work?.commits ?? (child.taken ? await trees.commits(base, child.taken.commit) : []),
      files: work?.files ?? merged?.files ?? [],
      gates: gates.map(({ what, passed, after_merge }) => ({
        what,
        stage: after_merge ? 'after_merge' : 'before_merge',
        passed,
      })),
      merged: merged && { commit: merged.after, kind: merged.kind },
      kept: kept?.ok ? kept.kept : integrated && is_here ? trees.placeOf(owner) : null,
      left_out,
    }
    const where = kept && keptWhere(kept, judged.result)
    const ignored =
      left_out.length > 0
        ? `${is_here ? `in ${trees.placeOf(owner).path} alone` : 'left behind in another checkout'}, since git ignores them: ${left_out.join(', ')}`
        : null
    const close_reason = [judged.close_reason, where, ignored].filter((part) => part !== null).join('; ')
    return { ...judged, result: { ...judged.result, receipt }, close_reason }
  }
}

function keptWhere(kept: Awaited<ReturnType<RunTrees['keep']>>, { files_changed }: AgentResult): string | null {
  if (!kept.ok) return `its work is lost: ${kept.message}`
  if (kept.kept) return `its work is kept on ${kept.kept.branch}`
  return files_changed.length > 0 ? 'its work is lost' : null
}

function named({ id, step_idx }: Child) {
  return { sub_agent_id: id, step_idx }
}

function ownerOf({ id }: Child): TreeOwner {
  return { agent_id: id, is_root: false }
}

/** Work of one that did not get to its end is not looked at. */
function outside(result: AgentResult, { fault }: Work): Judged | null {
  if (fault === null || (result.outcome !== 'completed' && result.outcome !== 'budget_exceeded')) return null
  return failed({ ...result, outcome: 'policy_violation', cause: 'owns', reason: fault }, fault)
}

/** One that failed by itself did so for that reason. */
function unjoined(result: AgentResult, message: string): Judged {
  const { outcome, reason } = result
  if (outcome !== 'completed' && outcome !== 'budget_exceeded')
    return failed(result, `${reason ?? outcome}; ${message}`)
  const close_reason = `its work could not be integrated: ${message}`
  return failed({ ...result, outcome: 'error', cause: 'worktree', reason: close_reason }, close_reason)
}

function conflicting(result: AgentResult, { paths }: Conflict, repaired: Repaired): Judged {
  const close_reason = `its changes conflict with what is there already: ${paths.join(', ')}${triedInWords(repaired)}`
  return failed({ ...result, outcome: 'merge_conflict', cause: 'merge', reason: close_reason }, close_reason)
}

function triedInWords(repaired: Repaired): string {
  if (repaired === null) return ''
  if ('obstacle' in repaired) return `; nobody could be asked to resolve it: ${repaired.obstacle}`
  return `; ${repaired.repairer.id} could not resolve it: ${repaired.repairer.closed?.close_reason}`
}

function resolvedBy(judged: Judged, repairer: Child): Judged {
  const paths = checksOf(repairer).flatMap((check) => (check.kind === 'paths' ? (check.unmarked ?? []) : []))
  const close_reason = `${judged.close_reason}; its conflict in ${paths.join(', ')} was resolved by ${repairer.id}`
  return { ...judged, close_reason }
}
