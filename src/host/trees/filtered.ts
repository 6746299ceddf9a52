import { join } from 'node:path'
import type { GitCommand } from '../git-command.js'
import type { TreeResult } from '../host.js'
import { SUBMODULE } from '../modes.js'
import { differences } from './entries.js'
import { asTreeFault, MAX_LIST, type Person, type Private } from './private.js'
import { commitOf, hidden } from './refs.js'
import { makeScratch } from './scratch.js'

/*
 * No filter is run here, so trees have files as they are on disk where the person's own commits have what a filter made
 * of them: plain text instead of an encrypted file, a large file instead of a pointer to it. None of that may get into
 * the person's repository, from which it could be pushed.
 */

type Captured = { commit: string; head: string | null; tree: string; filters: readonly string[] }
type Filtered = { path: string; filter: string }

/** Remembers of a run that it begins with such files, and says so. */
export async function markFiltered(
  own: Private,
  run_id: string,
  { commit, head, tree, filters }: Captured,
): Promise<TreeResult<{ notes: string[] }>> {
  if (filters.length === 0 || commit === head) return { ok: true, notes: [] }
  const empty = head === null ? await own.git().run(['mktree']) : null
  if (empty && !empty.ok) return asTreeFault(empty)
  const changed = await differences(own, head ?? empty?.stdout.trim() ?? '', tree)
  if (!changed.ok) return changed
  const files = changed.entries.filter(({ after }) => after !== null && after.mode !== SUBMODULE)
  const paths = files.map(({ path }) => path)
  const among = await filteredAmong(own.git({ work_tree: own.top }), paths, filters)
  if (!among.ok) return among
  if (among.filtered.length === 0) return { ok: true, notes: [] }
  const marked = await own.git().run(['update-ref', hidden(run_id, 'private'), commit])
  return marked.ok ? { ok: true, notes: notesOn(among.filtered) } : asTreeFault(marked)
}

const SHOWN = 5

function notesOn(filtered: readonly Filtered[]): string[] {
  return [...new Set(filtered.map(({ filter }) => filter))].sort().map((name) => {
    const paths = filtered.filter(({ filter }) => filter === name).map(({ path }) => path)
    const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
    const shown = `${paths.slice(0, SHOWN).join(', ')}${more}`
    return `files under the filter ${name} are in the trees as they are on disk: ${shown}; branches of this run stay in .retinue`
  })
}

/** Whether a commit of a run has such files, from the beginning or by what agents wrote. */
export async function isFiltered(
  own: Private,
  person: Person,
  run_id: string,
  commit: string,
): Promise<TreeResult<{ filtered: boolean }>> {
  const marked = await commitOf(own.git(), hidden(run_id, 'private'))
  if (!marked.ok) return marked
  if (marked.commit !== null) return { ok: true, filtered: true }
  const configured = await own.configure()
  if (!configured.ok) return configured
  if (configured.filters.length === 0) return { ok: true, filtered: false }
  const written = await writtenUpTo(own, person, run_id, commit)
  if (!written.ok || written.paths.length === 0) return written.ok ? { ok: true, filtered: false } : written

  const scratch = await makeScratch(own)
  try {
    const git = own.git({ work_tree: own.top, index: join(scratch.folder, 'index') })
    const read = await git.run(['read-tree', commit])
    if (!read.ok) return asTreeFault(read)
    // By the attributes that the person has, whatever an agent made of them, and by those that it added.
    for (const where of [[], ['--cached']]) {
      const among = await filteredAmong(git, written.paths, configured.filters, where)
      if (!among.ok) return among
      if (among.filtered.length > 0) return { ok: true, filtered: true }
    }
    return { ok: true, filtered: false }
  } finally {
    await scratch.remove()
  }
}

/** Paths of all files in all commits that the person does not have. */
async function writtenUpTo(
  own: Private,
  person: Person,
  run_id: string,
  commit: string,
): Promise<TreeResult<{ paths: string[] }>> {
  const theirs = await Promise.all(['HEAD', hidden(run_id, 'base')].map((ref) => commitOf(person.git, ref)))
  const known: string[] = []
  for (const one of theirs) {
    if (!one.ok) return one
    if (one.commit !== null) known.push(`^${one.commit}`)
  }
  const args = ['log', '-m', '-z', '--format=', '--name-only', '--no-renames', '--diff-filter=d']
  const logged = await own.git().run([...args, commit, ...known, '--'], { max_output: MAX_LIST })
  if (!logged.ok) return asTreeFault(logged)
  if (!logged.whole) return { ok: false, code: 'failed', message: 'there are too many changes to read them' }
  return { ok: true, paths: [...new Set(logged.stdout.split('\0').filter(Boolean))] }
}

async function filteredAmong(
  git: GitCommand,
  paths: readonly string[],
  filters: readonly string[],
  where: readonly string[] = [],
): Promise<TreeResult<{ filtered: Filtered[] }>> {
  if (paths.length === 0) return { ok: true, filtered: [] }
  const stdin = paths.map((path) => `${path}\0`).join('')
  const asked = await git.run(['check-attr', ...where, '-z', '--stdin', 'filter'], { stdin, max_output: MAX_LIST })
  if (!asked.ok) return asTreeFault(asked)
  // The path, the attribute and its value, for each.
  const fields = asked.stdout.split('\0')
  const configured = new Set(filters)
  const filtered: Filtered[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', , filter = ''] = fields.slice(at, at + 3)
    if (configured.has(filter)) filtered.push({ path, filter })
  }
  if ((fields.length - 1) / 3 !== paths.length) {
    return { ok: false, code: 'failed', message: 'git did not say of all files whether they are filtered' }
  }
  return { ok: true, filtered }
}
