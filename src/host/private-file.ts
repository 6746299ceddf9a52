import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces or creates a file that nobody but its owner can read or write. A reader sees the old or the new text and
 * never a mixture, and the new text is on disk before it gets its name.
 */
export async function writePrivate(path: string, text: string): Promise<{ ok: true } | { ok: false; message: string }> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
    return { ok: true }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    return { ok: false, message: `${path} cannot be written: ${(error as Error).message}` }
  }
}

/**
 * The same for a file of which there are many and which can be made again: neither atomic nor durable. At once, since
 * handing each of its steps to another thread costs far more than the steps.
 */
export function writeReport(path: string, text: string): { ok: true } | { ok: false; message: string } {
  try {
    try {
      writeFileSync(path, text, { mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(path, text, { mode: 0o600 })
    }
    return { ok: true }
  } catch (error) {
    return { ok: false, message: `${path} cannot be written: ${(error as Error).message}` }
  }
}
