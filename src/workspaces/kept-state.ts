import { type Landing, ownerInWords } from '../domain/index.js'
import type { ListedTree, Trees } from '../host/index.js'
import { INTEGRATION, isCopy, ownPath, ROOT } from './names.js'

/** A worktree or a branch that there is, as people are told about it. */
export type KeptTree = {
  run_id: string
  agent_id: string
  branch: string
  /** Whether there is such a branch; if not, there is a folder alone. */
  has_branch: boolean
  /** Absolute; null: there is a branch alone. */
  path: string | null
  /**
   * `in_use`: its run is not closed. `kept`: it has work that is nowhere else. `left_over`: nothing would be lost with it.
   */
  state: 'in_use' | 'kept' | 'left_over'
  /** Why it is in that state, in words. */
  why: string
}

export type RunStanding = 'running' | 'interrupted' | 'closed' | null

/** What the store knows about a run. */
export type RunKnowledge = {
  /** null: the store has no such run. */
  statusOf(run_id: string): Promise<RunStanding>
  /** null: it had no tree of its own, or has not ended. */
  landingOf(run_id: string): Promise<Landing | null>
  /** The commit that the root agent's own tree began with; null: it has none. */
  baseOf(run_id: string): Promise<string | null>
  /** When the store last heard of it; null: the store has no such run. */
  changedAt(run_id: string): Promise<number | null>
  /** Whether it was begun in another checkout: what it has here was carried, and is nobody's any more when it has ended. */
  isAway(run_id: string): Promise<boolean>
  /** Whether other checkouts can have a commit of an agent, be it the last one or one that it went on from elsewhere. */
  isCarried(run_id: string, agent_id: string, commit: string): Promise<boolean>
  /** Whether a process is there; null: it cannot be known from here. See `Identity`. */
  isAlive(owner: string): boolean | null
}

/** Where something cannot be read or told, it is `kept`: work is never taken for a left-over for want of knowledge. */
type Judgement = Pick<KeptTree, 'state' | 'why'>

/** `ignored`: it has files that no branch can have. `branch_goes`: for these alone it is kept. */
export type Judged = { tree: ListedTree; kept: KeptTree; ignored: boolean; branch_goes: boolean }

/** Every worktree and branch of `listed`, with what would be lost with it. */
export async function judgeTrees(trees: Trees, known: RunKnowledge, listed: readonly ListedTree[]): Promise<Judged[]> {
  const judged: Judged[] = []
  const runs = new Map<string, Promise<Run>>()
  for (const tree of listed) {
    const { run_id, name, branch, path, commit } = tree
    if (!runs.has(run_id)) runs.set(run_id, lookUp(trees, known, run_id))
    const siblings = listed.filter((other) => other.run_id === run_id)
    const run = await (runs.get(run_id) as Promise<Run>)
    const known_elsewhere = run.away && (await isKnownElsewhere(trees, known, tree))
    const judgement = known_elsewhere ? CARRIED : await judge(trees, run, tree, siblings)
    const ignored = run.status === 'closed' && !run.away ? await ignoredOf(trees, tree) : null
    const agent_id = name === INTEGRATION ? 'root' : name
    judged.push({
      tree,
      kept: { run_id, agent_id, branch, has_branch: commit !== null, path, ...withIgnored(judgement, tree, ignored) },
      ignored: ignored !== null,
      branch_goes: ignored !== null && commit !== null && judgement.state === 'left_over',
    })
  }
  return judged
}

const CARRIED: Judgement = {
  state: 'left_over',
  why: 'its run was begun in another checkout, and all of it but what git ignores is known there',
}

/** Whether all that is in a worktree and on its branch was carried, or is a copy of what somebody else has. */
export async function isKnownElsewhere(
  trees: Trees,
  { isCarried }: Pick<RunKnowledge, 'isCarried'>,
  { run_id, name, commit }: ListedTree,
): Promise<boolean> {
  if (isCopy(name)) return true
  const found = await trees.isCommitted(run_id, name)
  if (!found.ok || !found.committed) return false
  return commit === null || isCarried(run_id, name === INTEGRATION ? ROOT : name, commit)
}

/** So many paths are said before the rest is counted. */
const PATHS = 5

/** What git ignores in a worktree, in words; null: nothing. Where it cannot be told, that is said. */
async function ignoredOf(trees: Trees, { run_id, name, path }: ListedTree): Promise<string | null> {
  if (path === null) return null
  const found = await trees.ignoredIn(run_id, name)
  if (!found.ok) return `whether it has files that git ignores cannot be told: ${found.message}`
  if (found.paths.length === 0) return null
  const paths = found.paths.map((one) => ownPath(trees, one))
  const more = paths.length > PATHS ? ` and ${paths.length - PATHS} more` : ''
  return `it has files that git ignores: ${paths.slice(0, PATHS).join(', ')}${more}`
}

