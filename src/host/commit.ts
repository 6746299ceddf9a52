import { isProtected } from '../domain/index.js'
import { type GitCommand, LITERAL } from './git-command.js'
import type { Fault, GitFault, GitResult } from './host.js'
import { fault, TEMPORARY } from './paths.js'

type Change = { path: string; untracked: boolean }

/** Who commits where nobody said so. */
const NOBODY = {
  GIT_AUTHOR_NAME: 'Retinue',
  GIT_AUTHOR_EMAIL: 'retinue@localhost',
  GIT_COMMITTER_NAME: 'Retinue',
  GIT_COMMITTER_EMAIL: 'retinue@localhost',
}

/**
 * Commits what has changed under these paths and nothing else: what a person has staged besides stays staged. Paths
 * and git's working directory are relative to the top of the work tree.
 */
export async function commitPaths(
  git: GitCommand,
  message: string,
  paths: string[],
  named: boolean,
): Promise<GitResult<{ commit: string; summary: string }>> {
  const changes = await changesUnder(git, paths)
  if (!changes.ok) return changes
  const unknown = named ? await unknownPath(git, paths, changes.changes) : null
  if (unknown) return unknown
  if (changes.changes.length === 0) return fault('nothing_to_commit', 'nothing has changed since the last commit')

  const untracked = list(changes.changes.filter((change) => change.untracked))
  if (untracked !== '') {
    const added = await git.run(['add', ...FROM_STDIN], { stdin: untracked, env: LITERAL })
    if (!added.ok) return added
  }
  const env = { ...LITERAL, ...((await hasIdentity(git)) ? {} : NOBODY) }
  const flags = ['--only', '--no-status', '--cleanup=whitespace', `--message=${message}`]
  const committed = await git.run(['commit', ...flags, ...FROM_STDIN], { stdin: list(changes.changes), env })
  if (!committed.ok) {
    // As it was before: what was not staged is not staged.
    if (untracked !== '')
      await git.run(['rm', '--cached', '--quiet', ...FROM_STDIN], { stdin: untracked, env: LITERAL })
    return committed
  }
  const head = await git.run(['rev-parse', '--verify', 'HEAD'])
  return head.ok ? { ok: true, commit: head.stdout.trim(), summary: committed.stdout.trim() } : head
}

const FROM_STDIN = ['--pathspec-from-file=-', '--pathspec-file-nul']

function list(changes: Change[]): string {
  return changes.map((change) => `${change.path}\0`).join('')
}

async function changesUnder(
  git: GitCommand,
  paths: string[],
): Promise<{ ok: true; changes: Change[] } | Fault<GitFault>> {
  const flags = ['--porcelain=v1', '-z', '--no-renames', '--untracked-files=all']
  const status = await git.run(['status', ...flags, '--', ...paths], { env: LITERAL })
  if (!status.ok) return status
  if (!status.whole) return fault('failed', 'too many files have changed to commit them at once; name some of them')
  const changes = new Map<string, Change>()
  for (const line of status.stdout.split('\0')) {
    const path = line.slice(3)
    if (path === '' || isProtected(path) || path.split('/').some((name) => name.startsWith(TEMPORARY))) continue
    // A file that was removed from the index and still exists is told twice.
    changes.set(path, { path, untracked: line.startsWith('??') || changes.get(path)?.untracked === true })
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
