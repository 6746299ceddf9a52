import { readlinkSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Held, Hold } from './held.js'
import { errno, isInside, refuse } from './paths.js'

/** Where a path leads: to something that exists and is held (close it), or to a place where nothing is yet. */
export type Place = { path: string; held: Held | null }

/** As many symbolic links in a row as Linux follows. */
const MAX_LINKS = 40

/** A folder that paths are relative to. `known_as`: where agents believe it to be, so that absolute paths name that. */
export type Ground = { root: string; known_as: string | null }

/** Finds where a path given by an agent really leads, and refuses what is not below the root. */
export function locate(ground: Ground, given: string, hold: Hold): Place {
  const { root } = ground
  if (given.includes('\0')) throw refuse('outside_workspace', 'a path must not contain a NUL byte')
  const path = meant(ground, given)
  let place: Place
  try {
    place = follow(path, hold, MAX_LINKS)
  } catch (error) {
    // What is or is not out there is nobody's business here.
    throw isInside(root, path) ? error : outside(ground.known_as ?? root, given)
  }
  if (isInside(root, place.path)) return place
  place.held?.close()
  throw outside(ground.known_as ?? root, given)
}

/** By its letters alone: the folder that is known may lie around the root, and then what is really below the root wins. */
function meant({ root, known_as }: Ground, given: string): string {
  const path = resolve(root, given)
  if (known_as === null || !isAbsolute(given) || isInside(root, path) || !isInside(known_as, path)) return path
  return join(root, relative(known_as, path))
}

export function outside(workspace: string, given: string) {
  return refuse(
    'outside_workspace',
    `${JSON.stringify(given)} is outside the workspace ${workspace}; use a path relative to the workspace`,
  )
}

function follow(path: string, hold: Hold, links: number): Place {
  try {
    const held = hold(path)
    return { path: held.path, held }
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error
    return followMissing(path, hold, links)
  }
}

/** From the nearest parent that exists. A link that dangles leads to where its target would be. */
function followMissing(path: string, hold: Hold, links: number): Place {
  const parent = nearestParent(path, hold)
  try {
    const [next = '', ...rest] = parent.missing
    const target = targetOf(parent.held.at(next))
    if (target === null) return { path: join(parent.held.path, next, ...rest), held: null }
    if (links === 0) throw refuse('io', `${JSON.stringify(path)} is a symbolic link that leads to itself`)
    return follow(resolve(parent.held.path, target, ...rest), hold, links - 1)
  } finally {
    parent.held.close()
  }
}

/** null for what is no symbolic link, or is not there. */
function targetOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function nearestParent(path: string, hold: Hold): { held: Held; missing: string[] } {
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    missing.unshift(basename(at))
    try {
      const held = hold(dirname(at))
      if (held.stats.isDirectory()) return { held, missing }
      held.close()
      throw refuse('not_a_directory', `${JSON.stringify(path)} leads through something that is not a folder`)
    } catch (error) {
      if (errno(error) !== 'ENOENT') throw error
    }
  }
}
