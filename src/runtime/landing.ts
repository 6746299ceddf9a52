import { type AgentMemory, type FileChange, type Landing, type Outcome, titleOf } from '../domain/index.js'
import type { AgentTree, RunTrees } from '../workspaces/index.js'
import type { Recorder } from './recorder.js'

type LandingSide = { recorder: Recorder; trees: RunTrees; tree: AgentTree | null }

/** Brings the result of a run to where it belongs: the person's folder, or its branch. */
export async function land(side: LandingSide, succeeded: boolean, outcome: Outcome): Promise<void> {
  const { recorder, trees } = side
  const { memory } = recorder
  const { base } = memory.tree as NonNullable<AgentMemory['tree']>
  const found = await resultOf(side, base)
  if (!found.ok) {
    recorder.record('run.kept', await trees.stay({ base, commit: base, files: [] }, found.message))
    return
  }
  const { what } = found
  const settle = (landing: Landing) => recorder.record(landing.state === 'landed' ? 'run.landed' : 'run.kept', landing)
  if (what.files.length === 0) {
    settle({ state: 'landed', ...what, landed_commit: null, branch: null, reason: null })
    return
  }
  const into = memory.contract.workspace.land ?? 'changes'
  if (!succeeded || into === 'branch') {
    const reason = succeeded ? 'it was asked to stay on its branch' : `the run ended as ${outcome}`
    settle(await trees.stay(what, reason))
    return
  }
  const again = memory.landing !== null
  if (!again) recorder.record('run.landing', { base, commit: what.commit, into })
  await recorder.commit()
  settle(await trees.land(what, { into, again, title: titleOf(memory.contract.step.title) }))
}

type Result = { ok: true; what: { base: string; commit: string; files: FileChange[] } } | { ok: false; message: string }

/** What was about to land when a process died is what lands. */
async function resultOf({ recorder, trees, tree }: LandingSide, base: string): Promise<Result> {
  const { landing } = recorder.memory
  const begun = landing && 'under_way' in landing ? landing.under_way.commit : null
  if (begun === null && tree === null) return { ok: false, message: 'its worktree is not there any more' }
  const taken =
    begun === null ? await tree?.snapshot('Changes of the run itself') : { ok: true as const, commit: begun }
  if (!taken?.ok) return { ok: false, message: taken?.message ?? '' }
  const { commit } = taken
  const compared = await trees.result(base, commit)
  return compared.ok ? { ok: true, what: { base, commit, files: compared.files } } : compared
}
