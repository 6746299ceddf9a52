import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { isProtected, isRecord } from '../../domain/index.js'
import type { GitCommand } from '../git-command.js'
import type { TreeResult } from '../host.js'
import { SUBMODULE } from '../modes.js'
import { fault, TEMPORARY } from '../paths.js'
import { asTreeFault, MAX_LIST } from './private.js'

/** More than that is no source code, but something that nobody told git to ignore. */
const MAX_FILES = 100_000
const MAX_BYTES = 2 * 1024 ** 3

const MANY = 1000

export type Staged = {
  tree: string
  /** Repositories below that git knows nothing of. What is in them is not in the tree. */
  nested: string[]
  /** Repositories below that git knows by a commit of theirs. */
  submodules: string[]
  /** What cannot be in a tree: the files in submodules, names that are git's own or no text. */
  left_out: string[]
}

/**
 * Brings an index up to all that is in a work tree and not ignored, and writes its tree. Not by `git add`, which would
 * run git in repositories below. `filters`: what the index says about files under these is not what is on disk.
 */
export async function stageAll(
  git: GitCommand,
  top: string,
  { filters = [] }: { filters?: readonly string[] } = {},
): Promise<TreeResult<Staged>> {
  const list = { max_output: MAX_LIST }
  const [listed, differing, filtered] = await Promise.all([
    git.run(['ls-files', '-v', '-s', '-o', '-z', '--exclude-standard', '-x', '.retinue', '-x', `${TEMPORARY}*`], list),
    git.run(['diff-files', '-z', '--name-only', '--ignore-submodules=all'], list),
    filters.length === 0 ? null : git.run(['ls-files', '-z', '--', ...filters.map(byFilter)], list),
  ])
  if (!listed.ok) return asTreeFault(listed)
  if (!differing.ok) return asTreeFault(differing)
  if (filtered && !filtered.ok) return asTreeFault(filtered)

  const index = readIndex(listed.stdout, new Set(filtered?.stdout.split('\0')))
  const changed = new Set([...differing.stdout.split('\0').filter(Boolean), ...index.unsure])
  const submodules = new Set(index.submodules)
  const left_out = index.submodules.filter((path) => hasFiles(join(top, path))).map((path) => `${path}/`)
  const nested = index.others.filter((path) => path.endsWith('/'))
  const paths: string[] = []
  for (const path of [...changed, ...index.others.filter((other) => !other.endsWith('/'))]) {
    if (isRetinues(path) || submodules.has(path)) continue
    // The bytes of the name are lost on the way to here, and git does not take names that are its own anywhere.
    if (path.includes('\uFFFD') || isGits(path)) left_out.push(path)
    else paths.push(path)
  }
  const measured = await measure(top, paths)
  if (!measured.ok) return measured

  // git refuses a path that leads through a symbolic link, be it only to forget it.
  const isBehind = behindLink(top)
  const beyond = paths.filter((path) => changed.has(path) && isBehind(path))
  const entries = [...index.doubtful, ...beyond.map((path) => `0 ${'0'.repeat(index.id_length)}\t${path}`)]
  if (entries.length > 0) {
    const reset = await git.run(['update-index', '-z', '--index-info'], { stdin: lines(entries) })
    if (!reset.ok) return asTreeFault(reset)
  }
  const gone = new Set(beyond)
  const present = paths.filter((path) => !gone.has(path))
  if (present.length > 0) {
    // Objects above that size go into one pack together, which is many times faster than a file for each.
    const together = present.length > MANY ? ['-c', 'core.bigFileThreshold=1'] : []
    const args = [...together, 'update-index', '--add', '--remove', '--replace', '-z', '--stdin']
    const updated = await git.run(args, { stdin: lines(present) })
    if (!updated.ok) return asTreeFault(updated)
  }
  const tree = await git.run(['write-tree'])
  if (!tree.ok) return asTreeFault(tree)
  return { ok: true, tree: tree.stdout.trim(), nested, submodules: index.submodules, left_out }
}

const lines = (entries: readonly string[]): string => entries.map((entry) => `${entry}\0`).join('')

/** A pattern that matches the files of a filter; all files where git has no way to write its name. */
function byFilter(name: string): string {
  return /^[\w-]+$/.test(name) ? `:(attr:filter=${name})` : ':(top)'
}

type Index = {
  others: string[]
  submodules: string[]
  /** Entries whose files are read whatever the index says about them; and the same as git takes them in. */
  unsure: string[]
  doubtful: string[]
  id_length: number
}

/** `tag mode id stage`, a tab and the path for what is in the index; `?` and the path for what is not. */
function readIndex(text: string, filtered: ReadonlySet<string>): Index {
  const index: Index = { others: [], submodules: [], unsure: [], doubtful: [], id_length: 40 }
  for (const line of text.split('\0')) {
    if (line.startsWith('? ')) {
      index.others.push(line.slice(2))
      continue
    }
    const tab = line.indexOf('\t')
    if (tab < 0) continue
    const path = line.slice(tab + 1)
    const tag = line[0] ?? ''
    if (line.startsWith(SUBMODULE, 2)) {
      if (index.submodules.at(-1) !== path) index.submodules.push(path)
      continue
    }
    if (tag === 'H' && filtered.size === 0) continue
    const [, mode = '', id = '', stage = ''] = line.slice(0, tab).split(' ')
    index.id_length = id.length
    if (stage !== '0') {
      index.unsure.push(path)
    } else if ((tag !== 'S' && tag !== 's' && tag === tag.toLowerCase()) || (tag === 'H' && filtered.has(path))) {
      // Assumed to be unchanged, or known by what a filter made of it. An entry without times is looked at anew.
      index.unsure.push(path)
      index.doubtful.push(`${mode} ${id}\t${path}`)
    }
  }
  return index
}

/** Most paths are plainly nobody's. */
const SUSPECT = /git|retin|[^\x20-\x7e]/i

/** Names count in any spelling that some file system takes for them. */
function isRetinues(path: string): boolean {
  return SUSPECT.test(path) && path.split('/').some((name) => name.startsWith(TEMPORARY) || isRecord(name))
}

/** One level down, since `retinue.yaml` is a file like others here. */
function isGits(path: string): boolean {
  return SUSPECT.test(path) && isProtected(`below/${path}`)
}

function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0
  } catch {
    return false
  }
}

async function measure(top: string, paths: readonly string[]): Promise<TreeResult<object>> {
  const much = (what: string) =>
    fault(
      'too_much',
      `${top} has ${what} to be copied into worktrees that git does not ignore: name what is not wanted in a ` +
        '.gitignore, or set workspace.isolation: shared',
    )
  if (paths.length > MAX_FILES) return much(`${paths.length} files`)
  let bytes = 0
  for (const [i, path] of paths.entries()) {
    if (i % 1000 === 999) await turn()
    bytes += statOf(join(top, path))?.size ?? 0
    if (bytes > MAX_BYTES) return much('more than 2 GiB')
  }
  return { ok: true }
}

function statOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

/** Whether a folder above a path is a symbolic link. */
export function behindLink(top: string): (path: string) => boolean {
  const known = new Map<string, boolean>()
  return function isBehind(path: string): boolean {
    const end = path.lastIndexOf('/')
    if (end < 0) return false
    const folder = path.slice(0, end)
    const answer = known.get(folder) ?? (isBehind(folder) || statOf(join(top, folder))?.isSymbolicLink() === true)
    known.set(folder, answer)
    return answer
  }
}
