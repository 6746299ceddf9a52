import { chmodSync, lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { linksOf } from '../../../src/host/trees/include.js'
import { add } from '../../../src/host/trees/worktree.js'
import { initRepository, put, temporaryFolders } from '../helpers.js'
import { treesIn } from './person.js'
import { good, note, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()

async function including(patterns: string, files: Record<string, string>, ignored: Record<string, string>) {
  const root = temporaryFolder()
  initRepository(root, { '.worktreeinclude': patterns, ...files })
  put(root, ignored)
  return { root, own: await openTrees(root) }
}

it('links folders and copies files that are ignored and named', async () => {
  const { root, own } = await including(
    'node_modules/\n# a comment\n.env*\n!.env.secret\n/packages/*/node_modules\nbuild/cache/[a-b].bin\n',
    { '.gitignore': 'node_modules/\n.env*\nbuild/\nother/\n', 'a.txt': 'one\n' },
    {
      'node_modules/x/index.js': 'x\n',
      'packages/p/node_modules/y.js': 'y\n',
      'packages/p/.env.local': 'P=1\n',
      '.env': 'A=1\n',
      '.env.secret': 'S=1\n',
      'build/cache/a.bin': 'a\n',
      'build/cache/c.bin': 'c\n',
      'other/o': 'o\n',
    },
  )
  chmodSync(join(root, '.env'), 0o600)
  const { tree, included, notes, base, to } = await work(own, 'r1', 'a1', () => {})
  expect(included).toEqual([
    { path: '.env', how: 'copied' },
    { path: 'build/cache/a.bin', how: 'copied' },
    { path: 'node_modules', how: 'linked' },
    { path: 'packages/p/.env.local', how: 'copied' },
    { path: 'packages/p/node_modules', how: 'linked' },
  ])
  expect(notes).toEqual([])
  expect(readlinkSync(join(tree.top, 'node_modules'))).toBe(join(root, 'node_modules'))
  expect(readFileSync(join(tree.top, '.env'), 'utf8')).toBe('A=1\n')
  expect(statSync(join(tree.top, '.env')).mode & 0o777).toBe(0o600)
  expect(tree.links).toEqual([join(root, 'node_modules'), join(root, 'packages/p/node_modules')])
  expect(await linksOf(own, 'r1', 'a1')).toEqual(tree.links)
  // The pattern with a slash at its end does not match a link, but nothing of this gets into a commit.
  expect(to).toBe(base)
  put(tree.top, { '.env': 'A=2\n' })
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe('A=1\n')
  expect((await good(tree.snapshot(note('nothing')))).commit).toBe(base)
})

it('links what most projects need where nobody says otherwise, and only what git does not have', async () => {
  const root = temporaryFolder()
  initRepository(root, { '.gitignore': 'node_modules/\n', '.venv/pyvenv.cfg': 'tracked\n' })
  put(root, { 'node_modules/x/index.js': 'x\n' })
  const own = await openTrees(root)
  const { tree, included, notes, base, to } = await work(own, 'r1', 'a1', () => {})
  expect(included).toEqual([{ path: 'node_modules', how: 'linked' }])
  expect(notes).toEqual([])
  expect(lstatSync(join(tree.top, '.venv')).isDirectory()).toBe(true)
  expect(to).toBe(base)
  put(root, { '.worktreeinclude': '# nothing\n' })
  expect((await work(own, 'r2', 'a1', () => {})).included).toEqual([])
})

it('leaves out what nobody named where somebody else makes it, and takes what is named', async () => {
  const root = temporaryFolder()
  initRepository(root, { '.gitignore': 'node_modules/\n.env\n' })
  put(root, { 'node_modules/x/index.js': 'x\n', '.env': 'A=1\n' })
  const trees = await treesIn(root)
  const { commit } = await good(trees.capture('r1'))
  const included = async (options?: { usual?: boolean }) =>
    (await good(trees.add('r1', 'a1', commit, options))).included
  expect(await included()).toEqual([{ path: 'node_modules', how: 'linked' }])
  expect(await included({ usual: false })).toEqual([])
  put(root, { '.worktreeinclude': 'node_modules/\n.env\n' })
  expect(await included({ usual: false })).toEqual([
    { path: '.env', how: 'copied' },
    { path: 'node_modules', how: 'linked' },
  ])
})

it('notes what matches nothing, what is in git anyway and what leads out', async () => {
  const outside = temporaryFolder()
  put(outside, { secret: 'secret\n' })
  const { root, own } = await including(
    'missing.txt\n../secret\na.txt\nlinks/\nout\n',
    { '.gitignore': 'out\nlinks\n', 'a.txt': 'one\n' },
    {},
  )
  symlinkSync(join(outside, 'secret'), join(root, 'out'))
  symlinkSync(outside, join(root, 'links'))
  const { tree, included, notes } = await work(own, 'r1', 'a1', () => {})
  expect(included).toEqual([])
  expect(notes.sort()).toEqual([
    '.worktreeinclude:1: missing.txt matches nothing that git ignores',
    '.worktreeinclude:2: ../secret leads out of the folder',
    '.worktreeinclude:3: a.txt matches nothing that git ignores',
    '.worktreeinclude:4: links/ matches nothing that git ignores',
    'out leads out of the folder, and is not in the worktree',
  ])
  expect(lstatSync(join(tree.top, 'out'), { throwIfNoEntry: false })).toBe(undefined)
})

it('never takes what belongs to git or Retinue', async () => {
  const { root, own } = await including('*\n', { '.gitignore': '.retinue/\nvendor/\n' }, { 'vendor/x': 'x\n' })
  const { included } = await work(own, 'r1', 'a1', () => {})
  expect(included).toEqual([{ path: 'vendor', how: 'linked' }])
  const inside = await openTrees(mkdirp(join(root, 'vendor/below')))
  put(root, { 'vendor/below/a.txt': 'a\n' })
  // The top now has a folder with Retinue's files in it among what is ignored.
  expect(await work(inside, 'r1', 'a1', () => {})).toMatchObject({
    included: [],
    notes: ['vendor has files of git or Retinue in it, and is not in the worktree'],
  })
})

it('writes nothing through a link that an agent made where the person has a folder', async () => {
  const outside = temporaryFolder()
  const { own } = await including('.env\n', { '.gitignore': '.env\n', 'p/a.txt': 'a\n' }, { 'p/.env': 'A=1\n' })
  const { to } = await work(own, 'r1', 'a1', (top) => {
    rmSync(join(top, 'p'), { recursive: true })
    symlinkSync(outside, join(top, 'p'))
  })
  const added = await good(add(own, 'r1', 'a2', to))
  expect(added).toMatchObject({
    included: [],
    notes: ['p/.env is not in the worktree: something else is in the place of its folder'],
  })
  expect(lstatSync(join(outside, '.env'), { throwIfNoEntry: false })).toBe(undefined)
})

it('has nothing to say without the file', async () => {
  const root = temporaryFolder()
  put(root, { 'a.txt': 'one\n' })
  const own = await openTrees(root)
  expect(await work(own, 'r1', 'a1', () => {})).toMatchObject({ included: [], notes: [], tree: { links: [] } })
})

function mkdirp(path: string): string {
  mkdirSync(path, { recursive: true })
  return path
}
