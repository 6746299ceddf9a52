import { realpathSync } from 'node:fs'
import { delimiter, isAbsolute, sep } from 'node:path'
import { commandPath } from './environment.js'
import { findProgram } from './launch.js'
import { isInside } from './paths.js'

/** Where the system keeps its own. */
export const USUAL_PROGRAMS = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin']

/**
 * The programs that this process runs for itself, with all its rights: git, mkfifo, bwrap. `npx`, `npm run` and direnv
 * put folders of the project first in the PATH, and a fenced command may write there. So nothing is taken from a
 * folder that agents work in, nor from any `node_modules`. The PATH that commands get is another matter.
 */
export class OwnPrograms {
  readonly #grounds = new Set<string>()

  /** From now on nothing below this folder is taken for a program of ours. */
  avoid(folder: string): void {
    // Without the folder that holds everything there would be no programs at all.
    if (folder === sep || this.#isGround(folder)) return
    // Worktrees come and go by the hundred in a folder that is avoided already.
    for (const ground of this.#grounds) if (isInside(folder, ground)) this.#grounds.delete(ground)
    this.#grounds.add(folder)
  }

  /** Also for what these programs start themselves, such as the filters of git. */
  path(): string {
    const folders = commandPath().split(delimiter)
    return folders.filter((folder) => isAbsolute(folder) && this.#isTrusted(folder)).join(delimiter)
  }

  /** `usual_first`: it does not matter which of several a person prefers. */
  find(name: string, options: { usual_first?: boolean } = {}): string | null {
    const folders = [...(options.usual_first ? USUAL_PROGRAMS : []), ...this.path().split(delimiter)]
    for (const folder of folders.filter((one) => this.#isTrusted(one))) {
      const program = findProgram(name, { cwd: sep, path: folder })
      if (program !== null && this.#isTrusted(program)) return program
    }
    return null
  }

  #isTrusted(path: string): boolean {
    return [path, realOf(path)].every((one) => !one.split(sep).includes('node_modules') && !this.#isGround(one))
  }

  #isGround(path: string): boolean {
    return [...this.#grounds].some((ground) => isInside(ground, path))
  }
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
