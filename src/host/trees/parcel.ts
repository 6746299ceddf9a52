import { readdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { GitCommand } from '../git-command.js'
import { checkFiles } from '../git-objects.js'
import type { CommitCheck, Parcel, TreeResult } from '../host.js'
import { SUBMODULE } from '../modes.js'
import { fault } from '../paths.js'
import { isFiltered } from './filtered.js'
import { givePacks } from './packs.js'
import { asTreeFault, MAX_LIST, type Person, type Private, refOf } from './private.js'
import { makeScratch } from './scratch.js'

/** One that is larger does not fit into a row of a database, nor through a network in any sensible time. */
const MOST_BYTES = 256 * 1024 * 1024

/** What every clone of the same origin has, or can get there, need not be carried. */
export async function packBase(
  own: Private,
  run_id: string,
  commit: string,
  check: CommitCheck,
): Promise<TreeResult<Parcel>> {
  if (own.person === null) return pack(own, commit, [], check)
  const kept = await isFiltered(own, own.person, run_id, commit)
  if (!kept.ok) return kept
  // As they are on the disk they may be what a filter is there to hide.
  if (kept.filtered)
    return fault('failed', 'the folder has files that git filters, and these are not carried elsewhere')
  const listed = await own.git().run(['ls-tree', '-r', commit], { max_output: MAX_LIST })
  if (!listed.ok) return asTreeFault(listed)
  if (listed.stdout.split('\n').some((line) => line.startsWith(`${SUBMODULE} `)))
    return fault('failed', 'the repository has submodules, and these are not carried elsewhere')
  const known = await atOrigin(own, own.person)
  return known.ok ? pack(own, commit, known.commits, check) : known
}

/** What other clones can get: branches of the origin that are known here, but for those that it has no more. */
async function atOrigin(own: Private, person: Person): Promise<TreeResult<{ commits: string[] }>> {
  const format = '--format=%(objectname) %(refname:lstrip=3)'
  const tracked = await own.person?.git.run(['for-each-ref', format, 'refs/remotes/origin/'], { max_output: MAX_LIST })
  if (!tracked?.ok) return tracked ? asTreeFault(tracked) : { ok: true, commits: [] }
  const refs = tracked.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
  if (refs.length === 0) return { ok: true, commits: [] }
  const asked = await remoteGit(own, person, ASKING_MS).run(
    [...PROTOCOLS, 'ls-remote', '--quiet', '--heads', 'origin'],
    { env: surroundings(), max_output: MAX_LIST },
  )
  // Where it cannot be asked now, what was there when it last could counts.
  const names = asked.ok ? new Set(asked.stdout.split('\n').map((line) => line.split('\trefs/heads/')[1])) : null
  const there = refs.filter(([, name]) => names === null || names.has(name))
  return { ok: true, commits: [...new Set(there.flatMap(([commit]) => commit ?? []))] }
}

export async function pack(
  own: Private,
  commit: string,
  known: readonly string[],
  check: CommitCheck,
): Promise<TreeResult<Parcel>> {
  const revisions = [commit, ...known.map((one) => `^${one}`)].map((line) => `${line}\n`).join('')
  const reached = await own.git().run(['rev-list', '--boundary', '--stdin'], { stdin: revisions, max_output: MAX_LIST })
  if (!reached.ok) return asTreeFault(reached)
  const lines = reached.stdout.split('\n').filter(Boolean)
  const isNew = lines.some((line) => !line.startsWith('-'))
  if (!isNew) return { ok: true, bytes: null, needs: [commit] }
  const needs = lines.filter((line) => line.startsWith('-')).map((line) => line.slice(1))
  const wrong = await checked(own, revisions, check)
  if (wrong) return wrong
  const scratch = await makeScratch(own)
  try {
    const packed = await own
      .git()
      .run(['pack-objects', '--revs', '--non-empty', '--quiet', join(scratch.folder, 'pack')], { stdin: revisions })
    if (!packed.ok) return asTreeFault(packed)
    const name = (await readdir(scratch.folder)).find((one) => one.endsWith('.pack'))
    if (name === undefined) return { ok: true, bytes: null, needs: [commit] }
    const bytes = await readFile(join(scratch.folder, name))
    if (bytes.length <= MOST_BYTES) return { ok: true, bytes, needs }
    const size = `${Math.ceil(bytes.length / 1024 / 1024)} MiB`
    return fault('too_much', `${size} would have to be carried, and ${MOST_BYTES / 1024 / 1024} MiB is the most`)
  } catch (error) {
    return fault('failed', `what was written cannot be packed: ${(error as Error).message}`)
  } finally {
    await scratch.remove()
  }
}

/** Files with something in them that must not leave this machine. */
async function checked(own: Private, revisions: string, check: CommitCheck) {
  const listed = await own.git().run(['rev-list', '--objects', '--stdin'], { stdin: revisions, max_output: MAX_LIST })
  if (!listed.ok) return asTreeFault(listed)
  // `id path` for files and folders; commits have no path.
  const named = listed.stdout.split('\n').flatMap((line) => {
    const space = line.indexOf(' ')
    return space > 0 && space < line.length - 1 ? [{ id: line.slice(0, space), path: line.slice(space + 1) }] : []
  })
  const found = await checkFiles(own.git(), named, check)
  if (!found.ok) return asTreeFault(found)
  return found.wrong.length === 0 ? null : fault('failed', `it is not carried elsewhere: ${found.wrong.join('; ')}`)
}

/** Takes in what was packed elsewhere. `name`: the same for the same bytes. */
export async function unpack(own: Private, name: string, bytes: Uint8Array): Promise<TreeResult<object>> {
  const scratch = await makeScratch(own)
  try {
    const file = join(scratch.folder, `pack-${name.replace(/[^0-9a-z]/gi, '')}.pack`)
    await writeFile(file, bytes)
    const indexed = await own.git().run(['index-pack', file])
    if (!indexed.ok) return asTreeFault(indexed)
    await givePacks(scratch.folder, join(own.home, 'objects', 'pack'))
    return { ok: true }
  } catch (error) {
    return fault('failed', `what was carried cannot be unpacked: ${(error as Error).message}`)
  } finally {
    await scratch.remove()
  }
}

/** Those of these commits that are not here. */
export async function lacking(own: Private, commits: readonly string[]): Promise<TreeResult<{ commits: string[] }>> {
  if (commits.length === 0) return { ok: true, commits: [] }
  const stdin = commits.map((commit) => `${commit}^{commit}\n`).join('')
  const looked = await own.git().run(['cat-file', '--batch-check'], { stdin, max_output: MAX_LIST })
  if (!looked.ok) return asTreeFault(looked)
  const lines = looked.stdout.split('\n')
  return { ok: true, commits: commits.filter((_, i) => lines[i]?.endsWith(' missing') ?? true) }
}

/** What a fetch of the person's own would use. Programs as remotes stay out. */
const PROTOCOLS = ['https', 'http', 'ssh', 'git', 'file'].flatMap((name) => ['-c', `protocol.${name}.allow=always`])

const ASKING_MS = 15_000
const FETCHING_MS = 600_000
/** So long what a fetch that failed said stands for the next. */
const AGAIN_MS = 30_000

const failures = new WeakMap<Private['machine']['locks'], Map<string, { at: number; failed: TreeResult<object> }>>()

/** Brings the person's repository up to what its origin has. One process at a time, and not again and again in vain. */
export async function fetchRemotes(own: Private): Promise<TreeResult<object>> {
  const { person, machine } = own
  if (person === null) return { ok: true }
  const { locks } = machine
  const failed = failures.get(locks) ?? new Map<string, { at: number; failed: TreeResult<object> }>()
  failures.set(locks, failed)
  return locks.run(`fetch ${person.common_dir}`, async () => {
    const before = failed.get(person.common_dir)
    if (before && Date.now() - before.at < AGAIN_MS) return before.failed
    failed.delete(person.common_dir)
    const isShallow = (await readFile(person.shallow, 'utf8').catch(() => '')) !== ''
    const whole = isShallow ? ['--unshallow'] : []
    const args = [...PROTOCOLS, 'fetch', '--quiet', '--no-write-fetch-head', ...whole, 'origin']
    const fetched = await remoteGit(own, person, FETCHING_MS).run(args, { env: surroundings() })
    if (fetched.ok) return { ok: true }
    failed.set(person.common_dir, { at: Date.now(), failed: asTreeFault(fetched) })
    return asTreeFault(fetched)
  })
}

/** git as the person would use it to speak to a remote: what they have set up in their home has a say. */
function remoteGit({ machine, top }: Private, { git_dir }: Person, timeout_ms: number): GitCommand {
  return new GitCommand(machine, top, { git_dir, work_tree: top, timeout_ms })
}

function surroundings(): Record<string, string> {
  const { SSH_AUTH_SOCK } = process.env
  return { HOME: homedir(), GIT_TERMINAL_PROMPT: '0', ...(SSH_AUTH_SOCK ? { SSH_AUTH_SOCK } : {}) }
}

/** Gives what was carried here the name that it would have, had it been made here. */
export async function receive(own: Private, run_id: string, name: string, commit: string): Promise<TreeResult<object>> {
  const made = await own.git().run(['update-ref', refOf(run_id, name), commit])
  return made.ok ? { ok: true } : asTreeFault(made)
}
