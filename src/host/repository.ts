import { resolve } from 'node:path'
import { isProtected } from '../domain/index.js'
import { commitPaths } from './commit.js'
import { GitCommand, type GitRun, LITERAL, NOT_BELOW } from './git-command.js'
import type { Fault, GitFault, GitResult, Processes, Repository } from './host.js'
import type { Locks } from './locks.js'
import { fault, isInside, relativeTo, TEMPORARY } from './paths.js'
import type { OwnPrograms } from './programs.js'

export type RepositoryParts = {
  processes: Processes
  programs: OwnPrograms
  locks: Locks
  git_dir: string
  work_tree: string
  /** The folder it was opened for: paths are relative to it, and nothing outside it is shown or committed. */
  folder: string
  /** What every git command there must know besides. */
  env?: Record<string, string>
}

/** What belongs to Retinue is no work of anybody's. */
const NOT_OURS = [':(exclude,glob)**/.retinue', ':(exclude,glob)**/.retinue/**', `:(exclude,glob)**/${TEMPORARY}*`]

const DIFF = [
  NOT_BELOW,
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
]

export function createRepository(parts: RepositoryParts): Repository {
  const { processes, locks, git_dir, work_tree, folder, env } = parts
  const place = { git_dir, work_tree, ...(env ? { env } : {}) }
  const git = new GitCommand(parts, folder, place)

  /** git would also take the name of a blob, and show a file that no path was given for. */
  async function notCommits(ref: string | undefined) {
    for (const side of ref?.split(/\.{2,3}/).filter(Boolean) ?? []) {
      const found = await git.run(['rev-parse', '--quiet', '--verify', '--end-of-options', `${side}^{commit}`], {
        answers: [1, 128],
      })
      if (!found.ok) return found
      if (found.exit_code !== 0) return fault('failed', `${side} is no commit`)
    }
    return null
  }

  const repository: Repository = {
    git_dir,
    work_tree,

    during: (signal) =>
      createRepository({ ...parts, processes: { run: (spec) => processes.run({ ...spec, signal }) } }),

    async head() {
      const [commit, branch] = await Promise.all([
        git.run(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}'], { answers: [1] }),
        git.run(['symbolic-ref', '--quiet', '--short', 'HEAD'], { answers: [1] }),
      ])
      if (!commit.ok) return commit
      if (!branch.ok) return branch
      return { ok: true, commit: commit.stdout.trim() || null, branch: branch.stdout.trim() || null }
    },

    async status() {
      return text(
        await git.run(['status', '--short', '--branch', '--untracked-files=normal', NOT_BELOW, '--', '.', ...NOT_OURS]),
      )
    },

    async diff({ staged, ref, paths }) {
      const wrong = wrongRef(ref) ?? wrongPath(paths) ?? (await notCommits(ref))
      if (wrong) return wrong
      const args = ['diff', ...DIFF, '--relative', ...(staged ? ['--cached'] : []), ...(ref ? [ref] : []), '--']
      if (paths === undefined) return text(await git.run([...args, '.', ...NOT_OURS]))
      return text(await git.run([...args, ...paths], { env: LITERAL }))
    },

    async log({ limit, path }) {
      const wrong = wrongPath(path === undefined ? [] : [path])
      if (wrong) return wrong
      const head = await repository.head()
      if (!head.ok) return head
      if (head.commit === null) return { ok: true, text: '' }
      const args = ['log', `--max-count=${limit}`, '--no-color', '--date=iso-strict']
      const scope = path ?? (folder === work_tree ? null : '.')
      return text(
        await git.run([...args, '--format=%h %ad %an: %s', '--', ...(scope === null ? [] : [scope])], { env: LITERAL }),
      )
    },

    async touched({ commits }) {
      const head = await repository.head()
      if (!head.ok) return head
      if (head.commit === null) return { ok: true, paths: [] }
      const args = ['log', `--max-count=${commits}`, '--no-color', '--no-renames', '--relative', '--name-only', '-z']
      const run = await git.run([...args, '--format=', '--', '.', ...NOT_OURS])
      if (!run.ok) return run
      const paths = run.stdout.split(/[\0\n]+/).filter((path) => path !== '')
      // The output is cut in the middle when it is too long; the names there are halves.
      return { ok: true, paths: run.whole ? paths : [] }
    },

    async commit({ message, paths, check }) {
      const wrong = wrongPath(paths)
      if (wrong) return wrong
      const inTree = (paths ?? ['.']).map((path) => relativeTo(work_tree, resolve(folder, path)))
      const fromTop = new GitCommand(parts, work_tree, place)
      // Two commits at once would find each other's lock on the index.
      const here = check ? (path: string) => check(relativeTo(folder, resolve(work_tree, path))) : null
      const what = { message, paths: inTree, named: paths !== undefined, check: here }
      return locks.run(git_dir, () => commitPaths(fromTop, git_dir, what))
    },
  }
  return repository

  function wrongPath(paths: string[] | undefined): Fault<GitFault> | null {
    for (const path of paths ?? []) {
      const absolute = resolve(folder, path)
      if (path.includes('\0') || !isInside(folder, absolute)) {
        return fault('failed', `${JSON.stringify(path)} is outside ${folder}`)
      }
      if (isProtected(relativeTo(folder, absolute))) {
        return fault('failed', `${JSON.stringify(path)} belongs to git or Retinue`)
      }
    }
    return null
  }
}

/** Commits, branches and ranges of them. A `:` would name a file, a `-` an option. */
function wrongRef(ref: string | undefined): Fault<GitFault> | null {
  if (ref === undefined || /^[^-:\s\0][^:\s\0]*$/.test(ref)) return null
  return fault('failed', `${JSON.stringify(ref)} is not a commit, a branch or a range of them`)
}

function text(run: GitRun): GitResult<{ text: string }> {
  return run.ok ? { ok: true, text: run.stdout } : run
}