/** No branch has these files, so that nobody gets them back. */
function withIgnored(judgement: Judgement, { commit }: ListedTree, ignored: string | null): Judgement {
  if (ignored === null) return judgement
  // Without its branch nobody can say more about the others, and it was kept for these.
  const alone = judgement.state === 'left_over' || commit === null
  return { state: 'kept', why: alone ? ignored : `${judgement.why}; ${ignored}` }
}

type Run = Pick<RunKnowledge, 'isAlive'> & {
  status: RunStanding
  away: boolean
  landing: Landing | null
  base: string | null
  result: string | null
}

async function lookUp(trees: Trees, known: RunKnowledge, run_id: string): Promise<Run> {
  const status = await known.statusOf(run_id)
  const { isAlive } = known
  if (status !== 'closed') return { isAlive, status, away: false, landing: null, base: null, result: null }
  const [away, landing, base, ends] = await Promise.all([
    known.isAway(run_id),
    known.landingOf(run_id),
    known.baseOf(run_id),
    trees.recall(run_id),
  ])
  return { isAlive, status, away, landing, base, result: landing?.commit ?? (ends.ok ? ends.result : null) }
}

async function judge(trees: Trees, run: Run, tree: ListedTree, siblings: readonly ListedTree[]): Promise<Judgement> {
  const { status } = run
  if (status === 'running') return { state: 'in_use', why: 'its run is at work' }
  if (status === 'interrupted') {
    return { state: 'in_use', why: `its run was interrupted and can go on: retinue resume ${tree.run_id}` }
  }
  if (status === null) return judgeUnknown(run, tree)
  if (isCopy(tree.name)) return { state: 'left_over', why: 'it is a copy of what another agent had' }
  if (tree.path !== null) {
    const found = await trees.isCommitted(tree.run_id, tree.name)
    if (!found.ok) return { state: 'kept', why: `its files cannot be compared with its branch: ${found.message}` }
    if (!found.committed) return { state: 'kept', why: 'it has files that are on no branch' }
  }
  if (tree.commit === null) return { state: 'left_over', why: 'it is empty' }
  return tree.name === INTEGRATION
    ? judgeResult(trees, run, tree.commit, tree.run_id)
    : judgeAgent(trees, run, tree, tree.commit, siblings)
}

/** A run of another store, perhaps at work: what looks like nobody's here may be all that somebody has. */
function judgeUnknown({ isAlive }: Run, { run_id, owner }: ListedTree): Judgement {
  const alive = owner === null ? false : isAlive(owner)
  const other = 'this store does not know its run, but another may (--store)'
  if (owner !== null && alive === true) {
    return { state: 'in_use', why: `${ownerInWords(owner)} works on its run; ${other}` }
  }
  const perhaps = owner !== null && alive === null ? `, and ${ownerInWords(owner)} may be at work on it` : ''
  return { state: 'kept', why: `${other}${perhaps}. If none does: retinue discard ${run_id}` }
}

/** The tree of the run itself: its work is elsewhere once it is in the person's folder. */
async function judgeResult(trees: Trees, run: Run, commit: string, run_id: string): Promise<Judgement> {
  const { landing, base } = run
  const nothing_new = base !== null && (await hasAll(trees, base, commit))
  if (nothing_new) return { state: 'left_over', why: 'it has nothing but what it began with' }
  if (landing?.state === 'landed' && (await hasAll(trees, landing.commit, commit))) {
    return { state: 'left_over', why: 'its result is in the folder' }
  }
  if (landing?.state === 'landed') return { state: 'kept', why: 'it has more than what was brought into the folder' }
  const reason = landing?.reason ? `: ${landing.reason}` : ''
  return { state: 'kept', why: `its result is not in the folder${reason}. Bring it in: retinue apply ${run_id}` }
}

/** The tree of a sub-agent: its work is elsewhere once it is in the run's result, or in a tree above it that there is. */
async function judgeAgent(
  trees: Trees,
  run: Run,
  { run_id, name }: ListedTree,
  commit: string,
  siblings: readonly ListedTree[],
): Promise<Judgement> {
  if (run.result !== null && (await hasAll(trees, run.result, commit))) {
    return { state: 'left_over', why: "all of it is in the run's result" }
  }
  for (const above of siblings) {
    if (above.commit === null || !isAbove(above.name, name)) continue
    if (await hasAll(trees, above.commit, commit)) return { state: 'left_over', why: `all of it is on ${above.branch}` }
  }
  return { state: 'kept', why: `its work was not merged. Bring it in: retinue apply ${run_id} ${name}` }
}

/** `a2` is above `a2.1`, and the tree of the run is above all. */
function isAbove(name: string, below: string): boolean {
  return name === INTEGRATION || below.startsWith(`${name}.`)
}

/** Whether all that is in `commit` is in `whole` too; false where that cannot be told. */
export async function hasAll(trees: Trees, whole: string, commit: string): Promise<boolean> {
  if (whole === commit) return true
  const missing = await trees.commits(whole, commit)
  return missing.ok && missing.commits.length === 0
}
