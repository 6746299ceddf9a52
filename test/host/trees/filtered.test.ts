import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { capture } from '../../../src/host/trees/capture.js'
import { publish } from '../../../src/host/trees/publish.js'
import { forget, remember } from '../../../src/host/trees/remember.js'
import { removeRun, tidy } from '../../../src/host/trees/remove.js'
import { add } from '../../../src/host/trees/worktree.js'
import { git, initRepository, put, temporaryFolders } from '../helpers.js'
import { good, note, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()
const SECRET = 'the plain text of a secret\n'
const MARK = 'refs/retinue/r1/private'

/** A repository in which a filter makes something else of files in `safe`, as one that encrypts them would. */
function filtering(files: Record<string, string>): string {
  const root = temporaryFolder()
  git(root, 'init', '-q')
  git(root, 'config', 'filter.crypt.clean', 'tr a-z n-za-m')
  git(root, 'config', 'filter.crypt.smudge', 'tr a-z n-za-m')
  git(root, 'config', 'filter.crypt.required', 'true')
  put(root, { '.gitattributes': 'safe/** filter=crypt\n', 'a.txt': 'one\n', ...files })
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'first')
  return root
}

/** Whether any object of the person's repository has the secret in it, whatever refers to it. */
function isInRepository(root: string): boolean {
  const all = git(root, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)')
  const blobs = all.split('\n').filter((line) => line.endsWith(' blob'))
  return blobs.some((line) => git(root, 'cat-file', 'blob', line.split(' ')[0] as string).includes(SECRET))
}

const branches = (root: string) => git(root, 'for-each-ref', '--format=%(refname)', 'refs/heads/retinue').trim()

it('what a filter keeps out of the person’s repository is not published, and that is said', async () => {
  const root = filtering({ 'safe/key': SECRET })
  expect(isInRepository(root)).toBe(false)
  const own = await openTrees(root)
  const { commit, notes } = await good(capture(own, 'r1'))
  expect(notes).toEqual([
    'files under the filter crypt are in the trees as they are on disk: safe/key; branches of this run stay in .retinue',
  ])
  const { tree } = await good(add(own, 'r1', 'a1', commit))
  put(tree.top, { 'a.txt': 'two\n', '.gitattributes': '' })
  const { commit: to } = await good(tree.snapshot(note('work')))
  // Whatever becomes of the attributes meanwhile.
  put(root, { '.gitattributes': '' })
  expect(await publish(own, 'r1', 'a1')).toEqual({ ok: true, branch: 'retinue/r1/a1', published: false })
  expect(branches(root)).toBe('')
  expect(isInRepository(root)).toBe(false)
  // It is in the private one, where it can be applied from.
  expect((await good(own.git().run(['show', `${to}:safe/key`]))).stdout).toBe(SECRET)
})

it('a file that no filter is for is published, also where filters are configured', async () => {
  const root = filtering({})
  put(root, { 'plain/key': SECRET })
  const own = await openTrees(root)
  expect((await good(capture(own, 'r1'))).notes).toEqual([])
  const { to } = await work(own, 'r1', 'a1', (top) => put(top, { 'a.txt': 'two\n' }))
  expect(await publish(own, 'r1', 'a1')).toEqual({ ok: true, branch: 'retinue/r1/a1', published: true })
  expect(git(root, 'rev-parse', 'refs/heads/retinue/r1/a1').trim()).toBe(to)
  expect(isInRepository(root)).toBe(true)
})

it('a filter that leaves a file as it is, or is not configured, keeps nothing back', async () => {
  const root = temporaryFolder()
  initRepository(root, { '.gitattributes': 'safe/** filter=same\nother/** filter=none\n', 'safe/x': 'x\n' })
  git(root, 'config', 'filter.same.clean', 'cat')
  put(root, { 'other/y': 'y\n' })
  const own = await openTrees(root)
  expect((await good(capture(own, 'r1'))).notes).toEqual([])
  await work(own, 'r1', 'a1', (top) => put(top, { 'other/y': 'z\n' }))
  expect(await publish(own, 'r1', 'a1')).toMatchObject({ published: true })
})

it('names five files of a filter at most, new ones too, in a repository without a commit as well', async () => {
  const root = temporaryFolder()
  git(root, 'init', '-q')
  git(root, 'config', 'filter.crypt.clean', 'tr a-z n-za-m')
  put(root, { '.gitattributes': '*.key filter=crypt\n' })
  for (let n = 1; n <= 7; n++) put(root, { [`${n}.key`]: 'x\n' })
  expect((await good(capture(await openTrees(root), 'r1'))).notes).toEqual([
    'files under the filter crypt are in the trees as they are on disk: 1.key, 2.key, 3.key, 4.key, 5.key and 2 more; ' +
      'branches of this run stay in .retinue',
  ])
})

it.each([
  ['where the person’s attributes say so', (top: string) => put(top, { 'safe/new': SECRET })],
  ['with its attributes emptied', (top: string) => put(top, { 'safe/new': SECRET, '.gitattributes': '' })],
  ['by its own attributes', (top: string) => put(top, { new: SECRET, '.gitattributes': 'new filter=crypt\n' })],
])('what an agent writes under a filter is not published: %s', async (_, write) => {
  const root = filtering({})
  const own = await openTrees(root)
  const { tree } = await work(own, 'r1', 'a1', write)
  // Also when it is gone again: a commit has it.
  put(tree.top, { 'a.txt': 'more\n' })
  for (const path of ['safe/new', 'new']) rmSync(join(tree.top, path), { force: true })
  await good(tree.snapshot(note('without it')))
  expect(await publish(own, 'r1', 'a1')).toMatchObject({ ok: true, published: false })
  expect(branches(root)).toBe('')
  expect(isInRepository(root)).toBe(false)
})

it('the mark of a run goes with the run', async () => {
  const root = filtering({ 'safe/key': SECRET })
  const own = await openTrees(root)
  const isMarked = () => existsSync(join(own.home, MARK))
  const { base, to } = await work(own, 'r1', 'a1', () => {})
  expect(isMarked()).toBe(true)
  await good(remember(own, 'r1', { base, result: to }))
  await good(forget(own, 'r1'))
  // There is a branch still.
  expect(isMarked()).toBe(true)
  await good(removeRun(own, 'r1'))
  expect(isMarked()).toBe(false)
  expect(await tidy(own)).toEqual({ ok: true, runs: [] })
})
