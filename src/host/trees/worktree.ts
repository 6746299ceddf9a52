import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { holdFor } from '../held.js'
import type { Included, TreeResult, WorkTree } from '../host.js'
import { SUBMODULE } from '../modes.js'
import { fault, relativeTo } from '../paths.js'
import { createRepository } from '../repository.js'
import { commitTree } from './commit-tree.js'
import { include, linksOf } from './include.js'
import { missing } from './merge.js'
import { holdFolder } from './on-disk.js'
import { removePipes } from './pipes.js'
import {
  adminOf,
  asTreeFault,
  branchOf,
  MAX_LIST,
  OWN_ENVIRONMENT,
  type Private,
  refOf,
  topOf,
  writeWhole,
} from './private.js'
import { treeOf } from './refs.js'
import { behindLink, stageAll } from './stage.js'

/** It is there when the files have been brought in; before that, a process died in the middle. */
export const READY = 'ready'

/** Files are made about twice as fast by two processes, and several worktrees may be made at once. */
const WORKERS = Math.min(4, Math.max(2, availableParallelism()))

export async function add(
  own: Private,
  run_id: string,
  name: string,
  commit: string,
  options: { usual?: boolean; folders?: readonly string[] } = {},
): Promise<TreeResult<{ tree: WorkTree; included: Included[]; notes: string[] }>> {
  const admin = adminOf(own, run_id, name)
  const top = topOf(own, run_id, name)
  try {
    // A folder that is a link to elsewhere goes without what it leads to.
    for (const old of [join(admin, READY), top, admin, join(own.home, refOf(run_id, name))]) {
      await rm(old, { recursive: true, force: true })
    }
    await mkdir(join(admin, 'info'), { recursive: true })
    await mkdir(top, { recursive: true })
    await writeFile(join(admin, 'commondir'), '../..\n')
    await writeFile(join(admin, 'gitdir'), `${join(top, '.git')}\n`)
    await writeFile(join(admin, 'HEAD'), `ref: ${refOf(run_id, name)}\n`)
    const sparse = await readFile(join(own.home, 'info/sparse-checkout'), 'utf8').catch(() => null)
    await writeWhole(join(admin, 'info/sparse-checkout'), sparse)
    // For the commands of agents. Nothing here follows it.
    await writeFile(join(top, '.git'), `gitdir: ${admin}\n`)
    await removeLocks(own, run_id, name)
    // The branch does not exist yet, so this makes it.
    const filled = await checkOut(own, { admin, top }, commit)
    if (!filled.ok) return filled
    const included = await include(own, run_id, name, options)
    if (!included.ok) return included
    const ground = { root: await realpath(top), hold: holdFor(process.platform) }
    for (const folder of options.folders ?? []) holdFolder(ground, posix.join(own.prefix, folder), true)?.close()
    await writeFile(join(admin, READY), '')
    const tree = await describe(own, run_id, name)
    return { ok: true, tree, included: included.included, notes: included.notes }
  } catch (error) {
    return fault('failed', `the worktree ${top} cannot be made: ${(error as Error).message}`)
  }
}

export async function open(
  own: Private,
  run_id: string,
  name: string,
  { only_look = false }: { only_look?: boolean } = {},
): Promise<TreeResult<{ tree: WorkTree }>> {
  const top = topOf(own, run_id, name)
  const isThere = (await readdir(top).catch(() => null)) !== null
  const isReady = (await readFile(join(adminOf(own, run_id, name), READY)).catch(() => null)) !== null
  if (!isThere || !isReady) return fault('missing', `there is no worktree ${top}, or it was not finished`)
  // Whoever has it may be in the middle of something.
  if (!only_look) await removeLocks(own, run_id, name)
  const head = await headOf(own, run_id, name)
  return head.ok ? { ok: true, tree: await describe(own, run_id, name) } : head
}

