import type { Landing } from '../domain/index.js'
import type { CommitCheck, Git, ListedTree, TreeResult, Trees } from '../host/index.js'
import { commitPaths } from './commit.js'
import { hasAll, type Judged, judgeTrees, type KeptTree, type RunKnowledge } from './kept-state.js'
import { INTEGRATION, ownPath } from './names.js'

export type KeptParts = RunKnowledge & {
  trees: Trees
  git: Git
  /** The run's task in one line, for the message of a commit. */
  titleOf(run_id: string): Promise<string>
  now(): number
  /** What must not get into a commit. */
  check?: CommitCheck
}

/**
 * `unknown`: there is no such run. `not_closed`: it is at work, or can go on. `nothing`: there is nothing that could be
 * done. `in_the_way`: files of the person are. `failed`: git, or the disk.
 */
export type KeptFault = 'unknown' | 'not_closed' | 'nothing' | 'in_the_way' | 'failed'
export type KeptResult<T> = ({ ok: true } & T) | { ok: false; code: KeptFault; message: string }

/** What runs have left in trees of their own, and how it gets into the person's folder, or away. */
export interface Kept {
  worktrees(): Promise<KeptResult<{ trees: KeptTree[] }>>
  diff(run_id: string, options?: { stat?: boolean }): Promise<KeptResult<{ text: string }>>
  apply(run_id: string, options?: { commit?: boolean }): Promise<KeptResult<{ paths: string[]; commit: string | null }>>
  discard(run_id: string): Promise<KeptResult<{ removed: KeptTree[] }>>
  gc(): Promise<KeptResult<{ removed: KeptTree[]; kept: KeptTree[] }>>
}

/** For so long what a run did can be shown when its trees are gone. */
const REMEMBERED_MS = 30 * 24 * 3_600_000

