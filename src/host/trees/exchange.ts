import { createHash } from 'node:crypto'
import {
  copyFileSync,
  linkSync,
  lstatSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import type { Held, Hold } from '../held.js'
import { errno, TEMPORARY } from '../paths.js'
import { isSame, lookIn, type OnDisk } from './on-disk.js'

/*
 * Renaming a new file over an old one would destroy what somebody saved there a moment before. So the old one is first
 * moved aside, looked at where nobody writes any more, and the new one is put in its place only if nothing is there.
 * The names are made from the file's, so that what a killed process left can be found: `was` is not looked at yet,
 * `old` is what was expected.
 */

const asideFor = (state: 'was' | 'old', name: string) =>
  `${TEMPORARY}${state}-${createHash('sha256').update(name).digest('hex').slice(0, 24)}`

/** Exchanges what is expected at a name for something else, or for nothing. false: it is not what was expected. */
export async function exchange(
  folder: Held,
  name: string,
  hold: Hold,
  what: { expected: OnDisk; source: string | null },
): Promise<boolean> {
  const [was, old] = [folder.at(asideFor('was', name)), folder.at(asideFor('old', name))]
  const isThere = what.expected.kind !== 'absent'
  if (isThere) {
    try {
      renameSync(folder.at(name), was)
    } catch (error) {
      if (errno(error) === 'ENOENT') return false
      throw error
    }
    if (!isSame(await lookIn(folder, asideFor('was', name), hold), what.expected)) {
      giveBack(was, folder.at(name))
      return false
    }
    renameSync(was, old)
  }
  try {
    const isPlaced = what.source === null || place(what.source, folder, name)
    // Whoever has put something there meanwhile meant to replace what is aside now.
    if (isThere) unlinkSync(old)
    return isPlaced
  } catch (error) {
    if (isThere) giveBack(old, folder.at(name))
    throw error
  }
}

/**
 * Puts right what a process that was killed in the middle of an exchange has left. A path: there is something of the
 * person's in it and another file at its own name, which only they can put right.
 */
export function recover(folder: Held, name: string): string | null {
  const [was, old] = [folder.at(asideFor('was', name)), folder.at(asideFor('old', name))]
  const there = lstat(folder.at(name))
  if (lstat(old)) {
    if (there) unlinkSync(old)
    else giveBack(old, folder.at(name))
  }
  const left = lstat(was)
  if (!left || giveBack(was, folder.at(name))) return null
  return asideFor('was', name)
}

/** false: something else is there, and both stay. */
function giveBack(aside: string, path: string): boolean {
  const stats = lstat(aside)
  if (!stats) return true
  const there = lstat(path)
  if (there && !(there.ino === stats.ino && there.dev === stats.dev)) return false
  if (there) unlinkSync(aside)
  else if (!stats.isFile()) renameSync(aside, path)
  else if (putIfAbsent(aside, path)) rmSync(aside, { force: true })
  else return false
  return true
}

/** false: something is there. */
function place(source: string, folder: Held, name: string): boolean {
  const stats = lstatSync(source)
  if (stats.isSymbolicLink()) {
    try {
      symlinkSync(readlinkSync(source), folder.at(name))
      return true
    } catch (error) {
      if (errno(error) === 'EEXIST') return false
      throw error
    }
  }
  return putIfAbsent(source, folder.at(name), () => {
    const copy = folder.at(`${asideFor('was', name)}-new`)
    copyFileSync(source, copy)
    return copy
  })
}

/** A link is never made over something. Where there are no such links, or not from there, a moment remains. */
function putIfAbsent(source: string, path: string, near: () => string = () => source): boolean {
  try {
    linkSync(source, path)
    return true
  } catch (error) {
    const code = errno(error)
    if (code === 'EEXIST') return false
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'EMLINK') {
      throw error
    }
  }
  const copy = near()
  if (lstat(path)) return false
  renameSync(copy, path)
  return true
}

function lstat(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
