import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitCommand } from '../git-command.js'
import type { TreeResult } from '../host.js'
import { missing } from './merge.js'
import { asTreeFault, type Private } from './private.js'

/** The commit of a full ref; null where there is none. */
export async function commitOf(git: GitCommand, ref: string): Promise<TreeResult<{ commit: string | null }>> {
  const run = await git.run(['rev-parse', '--quiet', '--verify', '--end-of-options', `${ref}^{commit}`], {
    answers: [1, 128],
  })
  if (!run.ok) return asTreeFault(run)
  return { ok: true, commit: run.exit_code === 0 ? run.stdout.trim() : null }
}

/** Hidden refs: where a run began, what came of it, and whether it has what is not for the person's repository. */
export const hidden = (run_id: string, what: 'base' | 'result' | 'private') => `refs/retinue/${run_id}/${what}`

/** Whether the one has all that the other has. Commits that are not known here are nobody's ancestors. */
export async function isWithin(own: Private, commit: string, whole: string): Promise<boolean> {
  if (commit === whole) return true
  const run = await own.git().run(['merge-base', '--is-ancestor', commit, whole], { answers: [1, 128] })
  return run.ok && run.exit_code === 0
}

/** A git that was killed leaves its lock behind. What belongs to a run is only touched by the process that has it. */
export function unlock(own: Private, ref: string): Promise<void> {
  return rm(join(own.home, `${ref}.lock`), { force: true })
}

/** Whether the person works on a branch, here or in another worktree of their repository. */
export async function isCheckedOut({ person }: Private, ref: string): Promise<boolean> {
  if (person === null) return false
  const others = await readdir(join(person.common_dir, 'worktrees')).catch(() => [])
  const folders = [person.common_dir, ...others.map((name) => join(person.common_dir, 'worktrees', name))]
  const heads = await Promise.all(folders.map((folder) => readFile(join(folder, 'HEAD'), 'utf8').catch(() => '')))
  return heads.some((head) => head.trim() === `ref: ${ref}`)
}

/** The tree of a commit. */
export async function treeOf(own: Private, commit: string): Promise<TreeResult<{ tree: string }>> {
  const known = own.tree_ids.get(commit)
  if (known !== undefined) return { ok: true, tree: known }
  const asked = await own.git().run(['rev-parse', '--verify', `${commit}^{tree}`])
  if (!asked.ok) return missing(asked)
  const tree = asked.stdout.trim()
  own.tree_ids.set(commit, tree)
  return { ok: true, tree }
}
