import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Trees, WorkTree } from '../../../src/host/index.js'
import { open } from '../../../src/host/trees/worktree.js'
import { git, initRepository, put, temporaryFolders } from '../helpers.js'
import { belongings, filesIn, must, NOTE, treesIn } from './person.js'
import { good, openTrees } from './run.js'

const temporaryFolder = temporaryFolders()
let folder: string
let trees: Trees
let base: string
let tree: WorkTree

beforeEach(async () => {
  folder = temporaryFolder()
  initRepository(folder, { 'a.txt': 'a\n', 'd/x.txt': 'x\n', 'run.sh': '#!/bin/sh\n', '.gitignore': 'out/\n' })
  trees = await treesIn(folder)
  base = must(await trees.capture('r1')).commit
  tree = must(await trees.add('r1', 'a1', base)).tree
})

const paths = async (to: string) =>
  must(await trees.changes(base, to)).changes.map(({ kind, path }) => `${kind} ${path}`)

it('a worktree is where it says, on its branch, at its commit, and nothing of the person has changed', async () => {
  const before = belongings(folder)
  expect(tree.top).toBe(join(folder, '.retinue/worktrees/r1/a1'))
  expect(tree.root).toBe(tree.top)
  expect(tree.branch).toBe('retinue/r1/a1')
  expect(tree.links).toEqual([])
  expect(must(await tree.head()).commit).toBe(base)
  expect(await tree.repository.head()).toEqual({ ok: true, commit: base, branch: 'retinue/r1/a1' })
  expect(filesIn(tree.top)).toEqual(filesIn(folder))
  put(tree.top, { 'a.txt': 'b\n' })
  must(await tree.snapshot(NOTE))
  expect(belongings(folder)).toEqual(before)
  expect(git(folder, 'status', '--porcelain')).toBe('')
})

it('a snapshot has everything that differs, with author and time, and is none where nothing does', async () => {
  expect(must(await tree.snapshot(NOTE))).toEqual({ ok: true, commit: base, notes: [], uncommittable: [] })
  put(tree.top, { 'a.txt': 'b\n', 'new.txt': 'n\n', 'out/o.txt': 'o\n', 'd2/\n"ü"': 'x' })
  chmodSync(join(tree.top, 'run.sh'), 0o755)
  rmSync(join(tree.top, 'd'), { recursive: true })
  symlinkSync('../../etc', join(tree.top, 'd'))
  const { commit } = must(await tree.snapshot(NOTE))
  expect(must(await trees.changes(base, commit)).changes).toEqual([
    { path: 'a.txt', kind: 'modified', mode_before: '100644', mode_after: '100644', link: null },
    { path: 'd', kind: 'added', mode_before: null, mode_after: '120000', link: '../../etc' },
    { path: 'd/x.txt', kind: 'deleted', mode_before: '100644', mode_after: null, link: null },
    { path: 'd2/\n"ü"', kind: 'added', mode_before: null, mode_after: '100644', link: null },
    { path: 'new.txt', kind: 'added', mode_before: null, mode_after: '100644', link: null },
    { path: 'run.sh', kind: 'modified', mode_before: '100644', mode_after: '100755', link: null },
  ])
  expect(must(await trees.commits(base, commit)).commits).toEqual([
    { id: commit, title: 'Work of an agent', author: 'coder' },
  ])
  expect(must(await tree.snapshot({ ...NOTE, at: 0 })).commit).toBe(commit)
})

it('the same work at the same time is the same commit', async () => {
  const { tree: other } = must(await trees.add('r1', 'a2', base))
  for (const one of [tree, other]) put(one.top, { 'a.txt': 'same\n' })
  expect(must(await tree.snapshot(NOTE)).commit).toBe(must(await other.snapshot(NOTE)).commit)
})

