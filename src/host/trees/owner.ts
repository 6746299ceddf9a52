import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TreeResult } from '../host.js'
import { fault } from '../paths.js'
import { writePrivate } from '../private-file.js'
import type { Private } from './private.js'

/** Which process works in the trees of a run: a store that does not know the run cannot say it. */
const folderOf = ({ home }: Private): string => join(home, 'owners')

export async function own(repository: Private, run_id: string, owner: string | null): Promise<TreeResult<object>> {
  const path = join(folderOf(repository), run_id)
  if (owner === null) {
    try {
      await rm(path, { force: true })
      return { ok: true }
    } catch (error) {
      return fault('failed', `${path} cannot be removed: ${(error as Error).message}`)
    }
  }
  const written = await writePrivate(path, owner)
  return written.ok ? written : fault('failed', written.message)
}

/** null: nobody has said so. */
export async function ownerOf(repository: Private, run_id: string): Promise<string | null> {
  const text = await readFile(join(folderOf(repository), run_id), 'utf8').catch(() => '')
  return text.trim() || null
}

/** Of runs that have no trees, among them files that were never finished. */
export async function ownersBesides(repository: Private, runs: ReadonlySet<string>): Promise<string[]> {
  const names = await readdir(folderOf(repository)).catch(() => [])
  return names.filter((name) => !runs.has(name)).map((name) => join(folderOf(repository), name))
}
