import type { Host } from '../../host/index.js'
import { RetinueError } from '../errors.js'

/** The real path of a folder that can be worked in. */
export async function openFolder(host: Host, folder: string): Promise<string> {
  const opened = await host.workspace(folder).catch((error: Error) => error)
  if (opened instanceof Error) throw new RetinueError('input', `Cannot work in ${folder}: ${opened.message}`)
  return opened.root
}
