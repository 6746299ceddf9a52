import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Private } from './private.js'

/**
 * Whoever writes objects refers to them by a branch within hours at most. Until then nothing tells them from what
 * nobody needs but that they are new.
 */
const EXPIRY_DAYS = 14
/** With more files than that in it, a folder of objects is slow to look into. */
const MANY = 5000

/** Removes old objects that nothing refers to, and packs the others where they are many. What fails stays as it is. */
export async function pruneObjects(own: Private, many = MANY): Promise<void> {
  const before = Date.now() - EXPIRY_DAYS * 86_400_000
  const loose = await looseObjects(own, before)
  // git looks at all that any branch has, down to the person's first commit, to know what is not needed.
  if (loose.has_old) await own.git().run(['prune', `--expire=${Math.floor(before / 1000)}`])
  if (loose.count > many) await own.git().run(['repack', '-d', '-l', '-q', '-n'])
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
