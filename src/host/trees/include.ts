import { constants, lstatSync, realpathSync, symlinkSync } from 'node:fs'
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { holdFor } from '../held.js'
import type { Included, TreeResult } from '../host.js'
import { errno, fault, isInside } from '../paths.js'
import { findIncluded, INCLUDE_FILE } from './include-patterns.js'
import { holdFolder } from './on-disk.js'
import { adminOf, INCLUDED, type Private, topOf, writeWhole } from './private.js'

/** Beside the worktree's HEAD: where the links in it lead to. */
const LINKS = 'links'

type Taken = (Included & { target: string | null }) | { note: string } | null

/** Brings ignored files that `.worktreeinclude` names from the person's folder into a fresh worktree. */
export async function include(
  own: Private,
  run_id: string,
  name: string,
  options: { usual?: boolean } = {},
): Promise<TreeResult<{ included: Included[]; notes: string[] }>> {
  try {
    const found = await findIncluded(own, adminOf(own, run_id, name), options)
    if (!found.ok || found.paths === null) return found.ok ? { ok: true, included: [], notes: found.notes } : found
    const { notes, is_usual } = found
    const top = topOf(own, run_id, name)
    // What nobody named and the worktree has is the one that is in git.
    const isThere = (path: string) => lstatSync(join(top, path), { throwIfNoEntry: false }) !== undefined
    const paths = is_usual ? found.paths.filter((path) => !isThere(path)) : found.paths
    const ready = await exclude(own, paths, new Set(found.ignored))
    if (!ready.ok) return ready
    const included: Included[] = []
    const links: string[] = []
    for (const path of paths) {
      const taken = await take(own, top, path)
      if (taken === null) continue
      if ('note' in taken) notes.push(taken.note)
      else {
        included.push({ path, how: taken.how })
        if (taken.target !== null) links.push(taken.target)
      }
    }
    await writeFile(join(adminOf(own, run_id, name), LINKS), JSON.stringify(links))
    return { ok: true, included, notes }
  } catch (error) {
    if (errno(error) === null) throw error
    return fault(
      'failed',
      `what ${INCLUDE_FILE} names cannot be brought into the worktree: ${(error as Error).message}`,
    )
  }
}

export async function linksOf(own: Private, run_id: string, name: string): Promise<string[]> {
  const text = await readFile(join(adminOf(own, run_id, name), LINKS), 'utf8').catch(() => '[]')
  return JSON.parse(text) as string[]
}

async function take(own: Private, worktree: string, path: string): Promise<Taken> {
  const given = lstatSync(join(own.top, path), { throwIfNoEntry: false })
  if (!given) return null
  const source = realOf(join(own.top, path))
  if (source === null) return { note: `${path} is a link to nothing, and is not in the worktree` }
  if (!isInside(own.top, source)) return { note: `${path} leads out of the folder, and is not in the worktree` }
  // git's and Retinue's own files would be in the worktree with it.
  const kept = [own.home, ...(own.person ? [own.person.git_dir, own.person.common_dir] : [])]
  if (kept.some((one) => isInside(one, source) || isInside(source, one))) {
    return { note: `${path} has files of git or Retinue in it, and is not in the worktree` }
  }
  const stats = lstatSync(source)
  if (!stats.isFile() && !stats.isDirectory()) return { note: `${path} is neither file nor folder` }
  // An agent may have put a link where the person has a folder: nothing is ever written through it.
  const folder = holdFolder({ root: worktree, hold: holdFor(process.platform) }, dirname(path), true)
  if (folder === null) return { note: `${path} is not in the worktree: something else is in the place of its folder` }
  const there = folder.at(basename(path))
  try {
    if (stats.isDirectory()) {
      symlinkSync(source, there)
      return { path, how: 'linked', target: source }
    }
    await copyFile(source, there, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await chmod(there, stats.mode & 0o777)
    return { path, how: 'copied', target: null }
  } catch (error) {
    if (errno(error) !== 'EEXIST') throw error
    return { note: `${path} is in git as well, so the worktree has that` }
  } finally {
    folder.close()
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/**
 * Has git ignore them in worktrees by their own names: `node_modules/` in a `.gitignore` does not match a link. What
 * was taken into other worktrees stays ignored, unless the person does not ignore it any more.
 */
async function exclude(
  own: Private,
  paths: readonly string[],
  ignored: ReadonlySet<string>,
): Promise<TreeResult<object>> {
  const file = join(own.home, INCLUDED)
  const changed = await own.machine.locks.run(file, async () => {
    const before = await readFile(file, 'utf8').catch(() => '')
    const known = new Set([...paths, ...ignored].map(asPattern))
    const stay = before.split('\n').filter((line) => known.has(line))
    const lines = [...new Set([...stay, ...paths.map(asPattern)])].sort()
    const after = lines.map((line) => `${line}\n`).join('')
    if (after !== before) await writeWhole(file, after)
    return after !== before
  })
  return changed ? own.configure() : { ok: true }
}

function asPattern(path: string): string {
  return `/${path.replace(/[\\*?[\]]/g, '\\$&').replace(/ $/, '\\ ')}`
}
