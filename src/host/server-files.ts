import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { commandEnvironment } from './environment.js'
import type { ServerSpec } from './host.js'
import { findProgram } from './launch.js'
import { isInside, relativeTo } from './paths.js'

/** The files inside a folder that a command names, by their path in it, each with a digest of what is in it now. */
export async function namedFiles({ command, cwd, env }: ServerSpec, root: string): Promise<Record<string, string>> {
  const [name = '', ...args] = command
  const program = findProgram(name, { cwd, path: commandEnvironment(env).PATH ?? '' })
  // `--require=./hook.js` names a file too.
  const words = [program ?? name, ...args.flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1)])]
  const paths = [...new Set(words.map((word) => resolve(cwd, word)))]
  const found = await Promise.all(paths.map((path) => identify(path, root)))
  return Object.fromEntries(found.filter((entry) => entry !== null))
}

/** By content, not by time: a file that was written again as it was has not changed. */
async function identify(path: string, root: string): Promise<[string, string] | null> {
  try {
    const real = await realpath(path)
    if (!isInside(root, path) && !isInside(root, real)) return null
    if (!(await stat(real)).isFile()) return null
    const hash = createHash('sha256').update(`${real}\n`)
    await pipeline(createReadStream(real), hash)
    return [relativeTo(root, isInside(root, path) ? path : real), hash.digest('hex')]
  } catch {
    // Nothing there, or nothing that can be read: then nothing can be started from it either.
    return null
  }
}
