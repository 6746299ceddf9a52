import {
  type AgentResult,
  type Check,
  type Child,
  type EventData,
  type Receipt,
  type Redactor,
  union,
} from '../domain/index.js'
import type { TreeResult } from '../host/index.js'
import type { Files, RunTrees, TreeOwner, Work } from '../workspaces/index.js'
import type { AgentFiles } from './agent-files.js'
import { checkGate, gateOf, looksAtFiles, type RunGate } from './gates.js'
import { type ChildRun, checksOf } from './launcher.js'
import type { Recorder } from './recorder.js'
import type { Conflict } from './repair.js'

/** What a parent lends to the joining of its sub-agents. */
export type JoiningSide = {
  recorder: Recorder
  trees: RunTrees
  /** How the command of a sub-agent's gate is run, and where. */
  runGate: (child: Child, files: Files, command: string, signal: AbortSignal) => ReturnType<RunGate>
  redactor: Redactor
  now: () => number
  /** What the parent works in. */
  files: AgentFiles
}

type Taken = Awaited<ReturnType<RunTrees['work']>>

type Judged = { passed: boolean; result: AgentResult; close_reason: string }

/** Who may stop a check. null: nobody can any more. */
type Stopper = Pick<ChildRun, 'stopped' | 'cancelled'> | null

const NEVER = new AbortController().signal

/**
 * What a sub-agent's end comes to: it stands only if what it wrote is its own to write, its gates pass on its work,
 * the work goes together with what its parent has, and the gates pass on that too. All of it is in the parent's stream,
 * so that a restart goes on where a dead process was.
 */
export class Joining {
  constructor(
    private readonly side: JoiningSide,
    private readonly around: {
      /** Who stopped the parent itself. */
      stopper: () => { by: string; reason: string } | null
      /** Has a conflict resolved by another sub-agent. null: none is there for that. */
      repair: (child: Child, conflict: Conflict) => Promise<Child | null>
    },
  ) {}

  /** What a sub-agent that has ended wrote, as a commit. Before its turn to be joined: it is nobody else's business. */
  async take(child: Child, { files_changed }: AgentResult): Promise<Taken | null> {
    const { contract, base, taken, title } = child
    if (base === null || contract === null) return null
    const found = await this.side.trees.work(ownerOf(child), { contract, base, taken, title, files_changed })
    if (found.ok && taken === null && !child.merged) {
      const { commit, files } = found.work
      this.side.recorder.record('agent.work_taken', { ...named(child), commit, files })
    }
    return found
  }

