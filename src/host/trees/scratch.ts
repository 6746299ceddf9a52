import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createIdentity } from '../identity.js'
import type { Private } from './private.js'

/*
 * Folders beside the private repository's own. A `scratch-` belongs to the process that is named in it and goes when
 * that is dead; a `trash-` is nobody's.
 */
const SCRATCH = 'scratch-'
const TRASH = 'trash-'
const OWNER = 'owner'
/** Made by a process that did not come to write its name into it. */
const NAMELESS_MS = 3_600_000
const REMOVAL_MS = 600_000

export async function makeScratch({ home }: Private): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = join(home, `${SCRATCH}${randomUUID()}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, OWNER), createIdentity().owner)
  return { folder, remove: () => removeFolder(folder).catch(() => {}) }
}

/**
 * Out of the way at once, and gone when `emptied` says so: to remove 20,000 files takes longer than to merge what was
 * written in them. A kill in between leaves them to `sweep`.
 */
export async function discard(own: Private, paths: readonly string[]): Promise<void> {
  const trash: string[] = []
  for (const path of paths) {
    const moved = await moveOut(own, path)
    if (moved !== null) trash.push(moved)
  }
  if (trash.length === 0) return
  own.machine.locks.run(trashOf(own), () => removeMany(own, trash)).catch(() => {})
}

/** All that was discarded before is gone. */
export function emptied(own: Private): Promise<void> {
  return own.machine.locks.run(trashOf(own), async () => {})
}

/** One after the other: whoever is at work meanwhile needs the disk as well. */
const trashOf = ({ home }: Private): string => `trash of ${home}`

async function moveOut({ home }: Private, path: string): Promise<string | null> {
  const trash = join(home, `${TRASH}${randomUUID()}`)
  try {
    await rename(path, trash)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    // A folder that may not be written cannot change its parent.
    await chmod(path, 0o700)
    await rename(path, trash)
  }
  return trash
}

/** By a process of its own, because Node would be busy with it for half a second a worktree. */
async function removeMany({ machine, home }: Private, paths: readonly string[]): Promise<void> {
  const program = machine.programs.find('rm', { usual_first: true })
  if (program !== null) {
    const command = [program, '-rf', '--', ...paths]
    const env = { PATH: machine.programs.path() }
    const spec = { command, cwd: home, env, timeout_ms: REMOVAL_MS, max_output_bytes: 1000 }
    if ((await machine.processes.run(spec)).exit_code === 0) return
  }
  for (const path of paths) await removeFolder(path)
}

export async function sweep({ home }: Private): Promise<void> {
  const identity = createIdentity()
  for (const name of await readdir(home)) {
    const path = join(home, name)
    if (name.startsWith(TRASH)) await removeFolder(path)
    if (!name.startsWith(SCRATCH)) continue
    const owner = await readFile(join(path, OWNER), 'utf8').catch(() => null)
    const age =
      Date.now() -
      (await lstat(path)
        .then((stats) => stats.mtimeMs)
        .catch(() => Date.now()))
    const isDead = owner === null ? age > NAMELESS_MS : identity.isAlive(owner) === false
    if (isDead) await removeFolder(path)
  }
}

/** Symbolic links go and what they lead to stays. Programs such as go leave folders behind that may not be written. */
async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(async () => {
    await makeWritable(path)
    await rm(path, { recursive: true, force: true })
  })
}

async function makeWritable(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => null)
  if (!stats?.isDirectory()) return
  await chmod(path, 0o700).catch(() => {})
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory()) await makeWritable(join(path, entry.name))
  }
}
