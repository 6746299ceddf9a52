import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Files that git reads wherever they are. */
const READ_BY_GIT = new Set(['.gitignore', '.gitattributes'])

/** Where git reads nothing of the kind, and where there may be very much. */
const PASSED_BY = new Set(['.git', '.retinue', 'node_modules'])

/** Pipes, sockets and devices under names that git opens: it would wait for them for ever. */
export async function pipesIn(folder: string): Promise<string[]> {
  const found: string[] = []
  const folders = [folder]
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      const path = join(at, entry.name)
      if (entry.isDirectory()) {
        if (!PASSED_BY.has(entry.name)) folders.push(path)
      } else if (READ_BY_GIT.has(entry.name) && !entry.isFile() && !entry.isSymbolicLink()) found.push(path)
    }
  }
  return found
}

/** In the tree of an agent they go: there is nothing in them. */
export async function removePipes(folder: string): Promise<void> {
  for (const path of await pipesIn(folder)) await rm(path, { force: true })
}
