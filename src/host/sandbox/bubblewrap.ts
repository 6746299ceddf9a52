import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from '../launch.js'
import { isInside } from '../paths.js'

type Bubblewrap = { path: string; version: string; forbids_namespaces: boolean }

const USUAL = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin']

/**
 * The bubblewrap of this machine. One that lies where the fenced command may have written it would be no fence; so
 * nothing below the workspace is taken for it, whatever the PATH says.
 */
export class BubblewrapFinder {
  readonly #known = new Map<string, Promise<Bubblewrap | null>>()

  async find(root: string): Promise<Bubblewrap | null> {
    const folders = [...USUAL, ...(process.env.PATH ?? '').split(':')].filter((folder) => !isInside(root, folder))
    const path = findProgram('bwrap', { cwd: '/', path: folders.join(':') })
    if (path === null) return null
    let known = this.#known.get(path)
    if (!known) {
      known = readVersion(path)
      this.#known.set(path, known)
    }
    return known
  }
}

async function readVersion(path: string): Promise<Bubblewrap | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 })
    const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number)
    return { path, version: stdout.trim(), forbids_namespaces: major > 0 || minor >= 8 }
  } catch {
    return null
  }
}
