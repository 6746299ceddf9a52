import { randomUUID } from 'node:crypto'
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OWN_GITIGNORE } from '../../domain/index.js'
import { createGit } from '../git.js'
import { GitCommand } from '../git-command.js'
import type { Fault, Processes, TreeFault, TreeResult } from '../host.js'
import type { Locks } from '../locks.js'
import { fault, relativeTo } from '../paths.js'
import type { OwnPrograms } from '../programs.js'
import { sweep } from './scratch.js'
import { describe } from './settings.js'
import { removeStaleLocks } from './stale-locks.js'

export type Machine = { processes: Processes; programs: OwnPrograms; locks: Locks }

/**
 * The repository that the person has. Only rev-parse, for-each-ref, config, symbolic-ref and update-ref are ever run in it;
 * for runs that travel, ls-remote and fetch too.
 */
export type Person = {
  git_dir: string
  /** Where refs and configuration are; another folder than `git_dir` in a linked worktree. */
  common_dir: string
  objects: string
  index: string
  exclude: string
  attributes: string
  shallow: string
  sparse: string
  object_format: string
  git: GitCommand
}

/** The private repository of a folder. */
export type Private = {
  machine: Machine
  /** `<folder>/.retinue/git` */
  home: string
  /** `<folder>/.retinue/worktrees` */
  worktrees: string
  /** The folder that runs work in, the top of the tree it is part of, and where it is below that (`''`: the same). */
  folder: string
  top: string
  prefix: string
  person: Person | null
  /** What a person should know about how the folder was opened. */
  notes: string[]
  /** The trees of commits that were made or looked at here: they never change, and to ask git takes a process. */
  tree_ids: Map<string, string>
  /** git in the private repository; with `work_tree` that is also its working directory. */
  git(options?: { git_dir?: string; work_tree?: string; index?: string }): GitCommand
  /** Brings configuration, excludes and the way to the person's objects up to what the person has now. */
  configure(): Promise<TreeResult<Configured>>
}

export type Configured = {
  /** Names of the filters that the person's configuration defines. */
  filters: string[]
}

/**
 * Nothing that is set up outside the private repository has a say, and nobody is asked anything. The paths that git is
 * given mean what they say only where LITERAL is added: patterns are used here too.
 */
export const OWN_ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
}

/** A checkout of 50,000 files on a slow disk takes a minute. */
const TIMEOUT_MS = 600_000
/** Lists of all files of a large repository are wanted whole. */
export const MAX_LIST = 512 * 1024 * 1024

/** Lines in it, written by whoever puts ignored files into worktrees, become part of the excludes. */
export const INCLUDED = 'included'

/** `run_id`: whoever opens it is about this run alone. */
export async function openPrivate(
  machine: Machine,
  folder: string,
  run_id?: string,
): Promise<TreeResult<{ private: Private }>> {
  const root = await realpath(folder).catch(() => null)
  if (root === null) return fault('failed', `${folder} does not exist`)
  machine.programs.avoid(root)
  const version = await checkVersion(machine)
  if (version) return version
  const notes: string[] = []
  const opened = await createGit(machine).open(root)
  if (!opened.ok && opened.code === 'git_missing') return fault('git_missing', opened.message)
  const found = opened.ok ? await describePerson(machine, opened.repository) : null
  if (found && !found.ok) return found
  if (!opened.ok && !/is in no git repository$/.test(opened.message)) {
    notes.push(`treated as a folder without git: ${opened.message}`)
  }
  const top = opened.ok ? await realpath(opened.repository.work_tree) : root
  const person = found?.person ?? null
  const made = await makeHome(root, person?.object_format ?? 'sha1')
  if (!made.ok) return made
  const { home } = made

  const own: Private = {
    machine,
    home,
    worktrees: join(home, '..', 'worktrees'),
    folder: root,
    top,
    prefix: top === root ? '' : relativeTo(top, root),
    person,
    notes,
    tree_ids: new Map(),
    git({ git_dir = home, work_tree, index } = {}) {
      const env = { ...OWN_ENVIRONMENT, ...(index === undefined ? {} : { GIT_INDEX_FILE: index }) }
      const place = { git_dir, env, timeout_ms: TIMEOUT_MS, ...(work_tree === undefined ? {} : { work_tree }) }
      return new GitCommand(machine, work_tree ?? home, place)
    },
    configure: () => machine.locks.run(home, () => configure(own)),
  }
  // What was made by a process that died right after is brought up to date here as well.
  const configured = await own.configure()
  // What processes that died have left is nobody's reason not to work here.
  await sweep(own).catch(() => {})
  await removeStaleLocks(own, run_id).catch(() => {})
  return configured.ok ? { ok: true, private: own } : configured
}

export const branchOf = (run_id: string, name: string): string => `retinue/${run_id}/${name}`
export const refOf = (run_id: string, name: string): string => `refs/heads/${branchOf(run_id, name)}`
/** Where git keeps HEAD and index of the worktree of an agent. */
export const adminOf = ({ home }: Private, run_id: string, name: string): string =>
  join(home, 'worktrees', `${run_id}-${name}`)
/** The worktree itself. */
export const topOf = ({ worktrees }: Private, run_id: string, name: string): string => join(worktrees, run_id, name)

/** Replaces or creates a file so that a reader sees the old or the new text. null: removes it. */
export async function writeWhole(path: string, text: string | null): Promise<void> {
  if (text === null) return rm(path, { force: true })
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return
  const temporary = `${path}.${randomUUID()}`
  await writeFile(temporary, text)
  await rename(temporary, path)
}

export function asTreeFault(failed: Fault<string>): Fault<TreeFault> {
  return fault(failed.code === 'git_missing' ? 'git_missing' : 'failed', failed.message)
}

