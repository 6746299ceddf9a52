import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createIdentity } from '../../../src/host/identity.js'
import { isCommitted, list } from '../../../src/host/trees/list.js'
import { remember } from '../../../src/host/trees/remember.js'
import { remove, removeRun, tidy } from '../../../src/host/trees/remove.js'
import { git, initRepository, put, temporaryFolders } from '../helpers.js'
import { good, note, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()

async function project(files?: Record<string, string>) {
  const root = temporaryFolder()
  initRepository(root, files)
  return { root, own: await openTrees(root) }
}

it('lists worktrees and branches of all runs', async () => {
  const { own } = await project()
  const one = await work(own, 'r1', 'a2.1', (top) => put(top, { x: 'x\n' }))
  const two = await work(own, 'r2', 'integration', () => {})
  await good(remove(own, 'r2', 'integration', { keep_branch: true }))
  expect(await list(own)).toEqual({
    ok: true,
    trees: [
      { run_id: 'r1', name: 'a2.1', branch: 'retinue/r1/a2.1', path: one.tree.top, commit: one.to, owner: null },
      { run_id: 'r2', name: 'integration', branch: 'retinue/r2/integration', path: null, commit: two.to, owner: null },
    ],
  })
  await good(remove(own, 'r1', 'a2.1', { keep_tree: true }))
  expect(await list(own)).toMatchObject({ trees: [{ name: 'a2.1', path: one.tree.top, commit: null }, {}] })
})

it('knows whether anything would be lost with a worktree', async () => {
  const { own } = await project({ 'a.txt': 'one\n', '.gitignore': 'out/\n' })
  const { tree } = await work(own, 'r1', 'a1', () => {})
  const committed = () => good(isCommitted(own, 'r1', 'a1')).then((answer) => answer.committed)
  expect(await committed()).toBe(true)
  put(tree.top, { 'out/built': 'ignored\n' })
  expect(await committed()).toBe(true)
  put(tree.top, { 'new.txt': 'new\n' })
  expect(await committed()).toBe(false)
  await good(tree.snapshot(note('new')))
  expect(await committed()).toBe(true)
  // A repository that the agent made, whose files no snapshot has.
  mkdirSync(join(tree.top, 'nested'))
  initRepository(join(tree.top, 'nested'))
  expect(await committed()).toBe(false)
  rmSync(join(tree.top, 'nested'), { recursive: true })
  rmSync(join(tree.top, '.git'))
  expect(await committed()).toBe(true)
  rmSync(join(tree.top, 'a.txt'))
  expect(await committed()).toBe(false)
  rmSync(tree.top, { recursive: true })
  expect(await committed()).toBe(true)
})

it('sees files in the place of a submodule', async () => {
  const { root, own } = await project()
  const other = temporaryFolder()
  initRepository(other)
  git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub')
  git(root, 'commit', '-q', '-m', 'sub')
  const { tree } = await work(own, 'r1', 'a1', () => {})
  expect(await isCommitted(own, 'r1', 'a1')).toEqual({ ok: true, committed: true })
  put(tree.top, { 'sub/file': 'x\n' })
  expect(await isCommitted(own, 'r1', 'a1')).toEqual({ ok: true, committed: false })
})

it('removes a worktree with its branch, and nothing that links in it lead to', async () => {
  const { root, own } = await project()
  const outside = temporaryFolder()
  put(outside, { 'precious.txt': 'precious\n' })
  const { tree } = await work(own, 'r1', 'a1', (top) => {
    symlinkSync(outside, join(top, 'link'))
    put(top, { 'locked/file': 'x\n' })
    chmodSync(join(top, 'locked'), 0o500)
  })
  // Left by a git that was killed.
  writeFileSync(join(own.home, 'refs/heads/retinue/r1/a1.lock'), '')
  await good(remove(own, 'r1', 'a1'))
  await good(remove(own, 'r1', 'a1'))
  await good(remove(own, 'r9', 'none'))
  expect(existsSync(tree.top)).toBe(false)
  expect(readFileSync(join(outside, 'precious.txt'), 'utf8')).toBe('precious\n')
  expect(await list(own)).toEqual({ ok: true, trees: [] })
  expect(readdirSync(join(own.home, 'worktrees'))).toEqual([])
  expect(readdirSync(own.worktrees)).toEqual([])
  expect(git(root, 'status', '--porcelain')).toBe('')
})

it('removes all of a run and leaves others alone', async () => {
  const { root, own } = await project()
  await work(own, 'r1', 'a1', () => {})
  await work(own, 'r1', 'a2', () => {})
  const kept = await work(own, 'r2', 'a1', () => {})
  await good(removeRun(own, 'r1'))
  await good(removeRun(own, 'r1'))
  expect(await list(own)).toMatchObject({ trees: [{ run_id: 'r2', name: 'a1', path: kept.tree.top }] })
  expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/retinue').trim()).toBe('refs/retinue/r2/base')
})

it('tidies what dead processes left, not what living ones use, and knows the runs', async () => {
  const { own } = await project()
  const { base, to } = await work(own, 'r1', 'a1', () => {})
  await good(remember(own, 'r2', { base, result: to }))
  const dead = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' }).stdout.trim()
  const owner = createIdentity().owner
  put(own.home, {
    'trash-1/x/y': 'half removed',
    'scratch-dead/owner': owner.replace(/:\d+:(\d+)$/, `:${dead}:$1`),
    'scratch-living/owner': owner,
  })
  mkdirSync(join(own.worktrees, 'r3'))
  const begun = ['worktrees/r4-a1/HEAD', 'capture-1.index', '../git-new-1/HEAD'].map((path) => join(own.home, path))
  for (const path of begun) {
    put(dirname(path), { [basename(path)]: 'begun' })
    const long_ago = Date.now() / 1000 - 7200
    utimesSync(basename(path) === 'HEAD' ? dirname(path) : path, long_ago, long_ago)
  }
  put(own.home, { 'worktrees/r5-a1/HEAD': 'just begun' })
  expect(await tidy(own)).toEqual({ ok: true, runs: ['r1', 'r2'] })
  expect(readdirSync(own.home).filter((name) => /^(scratch|trash)-/.test(name))).toEqual(['scratch-living'])
  expect(existsSync(join(own.worktrees, 'r3'))).toBe(false)
  expect(begun.filter((path) => existsSync(path))).toEqual([])
  expect(readdirSync(join(own.home, 'worktrees'))).toEqual(['r1-a1', 'r5-a1'])
})
