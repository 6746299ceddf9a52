import type { CommitCheck, Git, ListedTree, TreeResult, Trees } from '../host/index.js'
import { commitPaths } from './commit.js'
import { fault, type KeptResult } from './kept-fault.js'
import { hasAll, isKnownElsewhere, type Judged, judgeTrees, type KeptTree, type RunKnowledge } from './kept-state.js'
import { type KeptWork, type KnownAgent, noTree, workOfAgent, workOfRun } from './kept-work.js'
import { INTEGRATION, ownPath, ROOT } from './names.js'

export type KeptParts = RunKnowledge & {
  trees: Trees
  git: Git
  /** The run's task in one line, for the message of a commit. */
  titleOf(run_id: string): Promise<string>
  /** null: the run has no such sub-agent. */
  agentOf(run_id: string, agent_id: string): Promise<KnownAgent | null>
  /** Of a run that is worked on in another checkout, what it has carried so far, which is here then; null: of no such run. */
  carriedOf(run_id: string): Promise<KeptResult<{ ends: Ends }> | null>
  now(): number
  /** What must not get into a commit. */
  check?: CommitCheck
}

/** Where a run's own tree began, and what it has now. */
type Ends = { base: string; result: string }

type Applied = { paths: string[]; commit: string | null }

/** What runs have left in trees of their own, and how it gets into the person's folder, or away. */
export interface Kept {
  worktrees(): Promise<KeptResult<{ trees: KeptTree[] }>>
  /** Of the run itself, or of one sub-agent whose work was kept. */
  diff(run_id: string, options?: { agent_id?: string; stat?: boolean }): Promise<KeptResult<{ text: string }>>
  apply(run_id: string, options?: { agent_id?: string; commit?: boolean }): Promise<KeptResult<Applied>>
  discard(run_id: string): Promise<KeptResult<{ removed: KeptTree[] }>>
  gc(): Promise<KeptResult<{ removed: KeptTree[]; kept: KeptTree[] }>>
  /** Removes what closed runs that were begun in other checkouts have here, and what long ago was carried here for them. */
  sweep(): Promise<KeptResult<object>>
}

/** For so long what a run did can be shown when its trees are gone. */
const REMEMBERED_MS = 30 * 24 * 3_600_000
/** What takes room for two weeks in any case need not be looked for more often. */
const PRUNED_EVERY_MS = 3_600_000

