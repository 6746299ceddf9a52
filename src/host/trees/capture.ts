import { randomUUID } from 'node:crypto'
import { copyFile, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Capture, TreeResult } from '../host.js'
import { fault } from '../paths.js'
import { commitTree } from './commit-tree.js'
import { markFiltered } from './filtered.js'
import { pipesIn } from './pipes.js'
import { asTreeFault, type Person, type Private } from './private.js'
import { hidden } from './refs.js'
import { stageAll } from './stage.js'

/** Where the index of a folder without git is kept, so that the next time only what changed is read. */
const KEPT = 'person.index'

const AUTHOR = { name: 'Retinue', email: 'retinue@localhost' }

/** What the person has now, kept for a run against being pruned. */
export async function capture(own: Private, run_id: string): Promise<TreeResult<Capture>> {
  const captured = await captureFolder(own)
  if (!captured.ok) return captured
  const { commit, head } = captured
  const marked = await markFiltered(own, run_id, captured)
  if (!marked.ok) return marked
  const notes = [...captured.notes, ...marked.notes]
  if (own.person && head !== null) {
    const pinned = await own.person.git.run([
      '-c',
      'core.logAllRefUpdates=false',
      'update-ref',
      hidden(run_id, 'base'),
      head,
    ])
    if (!pinned.ok) notes.push(`the commit this run starts from could not be kept from being pruned: ${pinned.message}`)
  }
  return { ok: true, commit, head, notes }
}

/** The same without keeping it. `tree` has the files of `commit`; `filters` are those the person has configured. */
export async function captureFolder(own: Private): Promise<TreeResult<Capture & { tree: string; filters: string[] }>> {
  const [configured, known] = await Promise.all([own.configure(), headOf(own.person)])
  if (!configured.ok) return configured
  if (!known.ok) return known
  const { head } = known
  const { filters } = configured
  const [pipe] = await pipesIn(own.top)
  if (pipe !== undefined) return fault('failed', `${pipe} is no file, and git would wait for it for ever: remove it`)
  const index = join(own.home, `capture-${randomUUID()}.index`)
  const git = own.git({ work_tree: own.top, index })
  try {
    const copied = await copyIndex(own.person?.index ?? join(own.home, KEPT), index)
    if (copied && own.person) await copyShared(own.person, own.home)
    const headTree = head === null ? null : own.git().run(['rev-parse', '--verify', `${head}^{tree}`])
    let staged = await stageAll(git, own.top, configured)
    if (!staged.ok && staged.code === 'failed' && copied) {
      // An index that is not to be understood here: what differs from the last commit is found by reading all files.
      await rm(index, { force: true })
      const read = head === null ? null : await git.run(['read-tree', head])
      if (read && !read.ok) return asTreeFault(read)
      staged = await stageAll(git, own.top, configured)
    }
    if (!staged.ok) return staged
    const { tree } = staged
    const notes = [...own.notes, ...notesOn(staged)]
    const before = await headTree
    if (before && !before.ok) return asTreeFault(before)
    if (own.person === null) await rename(index, join(own.home, KEPT)).catch(() => {})
    if (head !== null && before?.stdout.trim() === tree) return { ok: true, commit: head, head, tree, notes, filters }
    const made = await commitTree(own, tree, head === null ? [] : [head], {
      message: 'What was there when the run began\n',
      author: AUTHOR,
      at: Date.now(),
    })
    return made.ok ? { ok: true, commit: made.commit, head, tree, notes, filters } : made
  } catch (error) {
    return fault('failed', `${own.folder} cannot be captured: ${(error as Error).message}`)
  } finally {
    await rm(index, { force: true })
    await rm(`${index}.lock`, { force: true })
  }
}

function notesOn({ nested, submodules, left_out }: { nested: string[]; submodules: string[]; left_out: string[] }) {
  const insides = new Set(submodules.map((path) => `${path}/`))
  return [
    ...submodules.map((path) => `submodule ${path} is empty in worktrees`),
    ...nested.map((path) => `${path} is a repository of its own and is not in worktrees`),
    ...left_out
      .filter((path) => !insides.has(path))
      .map((path) => `${path} cannot be in worktrees because of its name`),
  ]
}

async function headOf(person: Person | null): Promise<TreeResult<{ head: string | null }>> {
  if (person === null) return { ok: true, head: null }
  const head = await person.git.run(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}'], { answers: [1] })
  return head.ok ? { ok: true, head: head.stdout.trim() || null } : asTreeFault(head)
}

/**
 * With its time, and no later: an entry that changed in the moment the index was written, and has the same size, is
 * found only because the index is not newer than it.
 */
async function copyIndex(from: string, to: string): Promise<boolean> {
  const before = await stat(from, { bigint: true }).catch(() => null)
  if (before === null) return false
  await copyFile(from, to)
  const seconds = (Number(before.mtimeNs / 1000n) - 1) / 1_000_000
  await utimes(to, seconds, seconds)
  return true
}

/** The larger half of an index that is split in two, which git looks for beside HEAD. */
async function copyShared({ index }: Person, home: string): Promise<void> {
  const folder = dirname(index)
  for (const name of await readdir(folder)) {
    if (name.startsWith('sharedindex.')) await copyFile(join(folder, name), join(home, basename(name)))
  }
}
