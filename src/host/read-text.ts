import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'

/** More than configurations have, and recorded scripts: what is read whole must fit into memory. */
const MOST_BYTES = 128 * 1024 * 1024

export async function readTextIfAny(path: string): Promise<string | null> {
  try {
    // A pipe that nobody writes to would be waited for without an end.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const stat = await file.stat()
      // A folder of that name is not the file; and a fence may hold the name with one while a command runs.
      if (stat.isDirectory()) return null
      // What somebody links to /dev/null is to say nothing.
      if (stat.isCharacterDevice() && (await realpath(path)) === '/dev/null') return ''
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
