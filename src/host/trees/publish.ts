import { join } from 'node:path'
import type { TreeResult } from '../host.js'
import { fault } from '../paths.js'
import { isFiltered } from './filtered.js'
import { givePacks } from './packs.js'
import { asTreeFault, branchOf, MAX_LIST, type Person, type Private, refOf } from './private.js'
import { commitOf, isCheckedOut, isWithin } from './refs.js'
import { makeScratch } from './scratch.js'

export async function publish(
  own: Private,
  run_id: string,
  name: string,
): Promise<TreeResult<{ branch: string; published: boolean }>> {
  const branch = branchOf(run_id, name)
  const ref = refOf(run_id, name)
  const ours = await commitOf(own.git(), ref)
  if (!ours.ok) return ours
  if (ours.commit === null) return fault('missing', `there is no branch ${branch} any more`)
  const { person } = own
  if (person === null) return { ok: true, branch, published: false }
  const kept = await isFiltered(own, person, run_id, ours.commit)
  if (!kept.ok) return kept
  if (kept.filtered) return { ok: true, branch, published: false }
  const theirs = await commitOf(person.git, ref)
  if (!theirs.ok) return theirs
  if (theirs.commit === ours.commit) return { ok: true, branch, published: true }
  if (theirs.commit !== null) {
    if (!(await isWithin(own, theirs.commit, ours.commit))) {
      return fault('changed', `the branch ${branch} has commits that the run did not make, so it stays where it is`)
    }
    if (await isCheckedOut(own, ref)) {
      return fault('changed', `the branch ${branch} is checked out; switch to another one first`)
    }
  }
  const given = await giveObjects(own, person, ours.commit)
  if (!given.ok) return given
  const before = theirs.commit ?? '0'.repeat(ours.commit.length)
  const moved = await person.git.run(['update-ref', '-m', 'retinue: kept', ref, ours.commit, before])
  return moved.ok ? { ok: true, branch, published: true } : asTreeFault(moved)
}

/**
 * Gives the person's repository what it lacks of a commit, as a pack that is written here and is whole before it has a
 * name there. git itself is not run in their repository for it.
 */
async function giveObjects(own: Private, person: Person, commit: string): Promise<TreeResult<object>> {
  const scratch = await makeScratch(own)
  try {
    const head = await commitOf(person.git, 'HEAD')
    if (!head.ok) return head
    // What the person has is here by way of the alternates, and `--local` leaves that out.
    const wanted = [commit, ...(head.commit === null ? [] : [`^${head.commit}`])]
    const packed = await own
      .git()
      .run(['pack-objects', '--revs', '--local', '--non-empty', '--quiet', join(scratch.folder, 'pack')], {
        stdin: wanted.map((line) => `${line}\n`).join(''),
        max_output: MAX_LIST,
      })
    if (!packed.ok) return asTreeFault(packed)
    await givePacks(scratch.folder, join(person.objects, 'pack'))
    return { ok: true }
  } catch (error) {
    return fault('failed', `${person.objects} cannot be written: ${(error as Error).message}`)
  } finally {
    await scratch.remove()
  }
}