async function describe(own: Private, run_id: string, name: string): Promise<WorkTree> {
  const admin = adminOf(own, run_id, name)
  const top = await realpath(topOf(own, run_id, name))
  const root = join(top, own.prefix)
  // Where the folder that runs work in holds nothing but ignored files, git does not make it.
  await mkdir(root, { recursive: true })
  const git = own.git({ git_dir: admin, work_tree: top })
  const tree: WorkTree = {
    top,
    root,
    branch: branchOf(run_id, name),
    links: await linksOf(own, run_id, name),
    repository: createRepository({
      ...own.machine,
      git_dir: admin,
      work_tree: top,
      folder: root,
      env: OWN_ENVIRONMENT,
    }),

    head: () => headOf(own, run_id, name),

    async snapshot(note) {
      const before = await headOf(own, run_id, name)
      if (!before.ok) return before
      const head = before.commit
      await removePipes(top)
      const [known, staged] = await Promise.all([treeOf(own, head), stageAll(git, top)])
      if (!known.ok) return known
      if (!staged.ok) return staged
      const uncommittable = [...staged.nested, ...staged.left_out]
      const notes = uncommittable.map(
        (path) => `${path} cannot be committed: it belongs to another repository, or to git`,
      )
      if (staged.tree === known.tree) return { ok: true, commit: head, notes, uncommittable }
      const made = await commitTree(own, staged.tree, [head], note)
      if (!made.ok) return made
      const moved = await own.git().run(['update-ref', refOf(run_id, name), made.commit, head])
      if (moved.ok) return { ok: true, commit: made.commit, notes, uncommittable }
      // A process that has let go of it may have done the same in this moment.
      const now = await headOf(own, run_id, name)
      return now.ok && now.commit !== head ? tree.snapshot(note) : asTreeFault(moved)
    },

    async ignored(paths) {
      const isBehind = behindLink(top)
      const given = new Map<string, string[]>()
      for (const path of paths) {
        // git says nothing about what is behind a symbolic link: it is ignored if the link is.
        let asked = relativeTo(top, resolve(root, path))
        while (isBehind(asked)) asked = dirname(asked)
        given.set(asked, [...(given.get(asked) ?? []), path])
      }
      const stdin = [...given.keys()].map((path) => `${path}\0`).join('')
      if (stdin === '') return { ok: true, paths: [] }
      await removePipes(top)
      const asked = await git.run(['check-ignore', '-z', '--stdin'], { stdin, answers: [1], max_output: MAX_LIST })
      if (!asked.ok) return asTreeFault(asked)
      const ignored = asked.stdout.split('\0').filter(Boolean)
      return { ok: true, paths: ignored.flatMap((path) => given.get(path) ?? []) }
    },

    async reset(commit, { is_clean = false } = {}) {
      if (!is_clean) await removePipes(top)
      const filled = await checkOut(own, { admin, top }, commit)
      if (!filled.ok || is_clean) return filled
      // Twice forced: repositories that the agent made are removed as well. Nothing is run in them.
      const [cleaned, listed] = await Promise.all([
        git.run(['clean', '-ffdq', '-e', '.retinue']),
        git.run(['ls-files', '-s', '-z'], { max_output: MAX_LIST }),
      ])
      if (!cleaned.ok) return asTreeFault(cleaned)
      if (!listed.ok) return asTreeFault(listed)
      return emptySubmodules(top, listed.stdout)
    },
  }
  return tree
}

/** Brings branch, index and files to a commit, in one process. */
async function checkOut(
  own: Private,
  { admin, top }: { admin: string; top: string },
  commit: string,
): Promise<TreeResult<object>> {
  const git = own.git({ git_dir: admin, work_tree: top })
  const done = await git.run(['-c', `checkout.workers=${WORKERS}`, 'reset', '--hard', '--quiet', commit, '--'])
  return done.ok ? { ok: true } : missing(done)
}

/** git leaves what is in the folders of submodules to them; but here there are none. */
async function emptySubmodules(top: string, listed: string): Promise<TreeResult<object>> {
  const links = listed.split('\0').filter((line) => line.startsWith(`${SUBMODULE} `))
  try {
    for (const link of links) {
      const folder = join(top, link.slice(link.indexOf('\t') + 1))
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder, { recursive: true })
    }
    return { ok: true }
  } catch (error) {
    return fault('failed', `the folders of submodules cannot be emptied: ${(error as Error).message}`)
  }
}

/** No worktree is needed for it. */
export async function headOf(own: Private, run_id: string, name: string): Promise<TreeResult<{ commit: string }>> {
  const ref = refOf(run_id, name)
  // No ref of ours is ever packed, and a process costs a hundred times as much as a file.
  const text = await readFile(join(own.home, ref), 'utf8').catch(() => '')
  const commit = /^([0-9a-f]{40,64})\n$/.exec(text)?.[1]
  return commit === undefined ? fault('missing', `there is no branch ${branchOf(run_id, name)}`) : { ok: true, commit }
}

/** What a git that was killed has left. A worktree has one owner, so none of its locks is held by anybody. */
async function removeLocks(own: Private, run_id: string, name: string): Promise<void> {
  const admin = adminOf(own, run_id, name)
  const locks = (await readdir(admin).catch(() => [])).filter((file) => file.endsWith('.lock'))
  for (const lock of locks) await rm(join(admin, lock), { force: true })
  const ref = join(own.home, refOf(run_id, name))
  await mkdir(dirname(ref), { recursive: true })
  await rm(`${ref}.lock`, { force: true })
}