export function createKept(parts: KeptParts): Kept {
  const { trees, statusOf, landingOf, baseOf } = parts
  let pruned_at = Number.NEGATIVE_INFINITY

  async function judged() {
    const listed = await trees.list()
    if (!listed.ok) return fault('failed', listed.message)
    return { ok: true as const, all: await judgeTrees(trees, parts, listed.trees) }
  }

  /** null: it never had a tree of its own. */
  async function endsOf(run_id: string): Promise<Ends | null> {
    const remembered = await trees.recall(run_id)
    if (remembered.ok) return remembered
    const landing = await landingOf(run_id)
    if (landing) return { base: landing.base, result: landing.commit }
    const base = await baseOf(run_id)
    const listed = await trees.list()
    const tree = listed.ok
      ? listed.trees.find((one) => one.run_id === run_id && one.name === INTEGRATION && one.commit !== null)
      : undefined
    return base === null || !tree?.commit ? null : { base, result: tree.commit }
  }

  /** Of a closed run without trees: its result is in the folder, or was thrown away, and nobody has asked for long. */
  async function isPast(run_id: string): Promise<boolean> {
    const [landing, changed_at] = [await landingOf(run_id), await parts.changedAt(run_id)]
    return landing !== null && changed_at !== null && changed_at < parts.now() - REMEMBERED_MS
  }

  /** Where a run ended, there is no tree of it any more, but what is `remembered`. */
  async function runsHere(remembered: boolean): Promise<TreeResult<{ runs: string[] }>> {
    if (remembered) return trees.runs()
    const listed = await trees.list()
    return listed.ok ? { ok: true, runs: [...new Set(listed.trees.map(({ run_id }) => run_id))] } : listed
  }

  /** Whether nobody needs anything of a run here any more that others have too. */
  async function isOver(run_id: string): Promise<boolean> {
    return (await statusOf(run_id)) === 'closed' && (await parts.isAway(run_id))
  }

  async function workOf(run_id: string, agent_id: string): Promise<KeptResult<{ work: KeptWork }>> {
    if (agent_id === ROOT) return workOfRun(run_id, await landingOf(run_id))
    return workOfAgent(run_id, agent_id, await parts.agentOf(run_id, agent_id))
  }

  async function diffOfAgent(run_id: string, agent_id: string, options: { stat?: boolean }) {
    if ((await statusOf(run_id)) === null) return unknown(run_id)
    const found = workOfAgent(run_id, agent_id, await parts.agentOf(run_id, agent_id))
    if (!found.ok) return found
    const head = await trees.head(run_id, agent_id)
    if (!head.ok) return head.code === 'missing' ? notKept(found.work) : fault('failed', head.message)
    const made = await trees.diff(found.work.base, head.commit, options)
    return made.ok ? made : fault('failed', `What ${subject(found.work)} changed cannot be shown: ${made.message}`)
  }

  return {
    async worktrees() {
      const found = await judged()
      return found.ok ? { ok: true, trees: found.all.map(({ kept }) => kept) } : found
    },

    async diff(run_id, { agent_id = ROOT, ...options } = {}) {
      if (agent_id !== ROOT) return diffOfAgent(run_id, agent_id, options)
      const carried = await parts.carriedOf(run_id)
      if (carried?.ok === false) return carried
      const ends = carried?.ends ?? (await endsOf(run_id))
      if (ends === null) return (await statusOf(run_id)) === null ? unknown(run_id) : noTree(run_id)
      const made = await trees.diff(ends.base, ends.result, options)
      return made.ok ? made : fault('failed', `What run ${run_id} changed cannot be shown: ${made.message}`)
    },

    async apply(run_id, { agent_id = ROOT, commit = false } = {}) {
      const status = await statusOf(run_id)
      if (status === null) return unknown(run_id)
      if (status !== 'closed') return notClosed(run_id, status, 'it has no result yet')
      const found = await workOf(run_id, agent_id)
      if (!found.ok) return found
      const { work } = found
      if (commit && !trees.in_git) {
        return fault(
          'nothing',
          'There is no git repository here to commit to. Leave out the commit: the files come alone.',
        )
      }
      const listed = await trees.list()
      if (!listed.ok) return fault('failed', listed.message)
      const kept = listed.trees.find((tree) => tree.run_id === run_id && tree.name === work.name)
      if (!kept || kept.commit === null) return notKept(work)
      const { base, result } =
        work.base === null ? ((await endsOf(run_id)) as Ends) : { base: work.base, result: kept.commit }
      const landed = await trees.land({ base, to: result, exactly: false })
      if (!landed.ok) return notLanded(run_id, work, landed, trees)
      const paths = landed.paths.map((path) => ownPath(trees, path))
      // All that was changed: some of it may have been brought by a process that was killed before it could commit.
      const made = commit ? await commitFiles(parts, run_id, agent_id, [...new Set([...work.files, ...paths])]) : null
      // It is in the folder now, so that the branch is a second copy, unless somebody has worked on it since.
      if (await hasNoMore(trees, kept, result)) {
        await trees.remove(run_id, work.name, { keep_tree: await hasIgnored(trees, kept) })
      }
      if (made === null || made.ok) return { ok: true, paths, commit: made?.commit ?? null }
      if (made.code === 'nothing_to_commit') return { ok: true, paths, commit: null }
      return fault('failed', `What ${subject(work)} changed is in the folder, but not committed: ${made.message}`)
    },

    async discard(run_id) {
      const status = await statusOf(run_id)
      if (status === 'running' || status === 'interrupted') return notClosed(run_id, status, 'it still needs its trees')
      const found = await judged()
      if (!found.ok) return found
      const removed = found.all.flatMap(({ kept }) => (kept.run_id === run_id ? [kept] : []))
      if (status === null && removed.length === 0) return unknown(run_id)
      const used = removed.find(({ state }) => state === 'in_use')
      if (used) return fault('not_closed', `Run ${run_id} cannot be discarded: ${used.why}`)
      const landing = status === null ? null : await landingOf(run_id)
      // What landed is not thrown away with its trees, and can still be shown. What was carried is not brought once more.
      const isKnown =
        landing !== null && (landing.state === 'landed' || (await parts.isCarried(run_id, ROOT, landing.commit)))
      const forgotten = isKnown ? { ok: true as const } : await trees.forget(run_id)
      const gone = forgotten.ok ? await trees.removeRun(run_id) : forgotten
      if (!gone.ok) return fault('failed', `Run ${run_id} cannot be discarded: ${gone.message}`)
      return { ok: true, removed }
    },

    async sweep() {
      const prunes = parts.now() - pruned_at > PRUNED_EVERY_MS
      const found = await runsHere(prunes)
      if (!found.ok) return fault('failed', found.message)
      const over: string[] = []
      for (const run_id of found.runs) if (await isOver(run_id)) over.push(run_id)
      // Not before: what a run had while it was at work need not be what it left.
      const listed = await trees.list()
      if (!listed.ok) return fault('failed', listed.message)
      for (const run_id of over) {
        const mine = listed.trees.filter((tree) => tree.run_id === run_id)
        const known = await Promise.all(mine.map((tree) => isKnownElsewhere(trees, parts, tree)))
        const gone = known.every(Boolean) ? await trees.removeRun(run_id) : null
        if (gone?.ok) await trees.forget(run_id)
      }
      if (prunes) {
        pruned_at = parts.now()
        await trees.prune()
      }
      return { ok: true }
    },

    async gc() {
      const tidied = await trees.tidy()
      if (!tidied.ok) return fault('failed', tidied.message)
      const found = await judged()
      if (!found.ok) return found
      const removed: KeptTree[] = []
      const kept: KeptTree[] = []
      for (const each of found.all) {
        const { tree, kept: one } = each
        if (one.state === 'left_over') {
          const gone = await trees.remove(tree.run_id, tree.name)
          if (gone.ok) removed.push(one)
          else kept.push({ ...one, why: `${one.why}, but it cannot be removed: ${gone.message}` })
        } else if (one.state === 'kept' && (await statusOf(one.run_id)) === 'closed') {
          kept.push(await trimmed(trees, each))
        } else kept.push(one)
      }
      const still = new Set(kept.map(({ run_id }) => run_id))
      for (const run_id of tidied.runs) {
        if (still.has(run_id) || (await statusOf(run_id)) !== 'closed') continue
        await trees.removeRun(run_id)
        if ((await parts.isAway(run_id)) || (await isPast(run_id))) await trees.forget(run_id)
      }
      return { ok: true, removed, kept }
    },
  }
}