it('a snapshot is on top of what the agent committed by itself, and works without a .git', async () => {
  put(tree.top, { 'a.txt': 'b\n' })
  expect((await tree.repository.commit({ message: 'By itself' })).ok).toBe(true)
  rmSync(join(tree.top, '.git'))
  put(tree.top, { 'c.txt': 'c\n' })
  const { commit } = must(await tree.snapshot(NOTE))
  expect(must(await trees.commits(base, commit)).commits.map(({ title }) => title)).toEqual([
    'By itself',
    'Work of an agent',
  ])
  expect(must(await tree.head()).commit).toBe(commit)
})

it('what is in a submodule cannot be committed, and that is said', async () => {
  git(folder, 'update-index', '--add', '--cacheinfo', `160000,${base},lib`)
  git(folder, 'commit', '-qm', 'with lib')
  base = must(await trees.capture('r1')).commit
  tree = must(await trees.add('r1', 'a1', base)).tree
  expect(must(await tree.snapshot(NOTE)).uncommittable).toEqual([])
  put(tree.top, { 'lib/x.txt': 'x\n', 'b.txt': 'b\n' })
  const snapshot = must(await tree.snapshot(NOTE))
  expect(snapshot.uncommittable).toEqual(['lib/'])
  expect(await paths(snapshot.commit)).toEqual(['added b.txt'])
  must(await tree.reset(base))
  expect(existsSync(join(tree.top, 'lib/x.txt'))).toBe(false)
})

it('reset brings back what was there, and removes what is neither committed nor ignored', async () => {
  put(tree.top, { 'a.txt': 'b\n', 'new/file.txt': 'n\n', 'out/o.txt': 'o\n' })
  rmSync(join(tree.top, 'd'), { recursive: true })
  put(tree.top, { d: 'a file\n', '.gitignore': 'out/\nnew/\n' })
  rmSync(join(tree.top, 'run.sh'))
  put(tree.top, { 'run.sh/deep/x': 'x\n' })
  const { commit } = must(await tree.snapshot(NOTE))
  must(await tree.reset(base))
  expect(must(await tree.head()).commit).toBe(base)
  expect(filesIn(tree.top)).toEqual({ ...filesIn(folder), 'out/o.txt': 'o\n' })
  must(await tree.reset(commit))
  expect(filesIn(tree.top)).toMatchObject({ 'a.txt': 'b\n', d: 'a file\n', 'run.sh/deep/x': 'x\n' })
  expect(await tree.reset('0'.repeat(40))).toMatchObject({ ok: false, code: 'missing' })
})

it('is opened again by another process, after one that was killed in the middle of it', async () => {
  put(tree.top, { 'a.txt': 'b\n' })
  const admin = join(folder, '.retinue/git/worktrees/r1-a1')
  for (const lock of [
    join(admin, 'index.lock'),
    join(admin, 'HEAD.lock'),
    join(folder, '.retinue/git/refs/heads/retinue/r1/a1.lock'),
  ]) {
    writeFileSync(lock, '')
  }
  const again = await treesIn(folder)
  const opened = must(await again.open('r1', 'a1')).tree
  expect(await paths(must(await opened.snapshot(NOTE)).commit)).toEqual(['modified a.txt'])
})

it('is missing where it was never made, not finished, or its folder or branch is gone', async () => {
  const admin = join(folder, '.retinue/git/worktrees/r1-a1')
  expect(await trees.open('r1', 'a9')).toMatchObject({ ok: false, code: 'missing' })
  rmSync(join(admin, 'ready'))
  expect(await trees.open('r1', 'a1')).toMatchObject({ ok: false, code: 'missing' })
  tree = must(await trees.add('r1', 'a1', base)).tree
  rmSync(tree.top, { recursive: true })
  expect(await trees.open('r1', 'a1')).toMatchObject({ ok: false, code: 'missing' })
  tree = must(await trees.add('r1', 'a1', base)).tree
  rmSync(join(folder, '.retinue/git/refs/heads/retinue/r1/a1'))
  expect(await trees.open('r1', 'a1')).toMatchObject({ ok: false, code: 'missing' })
})

