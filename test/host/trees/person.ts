import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createHost, type TreeResult, type Trees } from '../../../src/host/index.js'

export const NOTE = {
  message: 'Work of an agent\n',
  author: { name: 'coder', email: 'a1@retinue' },
  at: 1_700_000_000_000,
}

export function must<T>(result: TreeResult<T> | { ok: false; message: string }): { ok: true } & T {
  if (!result.ok) throw new Error(result.message)
  return result
}

export async function treesIn(folder: string): Promise<Trees> {
  return must(await createHost().trees(folder)).trees
}

/** All files below a folder but git's and Retinue's own: what is in them, and where links lead. */
export function filesIn(folder: string, under = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(folder, under)).sort()) {
    if (name === '.git' || name === '.retinue') continue
    const path = under === '' ? name : `${under}/${name}`
    const stats = lstatSync(join(folder, path))
    if (stats.isDirectory()) Object.assign(found, filesIn(folder, path))
    else if (stats.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(folder, path))}`
    else found[path] = `${stats.mode & 0o100 ? 'x ' : ''}${readFileSync(join(folder, path), 'latin1')}`
  }
  return found
}

/** Everything of the person's that must be as it was, whatever runs do. */
export function belongings(folder: string, git_dir = join(folder, '.git')): unknown {
  const ask = (...args: string[]) => {
    const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_OPTIONAL_LOCKS: '0' }
    const safe = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', `--git-dir=${git_dir}`]
    return execFileSync('git', [...safe, ...args], { cwd: folder, encoding: 'utf8', env })
  }
  const common = ask('rev-parse', '--path-format=absolute', '--git-common-dir').trim()
  return {
    files: filesIn(folder),
    index: readIf(join(git_dir, 'index')),
    config: readIf(join(common, 'config')),
    exclude: readIf(join(common, 'info/exclude')),
    refs: ask('for-each-ref')
      .split('\n')
      .filter((line) => !line.includes('refs/retinue/')),
    head: readIf(join(git_dir, 'HEAD')),
    stash: readIf(join(common, 'logs/refs/stash')),
    logs: readdirSync(common, { recursive: true, encoding: 'utf8' }).filter((path) => path.startsWith('logs/')),
  }
}

function readIf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}
