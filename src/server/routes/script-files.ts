import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { RetinueError } from '../../index.js'

const SCRIPTED = 'scripted/'

/**
 * Begins a run with a model that somebody named from afar. Such a name may be that of a file, which is read: it must be
 * one of the folder, and what is wrong with it is not told, for that would quote what it says.
 */
export async function withScript<T>(folder: string, model: string | undefined, begin: () => Promise<T>): Promise<T> {
  if (!model?.startsWith(SCRIPTED)) return begin()
  if (!(await isInside(folder, resolve(folder, model.slice(SCRIPTED.length))))) {
    throw new RetinueError('model', `${model} is no script in the folder: from here only those are played`)
  }
  try {
    return await begin()
  } catch (error) {
    if (!(error instanceof RetinueError) || error.code !== 'model') throw error
    throw new RetinueError('model', `${model} cannot be played. At the machine itself, --model ${model} says why`)
  }
}

/** Where it really is. One that is not there is where it would be. */
async function isInside(folder: string, path: string): Promise<boolean> {
  return isBelow(folder, path) && isBelow(folder, await realpath(path).catch(() => path))
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way.split(sep)[0] !== '..' && !isAbsolute(way)
}
