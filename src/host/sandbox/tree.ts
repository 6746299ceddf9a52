import { accessSync, constants, type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Entries of one workspace that are looked at, at most. Past that a fence that hides files cannot be put up. */
const MAX_ENTRIES = 500_000
/** How long the walk goes on before others get their turn. */
const SLICE_MS = 8
/** A folder that was changed so shortly before it was read may have been changed again without a new time. */
const SETTLED_MS = 1000

export type Kind = 'file' | 'folder' | 'link'
export type Found<T> = { path: string; kind: Kind; tag: T }
/** Paths are relative to the root. `unreadable`: a folder that nobody can look into. */
export type Look<T> = {
  /** Asked for each entry of a folder: what it is, or null when it is of no interest. */
  tag(folder: string, name: string, kind: Kind): T | null
  /** Whether to look inside it. */
  enters(name: string): boolean
}
export type Walked<T> =
  | {
      ok: true
      found: Found<T>[]
      unreadable: string[]
      /** Something was moved or removed while it went on, so that something may have been missed. */
      unsettled: boolean
    }
  | { ok: false; message: string; stopped?: true }

type Folder<T> = {
  inode: number
  changed: number
  read_at: number
  folders: string[]
  found: Found<T>[]
  entries: number
  readable: boolean
}

/**
 * Finds entries below a root, again and again. What a folder holds is kept for as long as its change time stays the
 * same, which nobody can set back; so the second walk asks once for each folder, and reads those that have changed.
 */
export class Tree<T> {
  #folders = new Map<string, Folder<T>>()
  #unsettled = false

  constructor(
    readonly root: string,
    private readonly look: Look<T>,
    private readonly limit = MAX_ENTRIES,
  ) {}

  /** How many folders are kept: none before the first walk. */
  get size(): number {
    return this.#folders.size
  }

  get isKnown(): boolean {
    return this.size > 0
  }

  /** What the last walk found. */
  known(): Walked<T> & { ok: true } {
    const folders = [...this.#folders]
    return {
      ok: true,
      found: folders.flatMap(([, folder]) => folder.found),
      unreadable: folders.filter(([, folder]) => !folder.readable).map(([path]) => path),
      unsettled: this.#unsettled,
    }
  }

  /** When the signal aborts, what was known before stays; when it fails, nothing is known any more. */
  async walk(signal?: AbortSignal): Promise<Walked<T>> {
    const walked = await this.#walk(signal)
    if (!walked.ok && !walked.stopped) this.#folders = new Map()
    return walked
  }

  async #walk(signal?: AbortSignal): Promise<Walked<T>> {
    const folders = new Map<string, Folder<T>>()
    const open = ['.']
    let entries = 0
    let unsettled = false
    let slice = performance.now()
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (signal?.aborted)
        return { ok: false, message: 'there was no time to look through the workspace', stopped: true }
      const folder = this.#visit(path)
      if (folder === 'gone') {
        unsettled = true
        continue
      }
      if (folder === 'unnamed') {
        return {
          ok: false,
          message: `${path === '.' ? 'the workspace' : path} has a folder whose name is not UTF-8, so that it cannot be told what is in it; rename or remove it`,
        }
      }
      folders.set(path, folder)
      entries += folder.entries
      if (entries > this.limit) {
        return {
          ok: false,
          message: `the workspace has more than ${this.limit.toLocaleString('en')} files, too many to find those that must be protected or hidden; use a smaller workspace`,
        }
      }
      for (const name of folder.folders) open.push(path === '.' ? name : `${path}/${name}`)
      if (performance.now() - slice > SLICE_MS) {
        await nextTurn()
        slice = performance.now()
      }
    }
    this.#folders = folders
    this.#unsettled = unsettled
    return this.known()
  }

  #visit(path: string): Folder<T> | 'gone' | 'unnamed' {
    const full = path === '.' ? this.root : `${this.root}/${path}`
    const stats = statsOf(full)
    if (!stats?.isDirectory()) return 'gone'
    const known = this.#folders.get(path)
    if (
      known &&
      known.inode === stats.ino &&
      known.changed === stats.ctimeMs &&
      known.changed < known.read_at - SETTLED_MS
    ) {
      return known
    }
    const read_at = Date.now()
    const folder: Folder<T> = {
      inode: stats.ino,
      changed: stats.ctimeMs,
      read_at,
      folders: [],
      found: [],
      entries: 0,
      readable: true,
    }
    let entries: Dirent[]
    try {
      accessSync(full, constants.R_OK | constants.X_OK)
      entries = readdirSync(full, { withFileTypes: true })
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return 'gone'
      return { ...folder, readable: false }
    }
    folder.entries = entries.length
    for (const entry of entries) {
      const kind = entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'file'
      if (kind === 'folder' && entry.name.includes('\uFFFD')) return 'unnamed'
      const tag = this.look.tag(path, entry.name, kind)
      if (tag !== null) folder.found.push({ path: path === '.' ? entry.name : `${path}/${entry.name}`, kind, tag })
      if (kind === 'folder' && this.look.enters(entry.name)) folder.folders.push(entry.name)
    }
    return folder
  }
}

/** null for what is not there or cannot be looked at. */
export function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}
