import { posix } from 'node:path'
import type { FileFault } from '../host/index.js'
import { similarNames } from './similar.js'
import { size } from './text.js'
import type { ToolContext } from './tool.js'

/** Why a file could not be read, with the tool or the name that would do. */
export async function explainReadFault(
  fault: { code: FileFault; message: string },
  path: string,
  { workspace, limits }: ToolContext,
): Promise<string> {
  if (fault.code === 'not_found') {
    const folder = posix.dirname(path)
    const siblings = await workspace.list(folder)
    if (!siblings.ok) return `${path} does not exist, and there is no folder ${folder}: use find_files`
    const names = siblings.entries.map((entry) => entry.name)
    const similar = similarNames(posix.basename(path), names, 3).map((name) => posix.join(folder, name))
    return `${path} does not exist${similar.length > 0 ? `; similar: ${similar.join(', ')}` : ': use find_files'}`
  }
  if (fault.code === 'not_a_file' && (await workspace.list(path)).ok) return `${path} is a folder: use list_dir`
  if (fault.code === 'too_large') {
    return `${path} is larger than ${size(limits.read_bytes)}: use search_files, or run_command with head or sed`
  }
  if (fault.code === 'binary') return `${path} is not a text file`
  return fault.message
}
