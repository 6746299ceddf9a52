import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { commandEnvironment } from '../environment.js'
import type { OwnPrograms } from '../programs.js'

export type Bubblewrap = { path: string; version: string; forbids_namespaces: boolean }

/** The bubblewrap of this machine. One that lies where the fenced command may have written it would be no fence. */
export class BubblewrapFinder {
  readonly #known = new Map<string, Promise<Bubblewrap | null>>()

  constructor(private readonly programs: OwnPrograms) {}

  async find(): Promise<Bubblewrap | null> {
    const path = this.programs.find('bwrap', { usual_first: true })
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
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000, env: commandEnvironment() })
    const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number)
    return { path, version: stdout.trim(), forbids_namespaces: major > 0 || minor >= 8 }
  } catch {
    return null
  }
}

/** Which bubblewrap it is, and what a fence of it lacks on this machine. */
export function strengthOf(bwrap: Bubblewrap, filter: Buffer | null, arch: string = process.arch): string {
  return [
    bwrap.version,
    ...(filter ? [] : [`weaker: no filter for system calls on ${arch}`]),
    ...(bwrap.forbids_namespaces
      ? []
      : ['weaker: commands can make user namespaces, because bubblewrap is before 0.8']),
  ].join('; ')
}
