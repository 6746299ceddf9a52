import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { matchesAny } from '../../domain/index.js'
import type { Fence } from '../host.js'
import { isInside } from '../paths.js'
import { linkedAs } from './concealment.js'
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

/** In what a link leads to, only what is hidden matters: none of it is writable. */
function lookForHidden(fence: Fence, name: string): Look<Tag> {
  const mayBeHidden = nameFilter(fence.hidden)
  const tag: Tag = { protected: false, hidden: true, readable: false, writable: false, read_only: false }
  return {
    tag: (folder, entry) => {
      const path = [name, ...(folder === '.' ? [] : [folder]), entry].join('/')
      return mayBeHidden(entry) && matchesAny(fence.hidden, path) ? tag : null
    },
    enters: (entry) => !PROTECTED.includes(entry),
  }
}

/** So many folders are kept in memory, and so many trees: worktrees come and go, and some are large. */
const MAX_FOLDERS = 200_000
const MAX_TREES = 200

/** Trees are kept for the fences that were used last, because most commands of an agent have the same one. */
export class Trees {
  readonly #trees = new Map<string, Tree<Tag>>()

  constructor(private readonly most = { folders: MAX_FOLDERS, trees: MAX_TREES }) {}

  get size(): number {
    return this.#trees.size
  }

  for(fence: Fence): Tree<Tag> {
    const key = [fence.root, fence.hidden, fence.read_paths, fence.write_paths, fence.read_only]
    return this.#keep(JSON.stringify(key), () => new Tree(fence.root, lookFor(fence)))
  }

  /** The folders that links in the worktree lead to, where patterns may hide something in them. */
  linked(fence: Fence, seen: readonly string[]): Tree<Tag>[] {
    if (fence.hidden.every((pattern) => literalPath(pattern) !== null)) return []
    return seen.flatMap((path) => {
      const name = linkedAs(fence, path)
      if (name === null || !statsOf(path)?.isDirectory()) return []
      const key = JSON.stringify([path, name, fence.hidden])
      return [this.#keep(key, () => new Tree(path, lookForHidden(fence, name)))]
    })
  }

  #keep(key: string, make: () => Tree<Tag>): Tree<Tag> {
    const known = this.#trees.get(key)
    const tree = known ?? make()
    this.#trees.delete(key)
    if (!known) this.#drop()
    this.#trees.set(key, tree)
    return tree
  }

  /** Those whose folder is gone, and then the ones that were not used for longest. */
  #drop(): void {
    for (const [key, { root }] of this.#trees) if (!statsOf(root)) this.#trees.delete(key)
    let folders = [...this.#trees.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [key, { size }] of this.#trees) {
      if (folders <= this.most.folders && this.#trees.size < this.most.trees) return
      this.#trees.delete(key)
      folders -= size
    }
  }

  forget(): void {
    this.#trees.clear()
  }
}

type Done = Walked<Tag> & { ok: true }

/** What a fence has to do with what is in the workspace now, and in what links lead to. Absolute paths. */
export function survey(fence: Fence, walked: Done, linked: readonly { root: string; walked: Done }[] = []): Survey {
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
    unsettled: walked.unsettled || found.length < walked.found.length || linked.some((one) => one.walked.unsettled),
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
      ...found.filter((one) => one.tag.hidden).flatMap((one) => coverOf(at(one.path), one, fence.seen)),
      ...linked.flatMap((tree) =>
        tree.walked.found.flatMap((one) => coverOf(join(tree.root, one.path), one, fence.seen)),
      ),
      ...fence.hidden.flatMap((pattern) => {
        const path = literalPath(pattern)
        return path === null || path === '.' ? [] : coverOf(at(path), undefined, fence.seen)
      }),
      // A name that is held while commands run has nothing in it to be hidden, and is there in one survey only.
    ].filter(({ path }) => !isHeldName(root, path) || !canHold(path)),
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

function isHeldName(root: string, path: string): boolean {
  return isAtRoot(root, path) && [...PROTECTED, ...PROTECTED_AT_ROOT].includes(path.slice(root.length + 1))
}

function isAtRoot(root: string, path: string): boolean {
  return path !== root && !path.slice(root.length + 1).includes('/')
}

/**
 * A link is no secret, but what it leads to is. Only a plain file can be hidden for its sake: not a folder, not a program.
 * What is seen only because a link in a worktree leads to it is another matter.
 */
function coverOf(path: string, found?: Found<Tag>, seen: readonly string[] = []): Covered[] {
  try {
    const kind = found?.kind
    const real = kind === undefined || kind === 'link' ? realpathSync(path) : path
    const stats = statSync(real)
    const isPlain = stats.isFile() && !(stats.mode & 0o111)
    if (real !== path && !isPlain && !seen.some((one) => isInside(one, real))) return []
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