  async join(child: Child, result: AgentResult, run: Stopper, found: Taken | null): Promise<Judged> {
    if (found === null) return this.#judge(child, result, run, null)
    // What was merged before a crash may be gone already, and so may one in which nothing was written.
    if (!found.ok && child.merged) {
      const files_changed = child.merged.files.map(({ path }) => path)
      return this.#closed(child, wellDone({ ...result, files_changed }, checksOf(child)), null)
    }
    if (!found.ok && child.taken === child.base) {
      return this.#closed(child, await this.#judge(child, result, run, null), null)
    }
    if (!found.ok) return this.#closed(child, unjoined(result, found.message), null)
    const { work, tree } = found
    const written = {
      ...result,
      files_changed: union(
        work.files.map(({ path }) => path),
        work.left_out,
      ),
    }
    if (child.merged) return this.#closed(child, wellDone(written, checksOf(child)), work)
    const judged = await this.#judge(child, written, run, { work, files: tree.files })
    if (!judged.passed || work.changes.length === 0) return this.#closed(child, judged, work)
    if (run?.stopped.aborted) return this.#closed(child, this.#stoppedWhileChecked(written, run), work)
    const merged = await this.side.files.alone(() => this.#merge(child, judged, work, run))
    if (!('paths' in merged)) return this.#closed(child, merged, work)
    const repairer = await this.around.repair(child, merged)
    const adopted = repairer?.merged ? await this.side.files.alone(() => this.#adopt(child, work)) : null
    if (repairer && adopted?.ok) return this.#closed(child, repaired(judged, merged, repairer), work)
    return this.#closed(child, conflicting(written, merged, repairer), work)
  }

  /** A merge that a dead process had begun is taken back, before anything else happens in the parent's tree. */
  async takeBack(child: Child): Promise<void> {
    const { merging } = child
    if (!merging) return
    await this.side.files.alone(async () => {
      const reset = await this.side.files.bringTo(merging.before)
      const reason = reset.ok ? 'the process ended during it' : `the process ended during it; ${reset.message}`
      this.#takenBack(child, merging, reason)
    })
  }

  /** What the sub-agent's own end and its gates come to. Gates that a dead process had checked are not checked again. */
  async #judge(
    child: Child,
    result: AgentResult,
    run: Stopper,
    own: { work: Work; files: Files } | null,
  ): Promise<Judged> {
    const { outcome, reason, text } = result
    if (outcome !== 'completed' && outcome !== 'budget_exceeded') return failed(result, reason ?? outcome)
    if (own?.work.fault) {
      const close_reason = own.work.fault
      return failed({ ...result, outcome: 'policy_violation', cause: 'owns', reason: close_reason }, close_reason)
    }
    const checks = checksOf(child)
    const unmet = await this.#gates(child, result, run, {
      files: own?.files ?? this.side.files.now,
      after_merge: false,
    })
    if (unmet) return unmet
    // An answer that says nothing, and that nothing else speaks for, is none.
    if (text.trim() === '' && checks.length === 0 && (own?.work.changes.length ?? 0) === 0) {
      const close_reason = reason ?? 'it answered without a word'
      if (outcome === 'budget_exceeded') return failed(result, close_reason)
      return failed({ ...result, outcome: 'error', cause: 'no_answer', reason: close_reason }, close_reason)
    }
    return wellDone(result, checks)
  }

  /** null: all of them pass. */
  async #gates(
    child: Child,
    result: AgentResult,
    run: Stopper,
    on: { files: Files; after_merge: boolean },
  ): Promise<Judged | null> {
    for (const [number, check] of checksOf(child).entries()) {
      if (on.after_merge && !looksAtFiles(check)) continue
      const known = child.gates.find((gate) => gate.gate === number && (gate.after_merge ?? false) === on.after_merge)
      const checked = known ?? (await this.#check(child, number, check, result, run?.stopped ?? NEVER, on))
      if (!checked) return this.#stoppedWhileChecked(result, run)
      if (checked.passed) continue
      const where = on.after_merge ? ' on the merged tree' : ''
      const close_reason = `the check failed${where}: ${checked.what}: ${checked.detail}`
      return failed({ ...result, outcome: 'gate_failed', cause: 'gate', reason: close_reason }, close_reason)
    }
    return null
  }

  #stoppedWhileChecked(result: AgentResult, run: Stopper): Judged {
    const by = run?.cancelled() ?? this.around.stopper() ?? { by: 'parent', reason: 'its parent was stopped' }
    const close_reason = `cancelled by ${by.by} while it was checked: ${by.reason}`
    return failed({ ...result, outcome: 'cancelled', cause: by.by, reason: close_reason }, close_reason)
  }

  /** null: it was stopped. */
  async #check(
    child: Child,
    number: number,
    check: Check,
    { text, files_changed: changed }: AgentResult,
    stopped: AbortSignal,
    { files, after_merge }: { files: Files; after_merge: boolean },
  ): Promise<EventData<'agent.gate_checked'> | null> {
    const { recorder, runGate, redactor, now } = this.side
    const { id, step_idx } = child
    const stage = after_merge ? { after_merge: true as const } : {}
    const gate = { sub_agent_id: id, step_idx, ...gateOf(check, number), ...stage }
    recorder.record('agent.gate_started', gate)
    await recorder.commit()
    const started = now()
    const run = (command: string) => runGate(child, files, command, stopped)
    const checked = await checkGate(check, { text, changed, workspace: files.workspace }, run, redactor)
    if (checked === 'stopped') return null
    const { passed, detail, whole } = checked
    const output = whole === null ? null : recorder.keep(whole)
    const found = recorder.cleaned({ ...gate, passed, detail, output, duration_ms: now() - started })
    recorder.record('agent.gate_checked', found)
    return found
  }

  /** In the parent's tree, alone: in it for good only if the gates pass there too. */
  async #merge(child: Child, judged: Judged, work: Work, run: Stopper): Promise<Judged | Conflict> {
    const { recorder, trees } = this.side
    const { result } = judged
    const { files } = this.side
    const ours = await files.committed()
    if (!ours.ok) return unjoined(result, ours.message)
    const before = ours.commit
    const made = await trees.merge(before, work.commit, ownerOf(child), child.title)
    if (!made.ok && 'tree' in made) {
      const changes = await trees.diff(before, made.tree)
      return { paths: made.paths, changes: changes.ok ? changes.text : changes.message }
    }
    if (!made.ok) return unjoined(result, made.message)
    const after = made.commit
    const kind = made.kind === 'merge' ? 'merge' : 'fast_forward'
    const merge = { ...named(child), before, after, kind } as const
    recorder.record('agent.merge_started', merge)
    const [brought] = await Promise.all([trees.brought(before, after), recorder.commit()])
    const entered = brought.ok ? await files.bringTo(after) : brought
    const unmet = entered.ok
      ? await this.#gates(child, result, run, { files: ours.tree.files, after_merge: true })
      : unjoined(result, entered.message)
    // What gates leave behind is nobody's work.
    const ran = checksOf(child).some(({ kind: what }) => what === 'command')
    if (ran) files.disturbed()
    const settled = unmet || ran ? await files.bringTo(unmet ? before : after) : entered
    if (unmet || !settled.ok || !brought.ok) {
      const why = unmet ?? unjoined(result, settled.ok ? '' : settled.message)
      this.#takenBack(child, merge, why.close_reason)
      return why
    }
    recorder.record('agent.worktree_merged', { ...merge, files: brought.files })
    // From here on its own tree may go.
    await recorder.commit()
    return judged
  }

  /** What another sub-agent has brought in for it is in the history as its work, too. */
  async #adopt(child: Child, work: Work): Promise<TreeResult<object>> {
    const { recorder, trees, files } = this.side
    const ours = await files.committed()
    const made = ours.ok ? await trees.adopt(ours.commit, work.commit, ownerOf(child), child.title) : ours
    if (!ours.ok || !made.ok) return made
    const merge = { ...named(child), before: ours.commit, after: made.commit, kind: 'merge' } as const
    recorder.record('agent.merge_started', merge)
    await recorder.commit()
    const entered = await files.bringTo(made.commit)
    if (!entered.ok) return entered
    recorder.record('agent.worktree_merged', { ...merge, files: [] })
    await recorder.commit()
    return made
  }

  #takenBack(child: Child, { before, after }: { before: string; after: string }, reason: string): void {
    this.side.recorder.record('agent.merge_taken_back', { ...named(child), before, after, reason })
  }

  /** With what can be shown of its work, and its tree gone, or kept where it holds work that is nowhere else. */
  async #closed(child: Child, judged: Judged, work: Work | null): Promise<Judged> {
    const { trees, recorder } = this.side
    const owner = ownerOf(child)
    const { merged, gates } = recorder.memory.children.find(({ id }) => id === child.id) as Child
    const integrated = merged !== null || (work !== null && work.changes.length === 0)
    if (integrated) {
      // Without its tree a restart can only go by what is written down.
      await recorder.commit()
      await trees.remove(owner)
    }
    const kept = integrated ? null : await trees.keep(owner, child.base as string, work?.commit ?? null)
    const receipt: Receipt = {
      branch: trees.branchOf(owner),
      base: child.base as string,
      commits: work?.commits ?? [],
      files: work?.files ?? merged?.files ?? [],
      gates: gates.map(({ what, passed, after_merge }) => ({
        what,
        stage: after_merge ? 'after_merge' : 'before_merge',
        passed,
      })),
      merged: merged && { commit: merged.after, kind: merged.kind },
      kept: kept?.ok ? kept.kept : null,
      left_out: work?.left_out ?? [],
    }
    const where = kept && keptWhere(kept, judged.result)
    const ignored =
      receipt.left_out.length > 0 ? `not merged, since git ignores them: ${receipt.left_out.join(', ')}` : null
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

