import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Nobody writes more than that for a program to read whole. */
const MOST_BYTES = 16 * 1024 * 1024

export async function readTextIfAny(path: string): Promise<string | null> {
  try {
    // A pipe that nobody writes to would be waited for without an end.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const stat = await file.stat()
      // A folder of that name is not the file; and a fence may hold the name with one while a command runs.
      if (stat.isDirectory()) return null
      if (!stat.isFile()) throw new Error(`${path} is no ordinary file`)
      if (stat.size > MOST_BYTES) throw new Error(`${path} has more than ${MOST_BYTES} bytes`)
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return null
    throw error
  }
}
