import { readFile } from 'node:fs/promises'

export async function readTextIfAny(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A folder of that name is not the file; and a fence may hold the name with one while a command runs.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return null
    throw error
  }
}