function wellDone(result: AgentResult, checks: Check[]): Judged {
  const proven = checks.length > 0 ? `; ${checks.length} of ${checks.length} checks passed` : ''
  return { passed: true, result, close_reason: `${result.reason ?? 'it gave its answer'}${proven}` }
}

function failed(result: AgentResult, close_reason: string): Judged {
  return { passed: false, result, close_reason }
}

/** One that failed by itself did so for that reason. */
function unjoined(result: AgentResult, message: string): Judged {
  const { outcome, reason } = result
  if (outcome !== 'completed' && outcome !== 'budget_exceeded')
    return failed(result, `${reason ?? outcome}; ${message}`)
  const close_reason = `its work could not be integrated: ${message}`
  return failed({ ...result, outcome: 'error', cause: 'worktree', reason: close_reason }, close_reason)
}

function conflicting(result: AgentResult, { paths }: Conflict, repairer: Child | null): Judged {
  const tried = repairer ? `; ${repairer.id} could not resolve it: ${repairer.closed?.close_reason}` : ''
  const close_reason = `its changes conflict with what is there already: ${paths.join(', ')}${tried}`
  return failed({ ...result, outcome: 'merge_conflict', cause: 'merge', reason: close_reason }, close_reason)
}

function repaired(judged: Judged, { paths }: Conflict, { id }: Child): Judged {
  return {
    ...judged,
    close_reason: `${judged.close_reason}; its conflict in ${paths.join(', ')} was resolved by ${id}`,
  }
}
