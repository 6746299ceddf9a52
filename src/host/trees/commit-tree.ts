import type { CommitNote, TreeResult } from '../host.js'
import { asTreeFault, type Private } from './private.js'

/** A commit of a tree. No branch knows it yet. */
export async function commitTree(
  own: Private,
  tree: string,
  parents: readonly string[],
  { message, author, at }: CommitNote,
): Promise<TreeResult<{ commit: string }>> {
  const date = `${Math.floor(at / 1000)} +0000`
  const env = {
    GIT_AUTHOR_NAME: nameable(author.name),
    GIT_AUTHOR_EMAIL: nameable(author.email),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: 'Retinue',
    GIT_COMMITTER_EMAIL: 'retinue@localhost',
    GIT_COMMITTER_DATE: date,
  }
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-']
  const made = await own.git().run(args, { stdin: message, env })
  if (!made.ok) return asTreeFault(made)
  const commit = made.stdout.trim()
  own.tree_ids.set(commit, tree)
  return { ok: true, commit }
}

/** git takes no name that is empty without these. */
function nameable(name: string): string {
  return name.replace(/[<>\n\0]/g, '').trim() || 'agent'
}
