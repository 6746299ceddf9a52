import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { digestHeld, digestOf, requireRegular } from './content.js'
import type { Held, Hold } from './held.js'
import { outside } from './locate.js'
import { errno, isInside, refuse, TEMPORARY } from './paths.js'

export type Write = {
  root: string
  hold: Hold
  /** Where to, real, with no symbolic link in it. */
  path: string
  /** The path as it was given, for messages. */
  given: string
  data: Buffer
  /** undefined: whatever is there. null: nothing is there. */
  expect: string | null | undefined
}

/**
 * Replaces or creates a file so that a reader sees the old or the new content and never a mixture. The new content is
 * on disk before it gets its name. All names are taken relative to the held folder, so that the file ends up in the
 * folder that was checked.
 */
export async function writeAtomically(write: Write): Promise<{ digest: string; created: boolean }> {
  const folder = await makeFolder(write, dirname(write.path))
  try {
    const name = basename(write.path)
    const before = existing(write, folder, name)
    // Renaming asks for rights on the folder only; a file that is read-only is meant to stay as it is.
    if (before) await access(folder.at(name), constants.W_OK)
    const temporary = `${TEMPORARY}${randomBytes(8).toString('hex')}`
    try {
      await writeDurably(folder.at(temporary), write.data, before)
      await requireExpected(write, folder, name)
      if (!folder.isStillThere()) throw outside(write.root, write.given)
      await rename(folder.at(temporary), folder.at(name))
    } catch (error) {
      await rm(folder.at(temporary), { force: true })
      throw error
    }
    return { digest: digestOf(write.data), created: before === null }
  } finally {
    folder.close()
  }
}

/** Holds a folder, made with those above it where they are missing, each inside the one that is held. */
async function makeFolder(write: Write, path: string): Promise<Held> {
  if (!isInside(write.root, path)) throw refuse('not_a_file', `${JSON.stringify(write.given)} is the workspace itself`)
  try {
    return requireFolder(write, write.hold(path), path)
  } catch (error) {
    if (errno(error) !== 'ENOENT') throw error
  }
  const parent = await makeFolder(write, dirname(path))
  try {
    const entry = parent.at(basename(path))
    await mkdir(entry).catch((error) => {
      if (errno(error) !== 'EEXIST') throw error
    })
    return requireFolder(write, write.hold(entry, { follow: false }), path)
  } finally {
    parent.close()
  }
}

/** The path was real when it was located. If it leads elsewhere now, somebody has put a link in its way. */
function requireFolder(write: Write, held: Held, path: string): Held {
  if (held.path === path && held.stats.isDirectory()) return held
  held.close()
  if (!isInside(write.root, held.path)) throw outside(write.root, write.given)
  throw refuse('not_a_directory', `${JSON.stringify(write.given)} leads through something that is not a folder`)
}

function existing(write: Write, folder: Held, name: string): Stats | null {
  const held = holdEntry(write, folder, name)
  if (!held) return null
  held.close()
  requireRegular(held.stats, write.given)
  return held.stats
}

function holdEntry(write: Write, folder: Held, name: string): Held | null {
  try {
    return write.hold(folder.at(name), { follow: false })
  } catch (error) {
    if (errno(error) === 'ENOENT') return null
    throw error
  }
}

/** As late as possible: from here to the rename is all the time somebody else has to be overwritten. */
async function requireExpected(write: Write, folder: Held, name: string): Promise<void> {
  if (write.expect === undefined) return
  const held = holdEntry(write, folder, name)
  const now = held && (await digestHeld(held, write.given).finally(held.close))
  if (now === write.expect) return
  throw refuse('changed', `${JSON.stringify(write.given)} ${difference(now, write.expect)}; read it again first`)
}

function difference(now: string | null, expected: string | null): string {
  if (now === null) return 'does not exist any more'
  return expected === null ? 'exists already' : 'was changed by somebody else'
}

async function writeDurably(path: string, data: Buffer, before: Stats | null): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    await handle.writeFile(data)
    if (before) {
      // Only root may give files away; for everybody else it is their own file already.
      await handle.chown(before.uid, before.gid).catch(() => {})
      await handle.chmod(before.mode & 0o777)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}