/** Whether a commit has all that is in a worktree and on its branch. */
async function hasNoMore(trees: Trees, { run_id, name, commit }: ListedTree, whole: string): Promise<boolean> {
  const found = await trees.isCommitted(run_id, name)
  return found.ok && found.committed && commit !== null && (await hasAll(trees, whole, commit))
}

async function hasIgnored(trees: Trees, { run_id, name }: ListedTree): Promise<boolean> {
  const found = await trees.ignoredIn(run_id, name)
  return !found.ok || found.paths.length > 0
}

/**
 * A kept worktree without what nobody needs. Its branch has all of it where everything is committed: then the folder
 * takes room for nothing. Where the folder alone has files, it is the branch that may go.
 */
async function trimmed(trees: Trees, { tree, kept, ignored, branch_goes }: Judged): Promise<KeptTree> {
  const { run_id, name, commit } = tree
  if (branch_goes) {
    const gone = await trees.remove(run_id, name, { keep_tree: true })
    return gone.ok ? { ...kept, has_branch: false } : kept
  }
  if (kept.path === null || commit === null || ignored) return kept
  const found = await trees.isCommitted(run_id, name)
  if (!found.ok || !found.committed) return kept
  const gone = await trees.remove(run_id, name, { keep_branch: true })
  if (!gone.ok) return kept
  return { ...kept, path: null, why: `${kept.why} (its folder was removed: all of it is on the branch)` }
}

async function commitFiles(parts: KeptParts, run_id: string, agent_id: string, paths: string[]) {
  const { git, trees, check } = parts
  const agent = agent_id === ROOT ? null : await parts.agentOf(run_id, agent_id)
  return commitPaths(git, trees.folder, { title: agent?.title ?? (await parts.titleOf(run_id)), paths, check })
}

function unknown(run_id: string) {
  return fault('unknown', `There is no run "${run_id}" in this store`)
}

function notClosed(run_id: string, status: 'running' | 'interrupted', why: string) {
  const what = status === 'running' ? `is at work, and ${why}` : `was interrupted, and ${why}`
  const first = status === 'running' ? `Wait for it, or end it` : `Go on with it (retinue resume ${run_id}), or end it`
  return fault('not_closed', `Run ${run_id} ${what}. ${first}: retinue cancel ${run_id}`)
}

/** For the middle of a sentence. */
function subject({ whose }: KeptWork): string {
  return whose.replace(/^Run /, 'run ')
}

function notKept({ what }: KeptWork) {
  return fault('nothing', `${what} is not kept any more: it was applied or discarded before`)
}

async function notLanded(
  run_id: string,
  work: KeptWork,
  found: Extract<TreeResult<object>, { ok: false }>,
  trees: Trees,
) {
  const { name, whose, words } = work
  const { code, message, paths = [] } = found
  if (code === 'changed') {
    return fault('in_the_way', `${whose} was not applied: ${message}. When they are out of the way, apply it again`)
  }
  if (code !== 'conflict') return fault('failed', `${whose} was not applied: ${message}`)
  const where = paths.map((path) => ownPath(trees, path)).join(', ')
  // git can merge only what is in the person's own repository, and that may not have worked out at the end of the run.
  const published = await trees.publish(run_id, name)
  const then =
    published.ok && published.published
      ? `Commit your own changes and merge with git: git merge retinue/${run_id}/${name}. ${BEHIND}`
      : `Put your own version of these files elsewhere and apply it again; retinue diff ${words} shows what would change`
  const why = `you and ${name === INTEGRATION ? 'the run' : name} have changed the same places: ${where}`
  return fault('in_the_way', `${whose} was not applied, and your files are as they were: ${why}. ${then}`)
}

/** Whoever merges or pushes the branch should know. */
const BEHIND = 'That branch also has, as a commit, what was uncommitted or untracked in the folder when the run began'
