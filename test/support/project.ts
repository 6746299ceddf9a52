import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { dropTestStore } from './stores.js'

/** How a test says what is to be done when it is over. Tests that run side by side must give their own. */
export type WhenFinished = (work: () => void | Promise<void>) => void

/** A folder of its own for a test, gone when the test is over. */
export function makeProject(
  files: Record<string, string>,
  options: { git?: boolean; finished?: WhenFinished } = {},
): string {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'retinue-test-')))
  const finished = options.finished ?? onTestFinished
  finished(() => {
    rmSync(cwd, { recursive: true, force: true })
    return dropTestStore(cwd)
  })
  writeFiles(cwd, files)
  if (options.git) {
    git(cwd, 'init', '--quiet', '--initial-branch=main')
    git(cwd, 'config', 'user.name', 'Test')
    git(cwd, 'config', 'user.email', 'test@localhost')
    git(cwd, 'add', '--all')
    git(cwd, 'commit', '--quiet', '--allow-empty', '--message', 'start')
  }
  return cwd
}

function writeFiles(cwd: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
}

export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' })
}

/** Every file below a folder with its text, but git's and Retinue's own. */
export function tree(cwd: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(cwd, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(cwd.length + 1)
    if (entry.isFile() && !/^\.(git|retinue)\//.test(path)) files[path] = readFileSync(join(cwd, path), 'utf8')
  }
  return files
}
