import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { GitCommand } from './git-command.js'
import { checkFiles } from './git-objects.js'
import type { CommitCheck, Fault, GitFault, GitResult } from './host.js'
import { createIdentity } from './identity.js'
import { NOT_THERE, SUBMODULE } from './modes.js'
import { fault } from './paths.js'

/** A file as it is before and after the commit. An id of zeros: it is not there. */
type Entry = { path: string; before: Version; after: Version }
type Version = { mode: string; id: string }

const PREFIX = 'retinue-commit-'
const OWNER = 'owner'
/** No commit takes that long. */
const ABANDONED_MS = 3_600_000

/**
 * A commit in the making, with an index and new objects of its own: until it is made, nothing of it is in the
 * repository, and nothing stays behind when it is not.
 */
export async function openStaging(git: GitCommand, git_dir: string) {
  const head = await git.run(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}'], { answers: [1] })
  if (!head.ok) return head
  const parent = head.stdout.trim()
  const shared = await git.run(['rev-parse', '--path-format=absolute', '--git-path', 'objects'])
  if (!shared.ok) return shared
  const objects = resolve(git_dir, shared.stdout.trim())

  await removeAbandoned(git_dir)
  const folder = await mkdtemp(join(git_dir, PREFIX)).catch(() => null)
  if (folder === null) return fault('failed', `${git_dir} cannot be written`)
  await writeFile(join(folder, OWNER), createIdentity().owner)
  const index = join(folder, 'index')
  await mkdir(join(folder, 'objects'))
  const ownIndex = { GIT_INDEX_FILE: index }
  const own = {
    ...ownIndex,
    GIT_OBJECT_DIRECTORY: join(folder, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
  }

  /** Puts the files into the own index, as they are now, and says what that changes. */
  async function add(paths: string[]): Promise<GitResult<{ entries: Entry[] }>> {
    // Not from the repository's index: what that knows about times would make a file that changed just now, and has
    // the same size, look unchanged.
    const based = await git.run(['read-tree', parent || '--empty'], { env: ownIndex })
    if (!based.ok) return based
    // A repository below is named with a slash at its end.
    const stdin = paths.map((path) => `${path.replace(/\/$/, '')}\0`).join('')
    const added = await git.run(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], {
      stdin,
      env: own,
    })
    if (!added.ok) return added
    const changed = parent
      ? await git.run(['diff-index', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev', parent], { env: own })
      : await git.run(['ls-files', '--stage', '-z'], { env: own })
    if (!changed.ok) return changed
    if (!changed.whole) return fault('failed', 'too many files have changed to commit them at once; name some of them')
    return { ok: true, entries: parent ? readDifferences(changed.stdout) : readStages(changed.stdout) }
  }

  async function check(entries: readonly Entry[], checkFile: CommitCheck): Promise<Fault<GitFault> | null> {
    const files = entries.filter(({ after }) => after.mode !== NOT_THERE && after.mode !== SUBMODULE)
    const named = files.map(({ path, after }) => ({ path, id: after.id }))
    const found = await checkFiles(git, named, checkFile, own)
    if (!found.ok) return found
    return found.wrong.length === 0 ? null : fault('refused', found.wrong.join('\n'))
  }

  /** Makes the commit of what is in the own index, and brings the repository's index up to it. */
  async function commit(
    entries: readonly Entry[],
    message: string,
    env: Record<string, string>,
  ): Promise<GitResult<{ commit: string; summary: string }>> {
    const tree = await git.run(['write-tree'], { env: own })
    if (!tree.ok) return tree
    await moveFiles(join(folder as string, 'objects'), objects)
    const made = await git.run(['commit-tree', tree.stdout.trim(), ...(parent ? ['-p', parent] : []), '-F', '-'], {
      stdin: message,
      env,
    })
    if (!made.ok) return made
    const id = made.stdout.trim()
    // The index comes first: were the process to end here, files would be staged; the other way round, the commit
    // would look as if it were going to be undone.
    await copyFile(join(git_dir, 'index'), join(folder as string, 'before')).catch(() => {})
    const indexed = await setEntries(entries.map(({ path, after }) => ({ path, ...after })))
    if (!indexed.ok) return indexed
    const subject = message.split('\n')[0] ?? ''
    const reflog = parent ? `commit: ${subject}` : `commit (initial): ${subject}`
    // Refused when somebody moved the branch in the meantime.
    const moved = await git.run(['update-ref', '-m', reflog, 'HEAD', id, parent || '0'.repeat(id.length)], { env })
    if (!moved.ok) {
      await restoreIndex(entries)
      return moved
    }
    const stat = await git.run(['diff-tree', '--shortstat', '--root', '--no-commit-id', '-r', id])
    return { ok: true, commit: id, summary: stat.ok ? stat.stdout.trim() : '' }
  }

  function setEntries(entries: readonly ({ path: string } & Version)[]) {
    const stdin = entries.map(({ path, mode, id }) => `${mode} ${id}\t${path}\0`).join('')
    return git.run(['update-index', '-z', '--index-info'], { stdin })
  }

  /** As it was before: what was not staged is not staged. */
  async function restoreIndex(entries: readonly Entry[]): Promise<void> {
    const env = { GIT_INDEX_FILE: join(folder as string, 'before') }
    const staged = parent
      ? await git.run(['diff-index', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev', parent], { env })
      : await git.run(['ls-files', '--stage', '-z'], { env })
    if (!staged.ok) return
    const before = new Map(
      (parent ? readDifferences : readStages)(staged.stdout).map((entry) => [entry.path, entry.after]),
    )
    await setEntries(entries.map((entry) => ({ path: entry.path, ...(before.get(entry.path) ?? entry.before) })))
  }

  return { ok: true as const, add, check, commit, close: () => rm(folder, { recursive: true, force: true }) }
}

/** What was left behind by a process that was killed. */
async function removeAbandoned(git_dir: string): Promise<void> {
  const identity = createIdentity()
  const names = await readdir(git_dir).catch(() => [])
  for (const folder of names.filter((name) => name.startsWith(PREFIX)).map((name) => join(git_dir, name))) {
    const owner = await readFile(join(folder, OWNER), 'utf8').catch(() => '')
    const changed = await stat(folder).then(
      (stats) => stats.mtimeMs,
      () => Number.POSITIVE_INFINITY,
    )
    const isAbandoned = identity.isAlive(owner) === false || changed < Date.now() - ABANDONED_MS
    if (isAbandoned) await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}

/** `:before after id id status`, then the path. */
function readDifferences(text: string): Entry[] {
  const fields = text.split('\0')
  const entries: Entry[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [before = '', after = '', from = '', to = ''] = (fields[i] ?? '').slice(1).split(' ')
    entries.push({ path: fields[i + 1] ?? '', before: { mode: before, id: from }, after: { mode: after, id: to } })
  }
  return entries
}

/** `mode id stage`, a tab, the path. */
function readStages(text: string): Entry[] {
  return text
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const tab = line.indexOf('\t')
      const [mode = '', id = ''] = line.slice(0, tab).split(' ')
      return { path: line.slice(tab + 1), before: { mode: NOT_THERE, id: '0'.repeat(id.length) }, after: { mode, id } }
    })
}

/** Objects are named by what is in them: one that is there already is the same. A pack comes before its index. */
async function moveFiles(from: string, to: string): Promise<void> {
  const files = await readdir(from, { recursive: true, withFileTypes: true })
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
  paths.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))
  for (const path of paths) {
    const target = join(to, path.slice(from.length))
    await mkdir(dirname(target), { recursive: true })
    await rename(path, target)
  }
}
