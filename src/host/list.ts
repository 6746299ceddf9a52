import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { isProtected } from '../domain/index.js'
import type { Held } from './held.js'
import type { Entry } from './host.js'
import { refuse, relativeTo, TEMPORARY } from './paths.js'

/** So many files are looked at side by side. */
const BATCH = 64

/** What is in a folder, by name, without what belongs to git and Retinue. */
export async function list(folder: Held, given: string, root: string): Promise<Entry[]> {
  if (!folder.stats.isDirectory()) throw refuse('not_a_directory', `${JSON.stringify(given)} is not a folder`)
  if (isProtected(relativeTo(root, folder.path))) {
    throw refuse('outside_workspace', `${JSON.stringify(given)} belongs to git or Retinue and is not listed`)
  }
  const names = (await readdir(folder.at('.')))
    .filter((name) => !isProtected(name) && !name.startsWith(TEMPORARY))
    .sort()
  const entries: Entry[] = []
  for (let i = 0; i < names.length; i += BATCH) {
    const batch = names.slice(i, i + BATCH).map((name) => entryOf(folder, name))
    for (const entry of await Promise.all(batch)) if (entry) entries.push(entry)
  }
  return entries
}

async function entryOf(folder: Held, name: string): Promise<Entry | null> {
  // A file may go between being listed and being looked at.
  const stats = await lstat(folder.at(name)).catch(() => null)
  return stats && { name, kind: kindOf(stats), bytes: stats.isFile() ? stats.size : 0 }
}

function kindOf(stats: Stats): Entry['kind'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}
