import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'

/** Makes temporary folders and removes them after each test. */
export function temporaryFolders(): () => string {
  const made: string[] = []
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'retinue-host-')))
    made.push(folder)
    return folder
  }
}

export function put(root: string, files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

/** Ids of the living processes of a session, which is named by the pid of the command that began it. */
export function livingInSession(session: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        const [state, , , sid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return Number(sid) === session && state !== 'Z' && state !== 'X'
      } catch {
        return false
      }
    })
}

export async function until(condition: () => boolean, ms = 5000): Promise<void> {
  const end = performance.now() + ms
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not so after ${ms} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** git as a person would use it, with an identity. */
export function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Person', '-c', 'user.email=person@example.org', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

export function initRepository(folder: string, files: Record<string, string> = { 'a.txt': 'one\n' }): void {
  git(folder, 'init', '-q')
  put(folder, files)
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'first')
}
