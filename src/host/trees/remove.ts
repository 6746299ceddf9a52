import { lstat, readdir, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TreeResult, Trees } from '../host.js'
import { fault } from '../paths.js'
import { foldersIn, list } from './list.js'
import { ownersBesides, own as ownRun } from './owner.js'
import { adminOf, asTreeFault, MAX_LIST, type Private, refOf, topOf } from './private.js'
import { ABANDONED_MS, pruneObjects } from './prune.js'
import { commitOf, isCheckedOut, isWithin, unlock } from './refs.js'
import { unpin } from './remember.js'
import { discard, emptied, sweep } from './scratch.js'
import { removeStaleLocks } from './stale-locks.js'

type Keep = Parameters<Trees['remove']>[2]

export async function remove(own: Private, run_id: string, name: string, keep: Keep = {}): Promise<TreeResult<object>> {
  if (!keep.keep_tree) {
    try {
      await discard(own, [topOf(own, run_id, name), adminOf(own, run_id, name)])
      // Only if it was the last one.
      await rmdir(join(own.worktrees, run_id)).catch(() => {})
      if (!keep.later) await emptied(own)
    } catch (error) {
      return fault('failed', `the worktree ${topOf(own, run_id, name)} cannot be removed: ${(error as Error).message}`)
    }
  }
  return keep.keep_branch ? { ok: true } : removeBranch(own, refOf(run_id, name))
}

/** The published one goes first: only by ours can be told that it has nothing of the person's. */
async function removeBranch(own: Private, ref: string): Promise<TreeResult<object>> {
  const [ours, theirs] = await Promise.all([commitOf(own.git(), ref), own.person && commitOf(own.person.git, ref)])
  if (!ours.ok) return ours
  if (ours.commit === null) return { ok: true }
  if (own.person && theirs) {
    if (!theirs.ok) return theirs
    const isOurs = theirs.commit !== null && (await isWithin(own, theirs.commit, ours.commit))
    if (theirs.commit !== null && isOurs && !(await isCheckedOut(own, ref))) {
      const gone = await own.person.git.run(['update-ref', '-d', ref, theirs.commit])
      if (!gone.ok) return asTreeFault(gone)
    }
  }
  await unlock(own, ref)
  const gone = await own.git().run(['update-ref', '-d', ref])
  return gone.ok ? { ok: true } : asTreeFault(gone)
}

export async function removeRun(own: Private, run_id: string): Promise<TreeResult<object>> {
  const listed = await list(own)
  if (!listed.ok) return listed
  for (const tree of listed.trees.filter((one) => one.run_id === run_id)) {
    const removed = await remove(own, run_id, tree.name)
    if (!removed.ok) return removed
  }
  const disowned = await ownRun(own, run_id, null)
  if (!disowned.ok) return disowned
  // What is remembered can be shown for as long as the person has what it was built upon.
  return unpin(own, run_id)
}

export async function tidy(own: Private): Promise<TreeResult<{ runs: string[] }>> {
  try {
    await sweep(own)
    await removeForgotten(own)
    await emptied(own)
    await removeStaleLocks(own)
    await pruneObjects(own)
    for (const run_id of await foldersIn(own.worktrees)) await rmdir(join(own.worktrees, run_id)).catch(() => {})
  } catch (error) {
    return fault('failed', `${own.home} cannot be tidied: ${(error as Error).message}`)
  }
  return runs(own)
}

export async function runs(own: Private): Promise<TreeResult<{ runs: string[] }>> {
  const refs = ['refs/heads/retinue/', 'refs/retinue/']
  const known = await own.git().run(['for-each-ref', '--format=%(refname)', ...refs], { max_output: MAX_LIST })
  if (!known.ok) return asTreeFault(known)
  const named = known.stdout.split('\n').map((ref) => /^refs\/(?:heads\/)?retinue\/([^/]+)\//.exec(ref)?.[1])
  const pinned = await readdir(join(own.person?.common_dir ?? own.home, 'refs/retinue')).catch(() => [])
  const all = [...named, ...pinned, ...(await foldersIn(own.worktrees))].filter((run_id) => run_id !== undefined)
  return { ok: true, runs: [...new Set(all)].sort() }
}

/** What is begun before it can be found by its run: folders of git's for a worktree, and files with names of chance. */
async function removeForgotten(own: Private): Promise<void> {
  const listed = await list(own)
  if (!listed.ok) return
  const known = new Set(listed.trees.map(({ run_id, name }) => adminOf(own, run_id, name)))
  const admins = (await foldersIn(join(own.home, 'worktrees'))).map((name) => join(own.home, 'worktrees', name))
  const beside = dirname(own.home)
  const chance = [
    ...(await namesIn(own.home, HALF_MADE)),
    ...(await namesIn(join(own.home, 'info'), HALF_MADE)),
    ...(await namesIn(join(own.home, 'objects/info'), HALF_MADE)),
    ...(await halfMadeObjects(own)),
    ...(await namesIn(beside, /^git-new-/)),
    ...(await ownersBesides(own, new Set(listed.trees.map(({ run_id }) => run_id)))),
  ]
  for (const path of [...admins.filter((admin) => !known.has(admin)), ...chance]) {
    const stats = await lstat(path).catch(() => null)
    if (stats && stats.mtimeMs < Date.now() - ABANDONED_MS) await discard(own, [path])
  }
}

/** Files under a name of chance, which get their own name when they are whole. */
const HALF_MADE = /^capture-.*\.index|^sharedindex\.|\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function halfMadeObjects({ home }: Private): Promise<string[]> {
  const objects = join(home, 'objects')
  const folders = (await namesIn(objects, /^[0-9a-f]{2}$/)).map((folder) => namesIn(folder, /^tmp_obj_/))
  return (await Promise.all(folders)).flat()
}

async function namesIn(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name))
}
