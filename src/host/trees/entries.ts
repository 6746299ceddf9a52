import type { TreeResult } from '../host.js'
import { NOT_THERE } from '../modes.js'
import { fault } from '../paths.js'
import { missing } from './merge.js'
import { MAX_LIST, type Private } from './private.js'

export type Version = { mode: string; id: string }
/** A path at which two trees differ. null: it is not there. */
export type TreeEntry = { path: string; before: Version | null; after: Version | null }

/** All of them, or a fault: what is let in, and what is brought to a person, rests on this list. */
export async function differences(
  own: Private,
  from: string,
  to: string,
  max_output = MAX_LIST,
): Promise<TreeResult<{ entries: TreeEntry[] }>> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-commit-id']
  const run = await own.git().run([...args, '--end-of-options', from, to], { max_output })
  if (!run.ok) return missing(run)
  if (!run.whole) return fault('failed', 'there are too many changes to read them')
  return { ok: true, entries: read(run.stdout) }
}

/** `:mode mode id id status`, then the path. A mode of zeros: not there. */
function read(text: string): TreeEntry[] {
  const fields = text.split('\0')
  const entries: TreeEntry[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [before = '', after = '', from = '', to = ''] = (fields[at] ?? '').slice(1).split(' ')
    entries.push({ path: fields[at + 1] ?? '', before: version(before, from), after: version(after, to) })
  }
  return entries
}

const version = (mode: string, id: string): Version | null => (mode === NOT_THERE ? null : { mode, id })
