import { randomUUID } from 'node:crypto'
import { readObjects } from '../git-objects.js'
import type { TreeChange, TreeResult } from '../host.js'
import { SYMBOLIC_LINK } from '../modes.js'
import { fault } from '../paths.js'
import { differences, type TreeEntry } from './entries.js'
import { missing } from './merge.js'
import { MAX_LIST, type Private } from './private.js'

export async function changes(
  own: Private,
  from: string,
  to: string,
  max_output = MAX_LIST,
): Promise<TreeResult<{ changes: TreeChange[] }>> {
  const compared = await differences(own, from, to, max_output)
  if (!compared.ok) return compared
  const found = compared.entries.map(changeOf)
  const links = compared.entries.flatMap(({ after }, at) =>
    after?.mode === SYMBOLIC_LINK ? [{ change: found[at], id: after.id }] : [],
  )
  if (links.length === 0) return { ok: true, changes: found }
  const targets = await textsOf(
    own,
    links.map(({ id }) => id),
  )
  if (!targets.ok) return targets
  for (const [i, { change }] of links.entries()) if (change) change.link = targets.texts[i] ?? null
  return { ok: true, changes: found }
}

function changeOf({ path, before, after }: TreeEntry): TreeChange {
  const kind = before === null ? 'added' : after === null ? 'deleted' : 'modified'
  return { path, kind, mode_before: before?.mode ?? null, mode_after: after?.mode ?? null, link: null }
}

async function textsOf(own: Private, ids: readonly string[]): Promise<TreeResult<{ texts: string[] }>> {
  const texts: string[] = []
  const nonce = randomUUID()
  const reader = readObjects(nonce, {
    onObject: () => texts.push(''),
    onText: (text) => texts.push((texts.pop() ?? '') + text),
  })
  const stdin = ids.map((id) => `${id}\n`).join('')
  const read = await own.git().run(['cat-file', `--batch=${nonce}`], { stdin, onOutput: reader.push })
  if (!read.ok) return missing(read)
  reader.end()
  if (texts.length !== ids.length) return fault('failed', 'git did not say where all symbolic links lead to')
  // A line break follows each object.
  return { ok: true, texts: texts.map((text) => text.replace(/\n$/, '')) }
}

type Commit = { id: string; title: string; author: string }

export async function commits(own: Private, from: string, to: string): Promise<TreeResult<{ commits: Commit[] }>> {
  const args = ['log', '-z', '--reverse', '--topo-order', '--no-color', '--format=%H%n%an%n%s', `${from}..${to}`, '--']
  const logged = await own.git().run(args, { max_output: MAX_LIST })
  if (!logged.ok) return missing(logged)
  const found = logged.stdout.split('\0').filter(Boolean)
  return {
    ok: true,
    commits: found.map((line) => {
      const [id = '', author = '', title = ''] = line.trimEnd().split('\n')
      return { id, title, author }
    }),
  }
}

const DIFF = ['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--submodule=short']

export async function diff(
  own: Private,
  from: string,
  to: string,
  { stat = false }: { stat?: boolean } = {},
): Promise<TreeResult<{ text: string }>> {
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/']
  const args = ['diff', ...DIFF, ...prefixes, ...(stat ? ['--stat=120'] : []), from, to, '--']
  const compared = await own.git().run(args, { max_output: MAX_LIST })
  return compared.ok ? { ok: true, text: compared.stdout } : missing(compared)
}
