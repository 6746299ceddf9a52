import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { digestHeld } from '../content.js'
import type { Held, Hold } from '../held.js'
import { errno } from '../paths.js'

/** A folder of the person's that is looked at and written to without ever following a symbolic link in it. */
export type HeldRoot = { root: string; hold: Hold }

/** What is at a path, wholly: two that are the same have nothing of a person's between them. */
export type OnDisk =
  | { kind: 'absent' }
  | { kind: 'file'; digest: string; mode: number; uid: number; gid: number }
  | { kind: 'link'; target: string }
  | { kind: 'folder' }
  /** A pipe, a socket, a device. */
  | { kind: 'other' }
  /** Something above it is no folder. */
  | { kind: 'behind'; at: string }

export const ABSENT: OnDisk = { kind: 'absent' }

export function isSame(one: OnDisk, other: OnDisk): boolean {
  if (one.kind === 'file' && other.kind === 'file') return one.digest === other.digest && one.mode === other.mode
  if (one.kind === 'link' && other.kind === 'link') return one.target === other.target
  if (one.kind === 'behind' && other.kind === 'behind') return one.at === other.at
  return one.kind === other.kind
}

export async function lookAt({ root, hold }: HeldRoot, path: string): Promise<OnDisk> {
  const parts = path.split('/')
  for (let count = 1; count < parts.length; count++) {
    const above = parts.slice(0, count).join('/')
    const stats = lstatSync(join(root, above), { throwIfNoEntry: false })
    if (!stats) return ABSENT
    if (!stats.isDirectory()) return { kind: 'behind', at: above }
  }
  let folder: Held
  try {
    folder = hold(dirname(join(root, path)))
  } catch (error) {
    if (errno(error) === 'ENOENT') return ABSENT
    throw error
  }
  try {
    // A folder above it was exchanged for a link since.
    if (folder.path !== dirname(join(root, path))) return { kind: 'behind', at: dirname(path) }
    return await lookIn(folder, basename(path), hold)
  } finally {
    folder.close()
  }
}

export async function lookIn(folder: Held, name: string, hold: Hold): Promise<OnDisk> {
  const stats = lstatSync(folder.at(name), { throwIfNoEntry: false })
  if (!stats) return ABSENT
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(folder.at(name)) }
  if (stats.isDirectory()) return { kind: 'folder' }
  if (!stats.isFile()) return { kind: 'other' }
  let held: Held
  try {
    held = hold(folder.at(name), { follow: false })
  } catch (error) {
    if (errno(error) === 'ENOENT') return ABSENT
    throw error
  }
  try {
    if (!held.stats.isFile()) return { kind: 'other' }
    return fileOf(held.stats, await digestHeld(held, name))
  } finally {
    held.close()
  }
}

function fileOf(stats: Stats, digest: string): OnDisk {
  return { kind: 'file', digest, mode: stats.mode & 0o777, uid: stats.uid, gid: stats.gid }
}

/** Holds a folder below the root, '' for the root itself, made where it is missing. null: something else is there. */
export function holdFolder(ground: HeldRoot, path: string, make: boolean): Held | null {
  let held = ground.hold(ground.root)
  for (const part of path === '' || path === '.' ? [] : path.split('/')) {
    const parent = held
    try {
      if (make) makeFolder(parent.at(part))
      held = ground.hold(parent.at(part), { follow: false })
    } catch (error) {
      if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return null
      throw error
    } finally {
      parent.close()
    }
    if (held.stats.isDirectory()) continue
    held.close()
    return null
  }
  return held
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (errno(error) !== 'EEXIST') throw error
  }
}
