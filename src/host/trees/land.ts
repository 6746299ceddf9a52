import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isProtected } from '../../domain/index.js'
import { LITERAL } from '../git-command.js'
import { holdFor } from '../held.js'
import type { Fault, TreeFault, TreeResult, Trees } from '../host.js'
import { SUBMODULE } from '../modes.js'
import { FaultError, fault } from '../paths.js'
import { bring, makeReady, type Step, standingInTheWay, stillToDo } from './bring.js'
import { captureFolder } from './capture.js'
import { commitTree } from './commit-tree.js'
import { differences, type TreeEntry } from './entries.js'
import { recover } from './exchange.js'
import { merge } from './merge.js'
import { type HeldRoot, holdFolder, lookAt, type OnDisk } from './on-disk.js'
import { asTreeFault, type Private } from './private.js'
import { makeScratch } from './scratch.js'

type What = Parameters<Trees['land']>[0]
type Refusal = Fault<TreeFault> & { paths?: string[]; brought?: string[] }

/** What is written into the commits that a landing needs for itself and nobody keeps. */
const AUTHOR = { name: 'Retinue', email: 'retinue@localhost' }

/** `ground`: the person's folder, the top of the tree. */
export async function land(
  own: Private,
  what: What,
  ground: HeldRoot = { root: own.top, hold: holdFor(process.platform) },
): Promise<TreeResult<{ paths: string[] }>> {
  return own.machine.locks.run(`land ${own.top}`, async () => {
    try {
      return await landNow(own, what, ground)
    } catch (error) {
      if (error instanceof FaultError) return fault('failed', error.fault.message)
      const { code, path, message } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      return fault('failed', `nothing more can be brought into ${own.top}: ${path ?? ''} ${message}`)
    }
  })
}

async function landNow(own: Private, what: What, ground: HeldRoot): Promise<TreeResult<{ paths: string[] }>> {
  const wanted = await differences(own, what.base, what.to)
  if (!wanted.ok) return wanted
  const refused = refusal(wanted.entries) ?? recoverAll(ground, wanted.entries)
  if (refused) return refused

  // What is looked at before and after the capture, and is the same, is what the capture has.
  const seen = await look(ground, wanted.entries, new Map())
  const captured = await captureFolder(own)
  if (!captured.ok) return captured
  const target = what.exactly
    ? await exactTarget(own, ground, what, captured.commit)
    : await mergedTarget(own, what, captured.tree)
  if (!target.ok) return target
  const plan = await differences(own, captured.commit, target.commit)
  if (!plan.ok) return plan
  const unfit = refusal(plan.entries)
  if (unfit) return unfit
  const known = seen.size
  await look(ground, plan.entries, seen)
  if (seen.size > known) {
    const again = await captureFolder(own)
    if (!again.ok) return again
    const moved = await differences(own, captured.commit, again.commit)
    if (!moved.ok) return moved
    if (moved.entries.length > 0) return changed(moved.entries.map(({ path }) => path))
  }
  return bringAll(
    own,
    ground,
    { plan: plan.entries, seen, target: target.commit },
    what.exactly ? wanted.entries : null,
  )
}

async function bringAll(
  own: Private,
  ground: HeldRoot,
  { plan, seen, target }: { plan: TreeEntry[]; seen: ReadonlyMap<string, OnDisk>; target: string },
  all: TreeEntry[] | null,
): Promise<TreeResult<{ paths: string[] }>> {
  const scratch = await makeScratch(own)
  try {
    const prepared = await checkOut(own, scratch.folder, { plan, seen, target })
    if (!prepared.ok) return prepared
    const steps = stillToDo(prepared.steps)
    // What is there and not in the capture is ignored by git, and nobody else has it.
    const without = new Set(plan.filter(({ before }) => before === null).map(({ path }) => path))
    const ignored = steps.filter(
      ({ path, before: { kind } }) => without.has(path) && (kind === 'file' || kind === 'link'),
    )
    if (ignored.length > 0) return changed(ignored.map(({ path }) => path))
    await makeReady(steps)
    const inTheWay = await standingInTheWay(ground, steps)
    if (inTheWay.length > 0) return changed(inTheWay)
    const { brought, stopped_at } = await bring(ground, steps)
    if (stopped_at !== null) return halfWay(steps, brought, stopped_at)
    return { ok: true, paths: (all ?? plan).map(({ path }) => path).sort() }
  } finally {
    await scratch.remove()
  }
}

async function look(ground: HeldRoot, entries: readonly TreeEntry[], seen: Map<string, OnDisk>) {
  for (const { path } of entries) if (!seen.has(path)) seen.set(path, await lookAt(ground, path))
  return seen
}

async function exactTarget(
  own: Private,
  ground: HeldRoot,
  { base, to, again }: What,
  captured: string,
): Promise<TreeResult<{ commit: string }>> {
  const moved = await differences(own, base, captured)
  if (!moved.ok) return moved
  let entries = moved.entries
  let brought: string[] = []
  if (again && entries.length > 0) {
    const missing = await differences(own, captured, to)
    if (!missing.ok) return missing
    const open = new Set(missing.entries.map(({ path }) => path))
    brought = entries.filter(({ path }) => !open.has(path)).map(({ path }) => path)
    const stays: TreeEntry[] = []
    for (const entry of entries.filter(({ path }) => open.has(path))) {
      // A `.gitignore` that was brought already hides it from the capture. It is compared with what is to be there.
      const { kind } = entry.after === null ? await lookAt(ground, entry.path) : { kind: null }
      if (kind !== 'file' && kind !== 'link') stays.push(entry)
    }
    entries = stays
  }
  if (entries.length === 0) return { ok: true, commit: to }
  const refused = changed(entries.map(({ path }) => path))
  return brought.length > 0 ? { ...refused, brought } : refused
}

