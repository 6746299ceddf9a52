import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CommitNote, Fault, Trees } from '../host.js'
import { commitTree } from './commit-tree.js'
import { asTreeFault, type Private } from './private.js'

type Merged = Awaited<ReturnType<Trees['merge']>>

/** A commit that has both. Made of objects alone; the attributes of files are those in a worktree that has `ours`. */
export async function merge(own: Private, ours: string, theirs: string, note: CommitNote): Promise<Merged> {
  for (;;) {
    const work_tree = await worktreeAt(own, ours)
    const merged = await mergeIn(own, work_tree ?? own.top, [ours, theirs], note)
    // It may be another run's, which has removed it meanwhile.
    if (merged.ok || work_tree === null || (await isThere(work_tree))) return merged
  }
}

async function mergeIn(
  own: Private,
  work_tree: string,
  [ours, theirs]: [string, string],
  note: CommitNote,
): Promise<Merged> {
  const git = own.git({ work_tree })
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--messages', '--allow-unrelated-histories']
  // Most of the time both are needed, and what is merged for nothing is only objects.
  const [base, merged] = await Promise.all([
    git.run(['merge-base', ours, theirs], { answers: [1] }),
    git.run([...args, ours, theirs], { answers: [1] }),
  ])
  if (!base.ok) return missing(base)
  const common = base.stdout.trim()
  if (common === theirs) return { ok: true, commit: ours, kind: 'nothing' }
  if (common === ours) return { ok: true, commit: theirs, kind: 'fast_forward' }
  if (!merged.ok) return missing(merged)
  const [tree = '', ...rest] = merged.stdout.split('\0')
  if (merged.exit_code === 1) {
    const end = rest.indexOf('')
    const paths = [...new Set(rest.slice(0, end < 0 ? undefined : end))].sort()
    return { ok: false, code: 'conflict', message: `both sides changed ${paths.join(', ')}`, paths, tree }
  }
  const made = await commitTree(own, tree, [ours, theirs], note)
  return made.ok ? { ok: true, commit: made.commit, kind: 'merge' } : made
}

/** The worktree whose branch is at a commit. */
async function worktreeAt({ home }: Private, commit: string): Promise<string | null> {
  for (const name of await readdir(join(home, 'worktrees')).catch(() => [])) {
    const admin = join(home, 'worktrees', name)
    const head = await readFile(join(admin, 'HEAD'), 'utf8').catch(() => '')
    const ref = /^ref: (refs\/heads\/retinue\/.+)\n$/.exec(head)?.[1]
    if (ref === undefined || (await readFile(join(home, ref), 'utf8').catch(() => '')).trim() !== commit) continue
    const top = dirname((await readFile(join(admin, 'gitdir'), 'utf8').catch(() => '')).trim())
    if (await isThere(top)) return top
  }
  return null
}

async function isThere(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => null)) !== null
}

const NO_COMMIT =
  /not something we can merge|bad (?:object|revision)|unknown revision|not a valid|ambiguous argument|invalid revision|could not (?:parse|resolve)|failed to resolve/i

/** Whether git failed because there is no such commit. */
export function missing(failed: Fault<string>): Fault<'missing' | 'git_missing' | 'failed'> {
  if (NO_COMMIT.test(failed.message)) return { ok: false, code: 'missing', message: failed.message }
  return asTreeFault(failed) as Fault<'git_missing' | 'failed'>
}
