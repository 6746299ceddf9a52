import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { publish } from '../../../src/host/trees/publish.js'
import { forget, recall, remember } from '../../../src/host/trees/remember.js'
import { remove, removeRun } from '../../../src/host/trees/remove.js'
import { git, initRepository, put, temporaryFolders } from '../helpers.js'
import { good, note, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()
const REF = 'refs/heads/retinue/r1/a1'

async function worked() {
  const root = temporaryFolder()
  initRepository(root)
  put(root, { 'dirty.txt': 'not committed\n' })
  const own = await openTrees(root)
  const { to, base, tree } = await work(own, 'r1', 'a1', (top) => put(top, { 'b/new.txt': 'new\n' }))
  return { root, own, base, to, tree }
}

const refs = (root: string) =>
  git(root, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/retinue').trim()

it('makes a branch visible in the person’s repository, with all its files and no hook run', async () => {
  const { root, own, to } = await worked()
  const hooks = join(root, '.git/hooks')
  mkdirSync(hooks, { recursive: true })
  for (const hook of ['reference-transaction', 'post-update', 'update']) {
    writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch '${root}/hook-ran'\n`)
    chmodSync(join(hooks, hook), 0o755)
  }
  const seen = { branch: 'retinue/r1/a1', published: true, ok: true }
  expect(await publish(own, 'r1', 'a1')).toEqual(seen)
  expect(await publish(own, 'r1', 'a1')).toEqual(seen)
  expect(refs(root)).toBe(`${to} ${REF}`)
  expect(existsSync(join(root, 'hook-ran'))).toBe(false)
  // By itself, without what is in the private repository.
  rmSync(join(root, '.retinue'), { recursive: true })
  expect(git(root, 'show', `${to}:b/new.txt`)).toBe('new\n')
  expect(git(root, 'show', `${to}:dirty.txt`)).toBe('not committed\n')
  expect(git(root, 'fsck', '--full', '--strict')).toBe('')
  expect(readdirSync(join(root, '.git/objects/pack')).filter((name) => name.startsWith('tmp_'))).toEqual([])
})

it('goes on where a process that was killed has stopped', async () => {
  const { root, own, to } = await worked()
  await good(publish(own, 'r1', 'a1'))
  const packs = join(root, '.git/objects/pack')
  // As if killed before the branch, before the index of the pack, and in the middle of writing it.
  git(root, 'update-ref', '-d', REF)
  for (const index of readdirSync(packs).filter((name) => name.endsWith('.idx'))) rmSync(join(packs, index))
  writeFileSync(join(packs, 'tmp_pack_half'), 'half')
  await good(publish(own, 'r1', 'a1'))
  expect(refs(root)).toBe(`${to} ${REF}`)
  expect(git(root, 'show', `${to}:b/new.txt`)).toBe('new\n')
})

it('moves its own branch on, and no other', async () => {
  const { root, own, tree } = await worked()
  await good(publish(own, 'r1', 'a1'))
  put(tree.top, { more: 'more\n' })
  const { commit } = await good(tree.snapshot(note('more')))
  await good(publish(own, 'r1', 'a1'))
  expect(refs(root)).toBe(`${commit} ${REF}`)

  const theirs = git(root, 'commit-tree', `${commit}^{tree}`, '-p', commit, '-m', 'by the person').trim()
  git(root, 'update-ref', REF, theirs)
  put(tree.top, { more: 'even more\n' })
  await good(tree.snapshot(note('even more')))
  expect(await publish(own, 'r1', 'a1')).toMatchObject({ ok: false, code: 'changed' })
  expect(refs(root)).toBe(`${theirs} ${REF}`)
  // Nor is it removed with ours.
  await good(remove(own, 'r1', 'a1'))
  expect(refs(root)).toBe(`${theirs} ${REF}`)
})

it('neither moves nor removes a branch that the person has checked out', async () => {
  const { root, own, tree, to } = await worked()
  await good(publish(own, 'r1', 'a1'))
  git(root, 'worktree', 'add', '-q', temporaryFolder(), 'retinue/r1/a1')
  put(tree.top, { more: 'more\n' })
  await good(tree.snapshot(note('more')))
  expect(await publish(own, 'r1', 'a1')).toMatchObject({ ok: false, code: 'changed' })
  await good(remove(own, 'r1', 'a1'))
  expect(refs(root)).toBe(`${to} ${REF}`)
})

it('has nothing to do without git, and says when there is no branch', async () => {
  const root = temporaryFolder()
  put(root, { 'a.txt': 'one\n' })
  const own = await openTrees(root)
  await work(own, 'r1', 'a1', () => {})
  expect(await publish(own, 'r1', 'a1')).toEqual({ ok: true, branch: 'retinue/r1/a1', published: false })
  expect(await publish(own, 'r1', 'a2')).toMatchObject({ ok: false, code: 'missing' })
  expect(existsSync(join(root, '.git'))).toBe(false)
})

it('removes a published branch with its own, from a repository whose refs are packed too', async () => {
  const { root, own } = await worked()
  await good(publish(own, 'r1', 'a1'))
  git(root, 'pack-refs', '--all')
  await good(remove(own, 'r1', 'a1'))
  expect(refs(root)).toBe('')
})

it('remembers where a run began and ended until it is told to forget', async () => {
  const { root, own, base, to } = await worked()
  const pin = () => git(root, 'for-each-ref', '--format=%(refname)', 'refs/retinue').trim()
  expect(await recall(own, 'r1')).toMatchObject({ ok: false, code: 'missing' })
  await good(remember(own, 'r1', { base, result: to }))
  await good(remember(own, 'r1', { base, result: to }))
  expect(pin()).toBe('refs/retinue/r1/base')
  await good(removeRun(own, 'r1'))
  expect(await recall(own, 'r1')).toEqual({ ok: true, base, result: to })
  expect(pin()).toBe('')
  await good(forget(own, 'r1'))
  await good(forget(own, 'r1'))
  expect(await recall(own, 'r1')).toMatchObject({ ok: false, code: 'missing' })
})
