import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { matchesAny } from '../../domain/index.js'
import type { Fence } from '../host.js'
import { isInside } from '../paths.js'
import { canHold } from './held-names.js'
import { commonPaths, everyLayerMatches, literalPath, nameFilter } from './layers.js'
import { type Covered, outermost } from './machine.js'
import { type Found, type Look, statsOf, Tree, type Walked } from './tree.js'

/** What the walk through a workspace looks for. */
export type Tag = { protected: boolean; hidden: boolean; readable: boolean; writable: boolean; read_only: boolean }

/** What belongs to git or Retinue at any depth, and at the root only. */
const PROTECTED = ['.git', '.retinue']
const PROTECTED_AT_ROOT = ['retinue.yaml', 'retinue.yml']

export type Survey = {
  /** Others are moving files about, so that something may have been missed. */
  unsettled: boolean
  readable: string[]
  writable: string[]
  protected: string[]
  /** What else is never writable. */
  read_only: string[]
  /** Names of both that are not taken. */
  free: string[]
  hidden: Covered[]
  /** Folders that are seen although they are in one that is hidden. */
  shown: string[]
}

function lookFor(fence: Fence): Look<Tag> {
  const readLayers = fence.read_paths
  const writeLayers = [...fence.write_paths, ...fence.read_paths]
  const readGlobs = commonPaths(readLayers) === null
  const writeGlobs = commonPaths(writeLayers) === null
  const mayBeHidden = nameFilter(fence.hidden)
  const readOnly = readOnlyGlobs(fence)
  const mayBeReadOnly = nameFilter(readOnly)
  let above = { folder: '', readable: false, writable: false }
  return {
    tag(folder, name, kind) {
      const path = folder === '.' ? name : `${folder}/${name}`
      if ((readGlobs || writeGlobs) && above.folder !== folder) {
        const matches = (layers: Fence['read_paths']) => folder !== '.' && everyLayerMatches(layers, folder)
        above = { folder, readable: matches(readLayers), writable: matches(writeLayers) }
      }
      const tag: Tag = {
        protected: PROTECTED.includes(name) || (folder === '.' && PROTECTED_AT_ROOT.includes(name)),
        hidden: mayBeHidden(name) && matchesAny(fence.hidden, path),
        readable: readGlobs && kind !== 'link' && !above.readable && everyLayerMatches(readLayers, path),
        writable: writeGlobs && kind !== 'link' && !above.writable && everyLayerMatches(writeLayers, path),
        read_only: mayBeReadOnly(name) && matchesAny(readOnly, path),
      }
      return Object.values(tag).includes(true) ? tag : null
    },
    enters: (name) => !PROTECTED.includes(name),
  }
}

/** Trees are kept for the fences that were used last, because most commands of an agent have the same one. */
export class Trees {
  readonly #trees = new Map<string, Tree<Tag>>()

  for(fence: Fence): Tree<Tag> {
    const key = JSON.stringify([fence.root, fence.hidden, fence.read_paths, fence.write_paths, fence.read_only])
    const tree = this.#trees.get(key) ?? new Tree(fence.root, lookFor(fence))
    this.#trees.delete(key)
    this.#trees.set(key, tree)
    for (const old of this.#trees.keys()) if (this.#trees.size > 20) this.#trees.delete(old)
    return tree
  }

  forget(): void {
    this.#trees.clear()
  }
}

/** What a fence has to do with what is in the workspace now. Absolute paths. */
export function survey(fence: Fence, walked: Walked<Tag> & { ok: true }): Survey {
  const { root } = fence
  const at = (path: string) => (path === '.' ? root : join(root, path))
  const found = walked.found.filter(({ path }) => statsOf(at(path))).sort((a, b) => (a.path < b.path ? -1 : 1))
  const paths = (layers: Fence['read_paths'], tag: 'readable' | 'writable') => {
    const plain = commonPaths(layers)
    if (plain !== null) return plain.filter((path) => isReal(at(path))).map(at)
    if (layers.every((layer) => layer.some(isEverything))) return [root]
    return found.filter((one) => one.tag[tag]).map(({ path }) => at(path))
  }
  const shielded = [
    ...found
      .filter((one) => one.tag.protected)
      .map(({ path, kind }) => (kind === 'link' ? at(folderOf(path)) : at(path))),
    ...walked.unreadable.map(at),
  ].filter((path) => !canHold(path) || !isAtRoot(root, path))
  const readable = paths(fence.read_paths, 'readable')
  const readOnly = readOnlyGlobs(fence)
  const nothing = shielded.includes(root) || readOnly.some(isEverything)
  const writable = nothing ? [] : paths([...fence.write_paths, ...fence.read_paths], 'writable')
  const kept = found
    .filter((one) => one.tag.read_only)
    .flatMap((one) => coverOf(at(one.path), one).map(({ path }) => path))
  const isKept = (path: string) => [...shielded, ...kept].some((one) => one !== path && isInside(one, path))
  // Only of a plain path can be said where something new would be.
  const free = readOnly
    .flatMap((pattern) => literalPath(pattern) ?? [])
    .map(at)
    .filter((path) => writable.some((one) => one !== path && isInside(one, path)) && !isKept(path) && isFree(path))
  return {
    unsettled: walked.unsettled || found.length < walked.found.length,
    readable,
    writable,
    protected: shielded,
    read_only: kept.filter((path) => !free.includes(path)),
    free: [
      ...new Set([
        ...(writable.includes(root) ? [...PROTECTED, ...PROTECTED_AT_ROOT].map(at).filter(canHold) : []),
        ...outermost(free),
      ]),
    ],
    hidden: [
      ...found.filter((one) => one.tag.hidden).flatMap((one) => coverOf(at(one.path), one)),
      ...fence.hidden.flatMap((pattern) => {
        const path = literalPath(pattern)
        return path === null || path === '.' ? [] : coverOf(at(path))
      }),
    ],
    shown: (fence.shown ?? []).map(at).filter(isReal),
  }
}

function isFree(path: string): boolean {
  const folder = dirname(path)
  return isReal(folder) && statSync(folder).isDirectory() && canHold(path)
}

/** Everything in a folder is the folder: so nothing new can be put there either. */
function readOnlyGlobs(fence: Fence): string[] {
  return (fence.read_only ?? []).map((pattern) => pattern.replace(/^\.\//, '').replace(/(?<=.)(?:\/\*{0,2})+$/, ''))
}

function isAtRoot(root: string, path: string): boolean {
  return path !== root && !path.slice(root.length + 1).includes('/')
}

/** A link is no secret, but what it leads to is. Only a plain file can be hidden for its sake: not a folder, not a program. */
function coverOf(path: string, found?: Found<Tag>): Covered[] {
  try {
    const kind = found?.kind
    const real = kind === undefined || kind === 'link' ? realpathSync(path) : path
    const stats = statSync(real)
    if (real !== path && (!stats.isFile() || stats.mode & 0o111)) return []
    return [{ path: real, kind: stats.isDirectory() ? 'folder' : 'file' }]
  } catch {
    return []
  }
}

function isEverything(pattern: string): boolean {
  return literalPath(pattern) === '.' || pattern === '*' || pattern === '**/*'
}

function isReal(path: string): boolean {
  try {
    return realpathSync(path) === path
  } catch {
    return false
  }
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.'
}