async function mergedTarget(
  own: Private,
  { base, to }: What,
  captured: string,
): Promise<TreeResult<{ commit: string }>> {
  const note = { message: 'landing', author: AUTHOR, at: Date.now() }
  // As a child of the base it has the base for its merge base, wherever HEAD has gone meanwhile.
  const made = await commitTree(own, captured, [base], note)
  if (!made.ok) return made
  const merged = await merge(own, made.commit, to, note)
  if (merged.ok) return merged
  if (merged.code !== 'conflict') return merged
  const paths = merged.paths ?? []
  return {
    ...fault('conflict', `what the run changed and what is in the folder now do not go together: ${list(paths)}`),
    paths,
  }
}

/** As git would check them out by the attributes that are valid then, each in a place of its own. */
async function checkOut(
  own: Private,
  folder: string,
  { plan, seen, target }: { plan: TreeEntry[]; seen: ReadonlyMap<string, OnDisk>; target: string },
): Promise<TreeResult<{ steps: Step[] }>> {
  const root = join(folder, 'files')
  await mkdir(root)
  const git = own.git({ work_tree: root, index: join(folder, 'index') })
  const coming = plan.filter(({ after }) => after !== null)
  if (coming.length > 0) {
    const based = await git.run(['read-tree', '--no-sparse-checkout', target])
    if (!based.ok) return asTreeFault(based)
    const stdin = coming.map(({ path }) => `${path}\0`).join('')
    const out = await git.run(['checkout-index', '-z', '--stdin'], { stdin, env: LITERAL })
    if (!out.ok) return asTreeFault(out)
  }
  const steps: Step[] = []
  for (const { path, before, after } of plan) {
    const there = seen.get(path) ?? { kind: 'absent' }
    const what = await lookAt({ root, hold: holdFor(process.platform) }, path)
    if (after !== null && what.kind !== 'file' && what.kind !== 'link') {
      return fault('failed', `git did not check out ${JSON.stringify(path)}`)
    }
    const executable = before?.mode === after?.mode ? null : after?.mode === '100755'
    const source = after === null ? null : join(root, path)
    steps.push({ path, before: there, source, after: what, executable })
  }
  return { ok: true, steps }
}

/** Paths that nothing is ever brought to, whatever made them come up. */
function refusal(entries: readonly TreeEntry[]): Refusal | null {
  const submodules = entries.filter(({ before, after }) => before?.mode === SUBMODULE || after?.mode === SUBMODULE)
  if (submodules.length > 0) {
    const paths = submodules.map(({ path }) => path)
    return { ...fault('failed', `repositories below (submodules) are not brought over: ${list(paths)}`), paths }
  }
  const wrong = entries.map(({ path }) => path).filter((path) => !isLandable(path))
  if (wrong.length === 0) return null
  return { ...fault('failed', `these are not brought into the folder: ${list(wrong)}`), paths: wrong }
}

function isLandable(path: string): boolean {
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) return false
  // Bytes that are no UTF-8 have become this, so the name is not known.
  if (path.includes('\uFFFD')) return false
  // Below any folder only names of git and Retinue are protected; at the top the configuration would be as well, but
  // here that is a file like others.
  return !isProtected(`below/${path}`)
}

/** What is left by a process that was killed while it exchanged one of them. */
function recoverAll(ground: HeldRoot, entries: readonly TreeEntry[]): Refusal | null {
  const left: string[] = []
  for (const { path } of entries) {
    const folder = holdFolder(ground, dirname(path), false)
    if (folder === null) continue
    try {
      const name = recover(folder, basename(path))
      if (name !== null) left.push(join(dirname(path), name))
    } finally {
      folder.close()
    }
  }
  if (left.length === 0) return null
  return {
    ...fault(
      'changed',
      `files were saved while a landing was stopped; look at what is in these, and remove them: ${list(left)}`,
    ),
    paths: left,
    brought: left,
  }
}

function changed(paths: string[]): Refusal {
  const sorted = [...new Set(paths)].sort()
  return {
    ...fault('changed', `nothing was brought over, since these are not as they were: ${list(sorted)}`),
    paths: sorted,
  }
}

function halfWay(steps: readonly Step[], brought: readonly string[], stopped_at: string): Refusal {
  const done = new Set(brought)
  const open = steps.map(({ path }) => path).filter((path) => !done.has(path))
  const so_far = brought.length === 0 ? 'nothing was brought over' : `brought over: ${list(brought)}`
  const message = `${JSON.stringify(stopped_at)} was changed during the landing, which stopped there. ${so_far}; not brought over: ${list(open)}`
  return { ...fault('changed', message), paths: [stopped_at], brought: [...brought] }
}

const SHOWN = 20

function list(paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN).map((path) => JSON.stringify(path))
  return `${shown.join(', ')}${paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''}`
}
