import { readlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Held, Hold } from './held.js'
import { errno, isInside, refuse } from './paths.js'

/** Where a path leads: to something that exists and is held (close it), or to a place where nothing is yet. */
export type Place = { path: string; held: Held | null }

/** As many symbolic links in a row as Linux follows. */
const MAX_LINKS = 40

/** Finds where a path given by an agent really leads, and refuses what is not below the root. */
export async function locate(root: string, given: string, hold: Hold): Promise<Place> {
  if (given.includes('\0')) throw refuse('outside_workspace', 'a path must not contain a NUL byte')
  const path = resolve(root, given)
  let place: Place
  try {
    place = await follow(path, hold, MAX_LINKS)
  } catch (error) {
    // What is or is not out there is nobody's business here.
    throw isInside(root, path) ? error : outside(root, given)
  }
  if (isInside(root, place.path)) return place
  await place.held?.close()
  throw outside(root, given)
}

export function outside(root: string, given: string) {
  return refuse(
    'outside_workspace',
    `${JSON.stringify(given)} is outside the workspace ${root}; use a path relative to the workspace`,
  )
}

async function follow(path: string, hold: Hold, links: number): Promise<Place> {
  try {
    const held = await hold(path)
    return { path: held.path, held }
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error
    return followMissing(path, hold, links)
  }
}

/** From the nearest parent that exists. A link that dangles leads to where its target would be. */
async function followMissing(path: string, hold: Hold, links: number): Promise<Place> {
  const parent = await nearestParent(path, hold)
  try {
    const [next = '', ...rest] = parent.missing
    const target = await readlink(parent.held.at(next)).catch(() => null)
    if (target === null) return { path: join(parent.held.path, next, ...rest), held: null }
    if (links === 0) throw refuse('io', `${JSON.stringify(path)} is a symbolic link that leads to itself`)
    return await follow(resolve(parent.held.path, target, ...rest), hold, links - 1)
  } finally {
    await parent.held.close()
  }
}

async function nearestParent(path: string, hold: Hold): Promise<{ held: Held; missing: string[] }> {
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    missing.unshift(basename(at))
    try {
      const held = await hold(dirname(at))
      if (held.stats.isDirectory()) return { held, missing }
      await held.close()
      throw refuse('not_a_directory', `${JSON.stringify(path)} leads through something that is not a folder`)
    } catch (error) {
      if (errno(error) !== 'ENOENT') throw error
    }
  }
}
