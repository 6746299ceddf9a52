import type { Dirent } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { TreeResult } from '../host.js'
import { errno, fault } from '../paths.js'
import { linksOf } from './include.js'
import { removePipes } from './pipes.js'
import { adminOf, asTreeFault, MAX_LIST, type Private, topOf } from './private.js'
import { READY } from './worktree.js'

/**
 * What is in a worktree, that git ignores and that did not come from the person's folder, as paths from the top; a
 * folder that is ignored as a whole is one path, with a slash at its end.
 */
export async function ignoredIn(own: Private, run_id: string, name: string): Promise<TreeResult<{ paths: string[] }>> {
  const top = topOf(own, run_id, name)
  const entries = await readdir(top).catch(() => [])
  if (entries.length === 0) return { ok: true, paths: [] }
  const admin = adminOf(own, run_id, name)
  // Nobody has worked in one that was not finished.
  const known = await readdir(admin).catch(() => null)
  if (known !== null && !known.includes(READY)) return { ok: true, paths: [] }
  await removePipes(top)
  const status = await own
    .git({ git_dir: admin, work_tree: top })
    .run(
      [
        'status',
        '--porcelain',
        '-z',
        '--ignored=matching',
        '--untracked-files=all',
        '--ignore-submodules=all',
        '--no-renames',
      ],
      { max_output: MAX_LIST },
    )
  if (!status.ok) return asTreeFault(status)
  const listed = status.stdout.split('\0').flatMap((line) => (line.startsWith('!! ') ? [line.slice(3)] : []))
  try {
    const links = new Set(await linksOf(own, run_id, name))
    const paths: string[] = []
    for (const path of listed) if (await hasOwn({ top, from: own.top, links }, path)) paths.push(path)
    return { ok: true, paths }
  } catch (error) {
    if (errno(error) === null) throw error
    return fault('failed', `what git ignores in ${top} cannot be read: ${(error as Error).message}`)
  }
}

type Places = { top: string; from: string; links: ReadonlySet<string> }

/** Whether there is anything at a path that the worktree was not given. */
async function hasOwn(places: Places, path: string): Promise<boolean> {
  const there = join(places.top, path)
  const stats = await lstat(there)
  if (stats.isSymbolicLink()) return !places.links.has(await readlink(there))
  if (stats.isFile()) return !(await isSame(there, join(places.from, path), stats.size))
  if (!stats.isDirectory()) return true
  const entries: Dirent[] = await readdir(there, { withFileTypes: true })
  // Files that were copied are few, so that what an agent made is mostly found at once.
  for (const entry of entries) if (await hasOwn(places, join(path, entry.name))) return true
  return false
}

/** A copy that is as the person has it is lost by nobody. */
async function isSame(copy: string, original: string, size: number): Promise<boolean> {
  const stats = await lstat(original).catch(() => null)
  if (!stats?.isFile() || stats.size !== size) return false
  const [ours, theirs] = await Promise.all([readFile(copy), readFile(original)])
  return ours.equals(theirs)
}
