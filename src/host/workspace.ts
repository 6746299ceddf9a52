import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { decode, digestHeld, readHeld } from './content.js'
import type { Held, Hold } from './held.js'
import type { Workspace } from './host.js'
import { list } from './list.js'
import { type Ground, locate, type Place } from './locate.js'
import type { Locks } from './locks.js'
import { faultOf, refuse, relativeTo } from './paths.js'
import { type At, createSearch } from './search.js'
import { writeAtomically } from './write.js'

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024

type Options = { known_as?: string }

export async function openWorkspace(folder: string, hold: Hold, locks: Locks, options?: Options): Promise<Workspace> {
  // In one go, as in held.ts: whenever a run begins, a dozen folders are looked for that are mostly not there.
  const root = realpathSync.native(folder)
  if (!statSync(root).isDirectory()) throw new Error(`${folder} is not a folder and cannot be a workspace`)

  const known_as = options?.known_as === undefined ? null : resolve(options.known_as)
  return workspaceAt({ root, known_as }, hold, locks, false)
}

function workspaceAt(ground: Ground, hold: Hold, locks: Locks, exact: boolean): Workspace {
  const { root } = ground
  /** Finds the place, works there, lets go of it, and turns what went wrong into a fault. */
  const at: At = async (given, work) => {
    let place: Place | null = null
    try {
      place = locate(ground, given, hold)
      if (exact && relativeTo(root, place.path) !== given)
        throw refuse('changed', `${JSON.stringify(given)} leads elsewhere now`)
      return { ok: true, ...(await work(place)), path: relativeTo(root, place.path) }
    } catch (error) {
      return faultOf(error, given)
    } finally {
      place?.held?.close()
    }
  }

  return {
    root,
    exact: () => workspaceAt(ground, hold, locks, true),
    resolve: (path) => at(path, async () => ({})),
    readText: (path, options) =>
      at(path, async (place) => {
        const bytes = await readHeld(existing(place, path), path, options?.max_bytes ?? DEFAULT_MAX_BYTES)
        return { text: decode(bytes, path), bytes: bytes.length }
      }),
    readBytes: (path, options) =>
      at(path, async (place) => ({
        bytes: await readHeld(existing(place, path), path, options?.max_bytes ?? DEFAULT_MAX_BYTES),
      })),
    digest: (path) => at(path, async ({ held }) => ({ digest: held && (await digestHeld(held, path)) })),
    writeText: (path, text, options) =>
      at(path, async (place) => {
        if (path.endsWith('/')) throw refuse('not_a_file', `${JSON.stringify(path)} names a folder, not a file`)
        // Without this, folders would be made for a file that is then not written.
        if (!place.held && typeof options?.expect === 'string') {
          throw refuse('changed', `${JSON.stringify(path)} does not exist any more; read it again first`)
        }
        const write = { root, hold, path: place.path, given: path, data: Buffer.from(text), expect: options?.expect }
        return locks.run(place.path, () => writeAtomically(write))
      }),
    list: (path) => at(path, async (place) => ({ entries: await list(existing(place, path), path, root) })),
    ...createSearch(root, at),
  }
}

function existing(place: Place, given: string): Held {
  if (place.held) return place.held
  throw refuse('not_found', `${JSON.stringify(given)} does not exist`)
}