/** Since 2.38 git merges without files. */
const NEEDED = [2, 38] as const
const versions = new WeakMap<OwnPrograms, string>()

async function checkVersion(machine: Machine): Promise<Fault<TreeFault> | null> {
  let version = versions.get(machine.programs)
  if (version === undefined) {
    const said = await new GitCommand(machine, '/').run(['--version'])
    if (!said.ok) return asTreeFault(said)
    version = /\d+(?:\.\d+)+/.exec(said.stdout)?.[0] ?? said.stdout.trim()
    versions.set(machine.programs, version)
  }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return null
  return fault(
    'git_too_old',
    `git here is ${version}, and worktrees need ${NEEDED.join('.')} or later: install that, or set workspace.isolation: shared`,
  )
}

const PATHS = ['objects', 'index', 'info/exclude', 'info/attributes', 'shallow', 'info/sparse-checkout']

async function describePerson(
  machine: Machine,
  { git_dir, work_tree }: { git_dir: string; work_tree: string },
): Promise<TreeResult<{ person: Person }>> {
  const git = new GitCommand(machine, work_tree, { git_dir, work_tree })
  const asked = await git.run([
    'rev-parse',
    '--path-format=absolute',
    '--git-common-dir',
    ...PATHS.flatMap((path) => ['--git-path', path]),
    '--show-object-format',
  ])
  if (!asked.ok) return asTreeFault(asked)
  const lines = asked.stdout.split('\n')
  const [common_dir, objects, index, exclude, attributes, shallow, sparse, object_format] = lines
  if (lines.length !== PATHS.length + 3 || object_format === undefined) {
    return fault('failed', `git says no clear paths for ${git_dir}: is there a line break in the name of a folder`)
  }
  const person = { git_dir, common_dir, objects, index, exclude, attributes, shallow, sparse, object_format, git }
  return { ok: true, person: person as Person }
}

/** By hand what `git init --bare` does, without templates; complete before it has its name. */
async function makeHome(folder: string, object_format: string): Promise<TreeResult<{ home: string }>> {
  try {
    await mkdir(join(folder, '.retinue'), { recursive: true })
    const beside = await realpath(join(folder, '.retinue'))
    const home = join(beside, 'git')
    const format = await readFile(join(home, 'format'), 'utf8').catch(() => null)
    if (format === null) {
      // Not a file that the person has: without one, everything in the folder would be seen by their own git.
      await writeFile(join(beside, '.gitignore'), OWN_GITIGNORE, { flag: 'wx' }).catch(() => {})
      const making = join(beside, `git-new-${randomUUID()}`)
      for (const part of ['objects/info', 'objects/pack', 'refs/heads', 'info', 'worktrees']) {
        await mkdir(join(making, part), { recursive: true })
      }
      await writeFile(join(making, 'HEAD'), 'ref: refs/heads/none\n')
      await writeFile(join(making, 'format'), object_format)
      await writeFile(join(making, 'config'), describe(new Map(), object_format))
      // Another process may have been faster.
      await rename(making, home).catch(() => rm(making, { recursive: true, force: true }))
      return makeHome(folder, object_format)
    }
    if (format !== object_format) {
      return fault(
        'failed',
        `the private repository ${home} is of another kind (${format}) than the repository here (${object_format}); ` +
          'if no run has work left in it (retinue worktrees), remove it',
      )
    }
    return { ok: true, home }
  } catch (error) {
    return fault('failed', `${join(folder, '.retinue', 'git')} cannot be made: ${(error as Error).message}`)
  }
}

async function configure(own: Private): Promise<TreeResult<Configured>> {
  const { home, person } = own
  let values = new Map<string, string>()
  if (person) {
    const listed = await person.git.run(['config', '--list', '-z'], { max_output: MAX_LIST })
    if (!listed.ok) return asTreeFault(listed)
    values = readSettings(listed.stdout)
  }
  try {
    await writeWhole(join(home, 'config'), describe(values, person?.object_format ?? 'sha1'))
    await writeWhole(join(home, 'objects/info/alternates'), person ? `${person.objects}\n` : null)
    const exclude = await textOf(person?.exclude)
    const included = await textOf(join(home, INCLUDED))
    await writeWhole(join(home, 'info/exclude'), `${exclude}\n${excludes(person !== null)}${included}`)
    await writeWhole(join(home, 'info/attributes'), (await textOf(person?.attributes)) || null)
    await writeWhole(join(home, 'info/sparse-checkout'), (await textOf(person?.sparse)) || null)
    await writeWhole(join(home, 'shallow'), (await textOf(person?.shallow)) || null)
  } catch (error) {
    return fault('failed', `the private repository ${home} cannot be written: ${(error as Error).message}`)
  }
  const filters = [...values.keys()].map((key) => /^filter\.(.+)\.(?:clean|process)$/s.exec(key)?.[1])
  return { ok: true, filters: [...new Set(filters.filter((name) => name !== undefined))] }
}

async function textOf(path: string | undefined): Promise<string> {
  return path === undefined ? '' : readFile(path, 'utf8').catch(() => '')
}

/** What nobody wants in a commit, where no .gitignore may say so. */
const WITHOUT_GIT = ['node_modules/', '.venv/', '__pycache__/', '.DS_Store']

function excludes(in_git: boolean): string {
  return [...(in_git ? [] : WITHOUT_GIT), '.retinue/', '.retinue-tmp-*'].map((line) => `${line}\n`).join('')
}

/** `key`, a line break and the value, for each; without a value it is true. The last one counts. */
function readSettings(text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const setting of text.split('\0').filter(Boolean)) {
    const end = setting.indexOf('\n')
    if (end < 0) values.set(setting, 'true')
    else values.set(setting.slice(0, end), setting.slice(end + 1))
  }
  return values
}
