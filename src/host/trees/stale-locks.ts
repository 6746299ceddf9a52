import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside } from '../paths.js'
import type { Private } from './private.js'

/** git holds the locks of refs and configuration for milliseconds. After that time nobody does. */
const STALE_MS = 120_000

/** Files of git's own in the private repository that it locks for more than one worktree. */
const SHARED = ['packed-refs.lock', 'HEAD.lock', 'config.lock']

/**
 * Removes what a git that was killed left locked: what is shared in the private repository, and refs that are Retinue's
 * by their names, there and in the person's repository. A lock goes when it is old, and at once where no git that lives
 * on this machine could be the one that has it. `run_id`: of refs, those of this run alone; there may be thousands of others.
 */
export async function removeStaleLocks(own: Private, run_id?: string): Promise<void> {
  const { home, person, top, worktrees } = own
  const shared = SHARED.map((name) => join(home, name))
  const theirs = person ? [person.common_dir, person.git_dir, top] : []
  const found = [
    ...[...shared, ...(await refLocks(home, ['retinue'], run_id))].map((lock) => ({ lock, places: [home, worktrees] })),
    ...(person ? await refLocks(person.common_dir, ['retinue', 'heads/retinue'], run_id) : []).map((lock) => ({
      lock,
      places: [...theirs, home],
    })),
  ]
  for (const { lock, places } of found) {
    const before = await lstat(lock).catch(() => null)
    if (before === null) continue
    const isStale = before.mtimeMs < Date.now() - STALE_MS || !mayBeInUse(places)
    // Not one that somebody took since.
    const now = isStale ? await lstat(lock).catch(() => null) : null
    if (now && now.ino === before.ino && now.mtimeMs === before.mtimeMs) await rm(lock, { force: true })
  }
}

/** `<run>/<name>.lock` under these folders of refs. */
async function refLocks(git_dir: string, folders: readonly string[], run_id: string | undefined): Promise<string[]> {
  const locks: string[] = []
  for (const folder of folders.map((name) => join(git_dir, 'refs', name))) {
    for (const run of run_id === undefined ? await readdir(folder).catch(() => []) : [run_id]) {
      const names = await readdir(join(folder, run)).catch(() => [])
      locks.push(...names.filter((name) => name.endsWith('.lock')).map((name) => join(folder, run, name)))
    }
  }
  return locks
}

/**
 * Whether a git is alive that works in one of these places: it is named one of them, as Retinue does it, or is in it.
 * Where processes cannot be looked at, one may be.
 */
function mayBeInUse(places: readonly string[]): boolean {
  if (process.platform !== 'linux') return true
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .some((pid) => isGitIn(`/proc/${pid}`, places))
  } catch {
    return true
  }
}

function isGitIn(entry: string, places: readonly string[]): boolean {
  try {
    if (!readFileSync(join(entry, 'comm'), 'latin1').startsWith('git')) return false
    // A zombie has neither, and holds nothing.
    const command = readFileSync(join(entry, 'cmdline'), 'utf8')
    if (command === '') return false
    const folder = readlinkSync(join(entry, 'cwd'))
    return places.some((place) => command.includes(place) || isInside(place, folder))
  } catch (error) {
    // It has ended meanwhile, or it is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}
