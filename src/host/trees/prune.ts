import { lstat, readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Private } from './private.js'

/**
 * Whoever writes objects refers to them by a branch within hours at most. Until then nothing tells them from what
 * nobody needs but that they are new.
 */
const EXPIRY_DAYS = 14
/** With more files than that in it, a folder of objects is slow to look into; with more packs, all that git does is. */
const MANY = { loose: 5000, packs: 50 }

/** Long enough for whoever is making something to be done with it. */
export const ABANDONED_MS = 3_600_000

/** Removes old objects that nothing refers to, and packs the others where they are many. What fails stays as it is. */
export async function pruneObjects(own: Private, many = MANY): Promise<void> {
  const before = Date.now() - EXPIRY_DAYS * 86_400_000
  const expiry = Math.floor(before / 1000)
  await removeUnfinishedPacks(own)
  const [loose, packs] = [await looseObjects(own, before), await packsIn(own)]
  // git looks at all that any branch has, down to the person's first commit, to know what is not needed.
  if (loose.has_old) await own.git().run(['prune', `--expire=${expiry}`])
  if (packs.length > many.packs || packs.some(({ written_at }) => written_at < before)) {
    await packAnew(own, expiry)
  } else if (loose.count > many.loose) await own.git().run(['repack', '-d', '-l', '-q', '-n'])
}

/**
 * What somebody who was killed while unpacking left behind: half of a pack, or the mark that one is to be kept, by which
 * git would never let go of it. Those of somebody who is at it are new.
 */
async function removeUnfinishedPacks({ home }: Private): Promise<void> {
  const folder = join(home, 'objects', 'pack')
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^tmp_|\.keep$/.test(name)) continue
    const stats = await lstat(join(folder, name)).catch(() => null)
    if (stats && stats.mtimeMs < Date.now() - ABANDONED_MS)
      await rm(join(folder, name), { force: true }).catch(() => {})
  }
}

/** All that is needed into one pack; what is not, and is not old either, into another that says how old it is. */
async function packAnew(own: Private, expiry: number): Promise<void> {
  const packed = await own.git().run(['repack', '--cruft', '-d', '-l', '-q', '-n', `--cruft-expiration=${expiry}`])
  if (!packed.ok) return
  // One that has the same in it as before may have stayed, and would be looked at again each time.
  const now = new Date()
  for (const { path } of await packsIn(own)) await utimes(path, now, now).catch(() => {})
}

async function packsIn({ home }: Private): Promise<{ path: string; written_at: number }[]> {
  const folder = join(home, 'objects', 'pack')
  const paths = (await readdir(folder).catch(() => []))
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(folder, name))
  const stats = await Promise.all(paths.map((path) => lstat(path).catch(() => null)))
  return paths.flatMap((path, i) => (stats[i] ? [{ path, written_at: stats[i].mtimeMs }] : []))
}

async function looseObjects({ home }: Private, before: number): Promise<{ count: number; has_old: boolean }> {
  const loose = { count: 0, has_old: false }
  const objects = join(home, 'objects')
  for (const folder of (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    const names = await readdir(join(objects, folder)).catch(() => [])
    loose.count += names.length
    for (const name of loose.has_old ? [] : names) {
      const stats = await lstat(join(objects, folder, name)).catch(() => null)
      if (stats && stats.mtimeMs < before) loose.has_old = true
    }
  }
  return loose
}
