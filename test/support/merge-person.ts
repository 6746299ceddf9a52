import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Files, filesIn, putFiles } from './merge-files.js'
import type { Scenario } from './merge-scenario.js'
import type { WhenFinished } from './project.js'

/** The person of a scenario: their folder, what they do there, and what is theirs and nobody else's. */
export type Person = {
  top: string
  cwd: string
  does: (script: string) => string
  files: () => Files
  /** Digests of what their repository is made of, but for branches and refs that Retinue may add. */
  repository: () => Record<string, string>
  /** Files of git's or Retinue's that are in a commit of the private repository, and in none that the person had. */
  ownFilesInCommits: () => string[]
  /** Branches of Retinue's that their repository has. */
  branches: (run_id: string) => string[]
  /** What of their repository is another than it was, and what ran programs that nobody but the person may run. */
  untouched: (before: Record<string, string>) => { touched: string[]; woken: string }
}

const OWN = ['.git', '.retinue']
/** Nothing of the machine's: neither its configuration nor its identity. */
const CONFIG = `[user]
  name = Ada
  email = ada@localhost
[init]
  defaultBranch = main
[protocol "file"]
  allow = always
[advice]
  detachedHead = false
`

export function makePerson(scenario: Scenario, finished: WhenFinished): Person {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), 'retinue-merge-')))
  finished(() => rmSync(outer, { recursive: true, force: true }))
  const first = join(outer, 'project')
  mkdirSync(first)
  writeFileSync(join(outer, 'config'), CONFIG)
  const log = join(outer, 'woken')
  // It passes on what it is given, as a filter would, so that nothing else tells that it was there.
  putFiles(outer, { canary: { program: `#!/bin/sh\necho "$0 $*" >> '${log}'\ncat\n` } })
  const env = {
    ...{ PATH: process.env.PATH, HOME: outer, OUTER: outer, CANARY: join(outer, 'canary') },
    ...{ GIT_CONFIG_GLOBAL: join(outer, 'config'), GIT_CONFIG_NOSYSTEM: '1' },
  }
  const shell = (folder: string, script: string) => {
    const options = { cwd: folder, env, encoding: 'utf8', input: '' } as const
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', script], options)
    if (status !== 0) throw new Error(`the person's commands failed:\n${script}\n${stdout}${stderr}`)
    return stdout
  }
  const git = (folder: string, ...args: string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' })

  putFiles(first, scenario.base)
  if (scenario.git !== 'none') git(first, 'init', '--quiet')
  if (scenario.git === undefined) shell(first, 'git add --all && git commit --quiet --allow-empty --message start')
  if (scenario.setup !== undefined) shell(first, scenario.setup)
  rmSync(log, { force: true })

  const top = resolve(first, scenario.top)
  const repositories = () => {
    if (!existsSync(join(top, '.git'))) return []
    const folders = git(top, 'rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir')
    return [...new Set(folders.trim().split('\n'))]
  }
  const repository = () =>
    Object.fromEntries(repositories().flatMap((folder) => digestsIn(folder, folder.slice(outer.length + 1))))
  const cwd = resolve(top, scenario.cwd)
  const theirs = repositories().flatMap(ownFilesIn)
  return {
    top,
    cwd,
    does: (script) => shell(top, script),
    files: () => filesIn(top, OWN),
    repository,
    ownFilesInCommits: () => ownFilesIn(join(cwd, '.retinue', 'git')).filter((file) => !theirs.includes(file)),
    branches: (run_id) => {
      if (repositories().length === 0) return []
      const names = git(top, 'for-each-ref', '--format=%(refname)', 'refs/heads/retinue').split('\n')
      return names.filter((name) => name !== '').map((name) => name.replace(`refs/heads/retinue/${run_id}/`, ''))
    },
    untouched: (before) => {
      const now = repository()
      const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
      return {
        touched: names.filter((name) => before[name] !== now[name]).sort(),
        woken: existsSync(log) ? readFileSync(log, 'utf8') : '',
      }
    },
  }
}

function digestsIn(folder: string, name: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry): [string, string][] => {
    if (!entry.isFile()) return []
    const path = join(entry.parentPath, entry.name)
    const below = path.slice(folder.length + 1)
    // Objects are added when a branch is, and nobody sees those that no ref leads to.
    if (below.startsWith('objects/') || /^(?:logs\/)?refs\/(?:heads\/)?retinue\//.test(below)) return []
    return [[`${name}/${below}`, createHash('sha1').update(readFileSync(path)).digest('hex')]]
  })
}

/** What of git's and Retinue's own files is in the commits of a repository, all that it ever had, with what it is there. */
function ownFilesIn(git_dir: string): string[] {
  if (!existsSync(git_dir)) return []
  const args = ['--git-dir', git_dir, 'cat-file', '--batch-all-objects', '--batch']
  const objects = execFileSync('git', args, { encoding: 'latin1', maxBuffer: 1 << 26 })
  // Trees have their names as they are, each between its mode and a NUL, and then a digest.
  const entries = objects.matchAll(/(?:40000|100644|100755|120000|160000) ([^\0\n]+)\0([\s\S]{20})/g)
  return [...entries].flatMap(([, name = '', digest = '']) =>
    OWN.includes(name) ? [`${name} ${Buffer.from(digest, 'latin1').toString('hex')}`] : [],
  )
}

/** Worktrees and branches that the private repository has of a run. */
export function leftOf(cwd: string, run_id: string): { trees: string[]; branches: string[] } {
  const folder = join(cwd, '.retinue', 'worktrees', run_id)
  const dir = join(cwd, '.retinue', 'git')
  const trees = existsSync(folder) ? readdirSync(folder).sort() : []
  if (!existsSync(dir)) return { trees, branches: [] }
  const args = ['--git-dir', dir, 'for-each-ref', '--format=%(refname)', `refs/heads/retinue/${run_id}`]
  const names = execFileSync('git', args, { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== '')
  return { trees, branches: names.map((name) => name.slice(`refs/heads/retinue/${run_id}/`.length)) }
}