export function createKept(parts: KeptParts): Kept {
  const { trees, statusOf, landingOf, baseOf } = parts

  async function judged() {
    const listed = await trees.list()
    if (!listed.ok) return fault('failed', listed.message)
    return { ok: true as const, all: await judgeTrees(trees, parts, listed.trees) }
  }

  /** Where a run's own tree began and what it has now; null: it never had one. */
  async function endsOf(run_id: string): Promise<{ base: string; result: string } | null> {
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

  return {
    async worktrees() {
      const found = await judged()
      return found.ok ? { ok: true, trees: found.all.map(({ kept }) => kept) } : found
    },

    async diff(run_id, options = {}) {
      const ends = await endsOf(run_id)
      if (ends === null) return (await statusOf(run_id)) === null ? unknown(run_id) : noTree(run_id)
      const made = await trees.diff(ends.base, ends.result, options)
      return made.ok ? made : fault('failed', `What run ${run_id} changed cannot be shown: ${made.message}`)
    },

    async apply(run_id, { commit = false } = {}) {
      const status = await statusOf(run_id)
      if (status === null) return unknown(run_id)
      if (status !== 'closed') return notClosed(run_id, status, 'it has no result yet')
      const landing = await landingOf(run_id)
      const obstacle = landing === null ? noTree(run_id) : nothingToApply(run_id, landing)
      if (obstacle) return obstacle
      if (commit && !trees.in_git) {
        return fault(
          'nothing',
          'There is no git repository here to commit to. Leave out the commit: the files come alone.',
        )
      }
      const listed = await trees.list()
      if (!listed.ok) return fault('failed', listed.message)
      const kept = listed.trees.find((tree) => tree.run_id === run_id && tree.name === INTEGRATION)
      if (!kept || kept.commit === null) {
        return fault('nothing', `The result of run ${run_id} is not kept any more: it was applied or discarded before`)
      }
      const { base, result } = (await endsOf(run_id)) as { base: string; result: string }
      const landed = await trees.land({ base, to: result, exactly: false })
      if (!landed.ok) return notLanded(run_id, landed, trees)
      const paths = landed.paths.map((path) => ownPath(trees, path))
      // All that the run changed: some of it may have been brought by a process that was killed before it could commit.
      const made = commit ? await commitFiles(parts, run_id, landing?.files.map(({ path }) => path) ?? []) : null
      // It is in the folder now, so that the branch is a second copy, unless somebody has worked on it since.
      if (await hasNoMore(trees, kept, result)) {
        await trees.remove(run_id, INTEGRATION, { keep_tree: await hasIgnored(trees, kept) })
      }
      if (made === null || made.ok) return { ok: true, paths, commit: made?.commit ?? null }
      if (made.code === 'nothing_to_commit') return { ok: true, paths, commit: null }
      return fault('failed', `What run ${run_id} changed is in the folder, but not committed: ${made.message}`)
    },

    async discard(run_id) {
      const status = await statusOf(run_id)
      if (status === 'running' || status === 'interrupted') return notClosed(run_id, status, 'it still needs its trees')
      const found = await judged()
      if (!found.ok) return found
      const removed = found.all.flatMap(({ kept }) => (kept.run_id === run_id ? [kept] : []))
      if (status === null && removed.length === 0) return unknown(run_id)
      const landing = status === null ? null : await landingOf(run_id)
      // What landed is not thrown away with its trees, and can still be shown.
      const forgotten = landing?.state === 'landed' ? { ok: true as const } : await trees.forget(run_id)
      const gone = forgotten.ok ? await trees.removeRun(run_id) : forgotten
      if (!gone.ok) return fault('failed', `Run ${run_id} cannot be discarded: ${gone.message}`)
      return { ok: true, removed }
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
        if (await isPast(run_id)) await trees.forget(run_id)
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

async function commitFiles({ git, trees, titleOf, check }: KeptParts, run_id: string, paths: string[]) {
  return commitPaths(git, trees.folder, { title: await titleOf(run_id), paths, check })
}

function nothingToApply(run_id: string, { state, files, reason }: Landing) {
  if (state === 'landed') return fault('nothing', `The result of run ${run_id} is already in the folder`)
  if (files.length > 0) return null
  const why = reason === null ? 'it changed nothing' : `${reason}. See what there is with: retinue worktrees`
  return fault('nothing', `Run ${run_id} has no result: ${why}`)
}

function unknown(run_id: string) {
  return fault('unknown', `There is no run "${run_id}" in this store`)
}

function noTree(run_id: string) {
  const how = 'what it changed, it changed in the folder itself'
  return fault('nothing', `Run ${run_id} has no tree of its own: ${how}. See retinue show ${run_id}`)
}

function notClosed(run_id: string, status: 'running' | 'interrupted', why: string) {
  const what = status === 'running' ? `is at work, and ${why}` : `was interrupted, and ${why}`
  const first = status === 'running' ? `Wait for it, or end it` : `Go on with it (retinue resume ${run_id}), or end it`
  return fault('not_closed', `Run ${run_id} ${what}. ${first}: retinue cancel ${run_id}`)
}

async function notLanded(run_id: string, found: Extract<TreeResult<object>, { ok: false }>, trees: Trees) {
  const { code, message, paths = [] } = found
  if (code === 'changed') {
    return fault(
      'in_the_way',
      `Run ${run_id} was not applied: ${message}. When they are out of the way, apply it again`,
    )
  }
  if (code !== 'conflict') return fault('failed', `Run ${run_id} was not applied: ${message}`)
  const where = paths.map((path) => ownPath(trees, path)).join(', ')
  // git can merge only what is in the person's own repository, and that may not have worked out at the end of the run.
  const published = await trees.publish(run_id, INTEGRATION)
  const then =
    published.ok && published.published
      ? `Commit your own changes and merge with git: git merge retinue/${run_id}/${INTEGRATION}`
      : `Put your own version of these files elsewhere and apply it again; retinue diff ${run_id} shows what would change`
  const why = `you and the run have changed the same places: ${where}`
  return fault('in_the_way', `Run ${run_id} was not applied, and your files are as they were: ${why}. ${then}`)
}

function fault(code: KeptFault, message: string): { ok: false; code: KeptFault; message: string } {
  return { ok: false, code, message }
}
