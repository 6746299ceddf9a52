import { readFile } from 'node:fs/promises'
import { RetinueError } from '../index.js'
import { absolute } from './open.js'

export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** The text of a file that was named on the command line; `-` is stdin. */
export async function textOf(file: string): Promise<string> {
  try {
    return file === '-' ? await readStdin() : await readFile(absolute(file), 'utf8')
  } catch (error) {
    if (error instanceof RetinueError) throw error
    throw new RetinueError('input', `Cannot read ${file}: ${(error as Error).message}`)
  }
}
