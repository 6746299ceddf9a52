import { type AgentMemory, type FileChange, type Landing, type Outcome, titleOf } from '../domain/index.js'
import type { AgentTree, RunTrees } from '../workspaces/index.js'
import type { AgentFiles } from './agent-files.js'
import { AbandonedError, type Recorder } from './recorder.js'

type LandingSide = { recorder: Recorder; trees: RunTrees; files: AgentFiles }

/** Brings the result of a run to where it belongs: the person's folder, or its branch. */
export async function land(side: LandingSide, succeeded: boolean, outcome: Outcome): Promise<void> {
  const { recorder, trees } = side
  const { memory } = recorder
  const { base } = memory.tree as NonNullable<AgentMemory['tree']>
  const settle = (landing: Landing) => recorder.record(landing.state === 'landed' ? 'run.landed' : 'run.kept', landing)
  const found = await resultOf(side, base)
  if (!found.ok) {
    // There is nothing to bring: what there is of it is in the log, for whoever can have it.
    if (!succeeded && found.known !== null) return settle(unread(trees, base, found.known, outcome, found.message))
    throw new AbandonedError(`what it came to cannot be read: ${found.message}`)
  }
  const { what, left_out } = found
  const rest = left_out.length > 0 ? { left_out } : {}
  const into = memory.contract.workspace.land ?? 'changes'
  // What a process has begun to bring is brought to the end, whatever else has happened to the run since.
  const again = memory.landing !== null
  if (what.files.length === 0) {
    return settle({ state: 'landed', ...what, landed_commit: null, branch: null, reason: null, ...rest })
  }
  if (into === 'branch' || !(succeeded || again)) {
    const reason = succeeded ? 'it was asked to stay on its branch' : `the run ended as ${outcome}`
    return settle({ ...(await trees.stay(what, reason)), ...rest })
  }
  if (!again) recorder.record('run.landing', { base, commit: what.commit, into })
  await recorder.commit()
  const title = titleOf(memory.contract.step.title)
  return settle({ ...(await trees.land(what, { into, again, title })), ...rest })
}

type Result =
  | { ok: true; what: { base: string; commit: string; files: FileChange[] }; left_out: string[] }
  /** `known`: the last commit of it that others can have. null: it is here alone. */
  | { ok: false; message: string; known: string | null }

/** What was about to land when a process died is what lands. */
async function resultOf({ recorder, trees, files: own }: LandingSide, base: string): Promise<Result> {
  const { tree } = own
  const { landing } = recorder.memory
  const begun = landing && 'under_way' in landing ? landing.under_way.commit : null
  const known = recorder.memory.tree?.carried?.commit ?? (recorder.memory.tree?.checkout ? base : null)
  // Without its folder, what was merged is still on its branch; and what could not be carried is not its result.
  const isWhole = tree !== null && (known === null || recorder.memory.no_tree === null)
  const last = () => (isWhole ? own.whole('Changes of the run itself') : trees.head())
  const taken = begun === null ? await last() : ({ ok: true, commit: begun } as const)
  if (!taken.ok) return { ok: false, message: taken.message, known }
  const { commit } = taken
  const remembered = await trees.remember(base, commit)
  if (!remembered.ok) return { ok: false, message: remembered.message, known }
  const { files } = remembered
  const stuck = recorder.memory.tree?.carried?.uncommittable ?? []
  const left_out = [...new Set([...(await leftOut(recorder.memory, files, tree)), ...stuck])]
  return { ok: true, what: { base, commit, files }, left_out }
}

function unread(trees: RunTrees, base: string, commit: string, outcome: Outcome, message: string): Landing {
  const reason = `the run ended as ${outcome}, and its files could not be had where it ended: ${message}`
  return {
    state: 'kept',
    base,
    commit,
    files: [],
    landed_commit: null,
    branch: trees.branchOf(ROOT),
    reason,
    away: true,
  }
}

const ROOT = { agent_id: 'root', is_root: true }

/** What the root itself wrote and no commit has. What its sub-agents left out is in their receipts. */
async function leftOut(memory: AgentMemory, files: readonly FileChange[], tree: AgentTree | null): Promise<string[]> {
  if (!tree) return []
  const known = new Set([
    ...files.map(({ path }) => path),
    ...memory.children.flatMap(({ closed }) => closed?.result.receipt?.left_out ?? []),
  ])
  const ignored = await tree.ignored(memory.files_changed.filter((path) => !known.has(path)))
  const paths = ignored.ok ? ignored.paths : []
  // What it wrote before it had a tree is where it wrote it.
  const found = await Promise.all(paths.map((path) => tree.files.workspace.digest(path)))
  return paths.filter((_, i) => found[i]?.ok && found[i].digest !== null)
}
