import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ListedTree, TreeResult } from '../host.js'
import { SUBMODULE } from '../modes.js'
import { ownerOf } from './owner.js'
import { removePipes } from './pipes.js'
import { adminOf, asTreeFault, branchOf, MAX_LIST, type Private, refOf, topOf } from './private.js'
import { commitOf } from './refs.js'
import { READY } from './worktree.js'

const BRANCHES = 'refs/heads/retinue/'

export async function list(own: Private): Promise<TreeResult<{ trees: ListedTree[] }>> {
  const format = '--format=%(objectname) %(refname)'
  const run = await own.git().run(['for-each-ref', format, BRANCHES], { max_output: MAX_LIST })
  if (!run.ok) return asTreeFault(run)
  const trees = new Map<string, Omit<ListedTree, 'owner'>>()
  for (const line of run.stdout.split('\n').filter(Boolean)) {
    const [commit = '', ref = ''] = line.split(' ')
    const [run_id = '', name = ''] = ref.slice(BRANCHES.length).split('/')
    const branch = branchOf(run_id, name)
    trees.set(branch, { run_id, name, branch, path: null, commit })
  }
  for (const run_id of await foldersIn(own.worktrees)) {
    for (const name of await foldersIn(join(own.worktrees, run_id))) {
      const branch = branchOf(run_id, name)
      const commit = trees.get(branch)?.commit ?? null
      trees.set(branch, { run_id, name, branch, path: topOf(own, run_id, name), commit })
    }
  }
  const sorted = [...trees.values()].sort((a, b) => compare(a.run_id, b.run_id) || compare(a.name, b.name))
  const runs = [...new Set(sorted.map(({ run_id }) => run_id))]
  const owners = new Map(await Promise.all(runs.map(async (id) => [id, await ownerOf(own, id)] as const)))
  return { ok: true, trees: sorted.map((tree) => ({ ...tree, owner: owners.get(tree.run_id) ?? null })) }
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

export async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** Ignored files do not count: nobody has ever been promised them. */
export async function isCommitted(
  own: Private,
  run_id: string,
  name: string,
): Promise<TreeResult<{ committed: boolean }>> {
  const top = topOf(own, run_id, name)
  const entries = await readdir(top).catch(() => null)
  // A folder that was just begun or is being removed has nothing in it.
  if (entries === null || entries.length === 0) return { ok: true, committed: true }
  // Nobody has worked in one that was not finished.
  const admin = await readdir(adminOf(own, run_id, name)).catch(() => null)
  if (admin !== null && !admin.includes(READY)) return { ok: true, committed: true }
  const ref = await commitOf(own.git(), refOf(run_id, name))
  if (!ref.ok) return ref
  if (ref.commit === null) return { ok: true, committed: false }
  await removePipes(top)
  const git = own.git({ git_dir: adminOf(own, run_id, name), work_tree: top })
  const status = await git.run(
    ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=all', '--no-renames'],
    { answers: [128], max_output: MAX_LIST },
  )
  if (!status.ok) return asTreeFault(status)
  // Without its HEAD or index nobody can tell what has been committed.
  if (status.exit_code !== 0 || status.stdout !== '') return { ok: true, committed: false }
  return hasOtherFiles(git, top)
}

/** Files where the commit has a repository below: git does not look there. */
async function hasOtherFiles(
  git: ReturnType<Private['git']>,
  top: string,
): Promise<TreeResult<{ committed: boolean }>> {
  const staged = await git.run(['ls-files', '--stage', '-z'], { max_output: MAX_LIST })
  if (!staged.ok) return asTreeFault(staged)
  for (const line of staged.stdout.split('\0').filter((one) => one.startsWith(`${SUBMODULE} `))) {
    const inside = await readdir(join(top, line.slice(line.indexOf('\t') + 1))).catch(() => [])
    if (inside.length > 0) return { ok: true, committed: false }
  }
  return { ok: true, committed: true }
}
