import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isProtected } from '../domain/index.js'
import { type GitCommand, LITERAL, NOT_BELOW } from './git-command.js'
import type { CommitCheck, Fault, GitFault, GitResult } from './host.js'
import { fault, TEMPORARY } from './paths.js'
import { openStaging } from './staging.js'

type Change = { path: string }

/** Who commits where nobody said so. */
const NOBODY = {
  GIT_AUTHOR_NAME: 'Retinue',
  GIT_AUTHOR_EMAIL: 'retinue@localhost',
  GIT_COMMITTER_NAME: 'Retinue',
  GIT_COMMITTER_EMAIL: 'retinue@localhost',
}

type What = { message: string; paths: string[]; named: boolean; check: CommitCheck | null }

/** Files that are there while something else is under way, of which a commit would be a part. */
const UNDER_WAY: Record<string, string> = {
  MERGE_HEAD: 'a merge',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
}

/**
 * Commits what has changed under these paths and nothing else: what a person has staged besides stays staged. Paths
 * and git's working directory are relative to the top of the work tree.
 *
 * The commit is made of an index of its own that is built once and not touched again: what was checked is what is
 * committed, whatever happens to the files in the meantime.
 */
export async function commitPaths(
  git: GitCommand,
  git_dir: string,
  { message, paths, named, check }: What,
): Promise<GitResult<{ commit: string; summary: string }>> {
  for (const [file, name] of Object.entries(UNDER_WAY)) {
    if (existsSync(join(git_dir, file))) return fault('failed', `${name} is under way: finish it with git first`)
  }
  const changes = await changesUnder(git, paths)
  if (!changes.ok) return changes
  const unknown = named ? await unknownPath(git, paths, changes.changes) : null
  if (unknown) return unknown
  if (changes.changes.length === 0) return fault('nothing_to_commit', 'nothing has changed since the last commit')
  const text = await git.run(['stripspace'], { stdin: message })
  if (!text.ok) return text
  if (text.stdout.trim() === '') return fault('failed', 'the message is empty')

  const staging = await openStaging(git, git_dir)
  if (!staging.ok) return staging
  try {
    const staged = await staging.add(changes.changes.map((change) => change.path))
    if (!staged.ok) return staged
    if (staged.entries.length === 0) return fault('nothing_to_commit', 'nothing has changed since the last commit')
    const wrong = check ? await staging.check(staged.entries, check) : null
    if (wrong) return wrong
    const env = (await hasIdentity(git)) ? {} : NOBODY
    return await staging.commit(staged.entries, text.stdout, env)
  } finally {
    await staging.close()
  }
}

async function changesUnder(
  git: GitCommand,
  paths: string[],
): Promise<{ ok: true; changes: Change[] } | Fault<GitFault>> {
  const flags = ['--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', NOT_BELOW]
  const status = await git.run(['status', ...flags, '--', ...paths], { env: LITERAL })
  if (!status.ok) return status
  if (!status.whole) return fault('failed', 'too many files have changed to commit them at once; name some of them')
  const changes = new Map<string, Change>()
  for (const line of status.stdout.split('\0')) {
    const path = line.slice(3)
    if (path === '' || isProtected(path) || path.split('/').some((name) => name.startsWith(TEMPORARY))) continue
    // A file that was removed from the index and still exists is told twice.
    changes.set(path, { path })
  }
  return { ok: true, changes: [...changes.values()] }
}

/** A named path without changes must at least be one that git knows, or it was a mistake that nobody would notice. */
async function unknownPath(git: GitCommand, paths: string[], changes: Change[]): Promise<Fault<GitFault> | null> {
  const changed = (path: string) =>
    path === '.' || changes.some((change) => change.path === path || change.path.startsWith(`${path}/`))
  const unchanged = paths.filter((path) => !changed(path))
  if (unchanged.length === 0) return null
  const known = await git.run(['ls-files', '--error-unmatch', '--', ...unchanged], { env: LITERAL })
  return known.ok ? null : fault('failed', `not in the repository, or ignored: ${known.message}`)
}

async function hasIdentity(git: GitCommand): Promise<boolean> {
  // Without useConfigOnly git would make one up from the names of the user and the machine.
  const author = await git.run(['-c', 'user.useConfigOnly=true', 'var', 'GIT_AUTHOR_IDENT'])
  return author.ok
}