it('is made anew over whatever is at its place, and never through a link', async () => {
  const outside = temporaryFolder()
  put(outside, { 'precious.txt': 'p\n' })
  put(tree.top, { 'left.txt': 'l\n' })
  must(await tree.snapshot(NOTE))
  rmSync(tree.top, { recursive: true })
  symlinkSync(outside, tree.top)
  tree = must(await trees.add('r1', 'a1', base)).tree
  expect(filesIn(tree.top)).toEqual(filesIn(folder))
  expect(must(await tree.head()).commit).toBe(base)
  expect(filesIn(outside)).toEqual({ 'precious.txt': 'p\n' })
  expect(await trees.add('r1', 'a3', '1'.repeat(40))).toMatchObject({ ok: false, code: 'missing' })
})

it('the commit of a branch is known without its worktree', async () => {
  put(tree.top, { 'a.txt': 'b\n' })
  const { commit } = must(await tree.snapshot(NOTE))
  rmSync(tree.top, { recursive: true })
  expect(await trees.head('r1', 'a1')).toEqual({ ok: true, commit })
  expect(await trees.head('r1', 'a2')).toMatchObject({ ok: false, code: 'missing' })
  must(await trees.remove('r1', 'a1'))
  expect(await trees.head('r1', 'a1')).toMatchObject({ ok: false, code: 'missing' })
})

it('says which paths git ignores, as seen from the root', async () => {
  mkdirSync(join(tree.top, 'out'))
  mkdirSync(join(tree.top, 'real'))
  symlinkSync('real', join(tree.top, 'link'))
  put(tree.top, { '.gitignore': 'out/\n*.log\n/link\n' })
  const { paths: ignored } = must(await tree.ignored(['out/x', 'a.txt', 'new.log', 'd/y.log', 'link/z', 'real/z']))
  expect(ignored.sort()).toEqual(['d/y.log', 'link/z', 'new.log', 'out/x'])
  expect(must(await tree.ignored([])).paths).toEqual([])
})

it('commits of agents through their git tool are in the private repository alone', async () => {
  put(tree.top, { 'a.txt': 'b\n' })
  const made = await tree.repository.commit({ message: 'Mine', paths: ['a.txt'] })
  if (!made.ok) throw new Error(made.message)
  expect(() => git(folder, 'cat-file', '-e', made.commit)).toThrow()
  expect(must(await tree.snapshot(NOTE)).commit).toBe(made.commit)
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('a\n')
})

it('who only looks at a worktree leaves the locks of whoever is at work in it alone', async () => {
  const lock = join(folder, '.retinue/git/worktrees/r1-a1/index.lock')
  writeFileSync(lock, '')
  must(await trees.open('r1', 'a1', { only_look: true }))
  expect(existsSync(lock)).toBe(true)
  must(await trees.open('r1', 'a1'))
  expect(existsSync(lock)).toBe(false)
})

it('a snapshot that somebody else made in the same moment is as good', async () => {
  const own = await openTrees(folder)
  put(tree.top, { 'new.txt': 'new\n' })
  const real = own.git
  let other = ''
  own.git = (options) => {
    const command = real(options)
    const run = command.run.bind(command)
    command.run = async (args, more) => {
      const [verb, ref = '', commit = ''] = args
      if (verb === 'update-ref' && other === '') {
        other = (
          await good(
            run([
              '-c',
              'user.name=x',
              '-c',
              'user.email=x@x',
              'commit-tree',
              `${commit}^{tree}`,
              '-p',
              base,
              '-m',
              'other',
            ]),
          )
        ).stdout.trim()
        await good(run(['update-ref', ref, other]))
      }
      return run(args, more)
    }
    return command
  }
  const { tree: again } = await good(open(own, 'r1', 'a1'))
  expect((await good(again.snapshot(NOTE))).commit).toBe(other)
})
