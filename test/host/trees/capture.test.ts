import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { git, initRepository, put, temporaryFolders, until } from '../helpers.js'
import { belongings, filesIn, must, NOTE, treesIn } from './person.js'

const temporaryFolder = temporaryFolders()
let folder: string
beforeEach(() => {
  folder = temporaryFolder()
})

/** Captures the folder, and shows what an agent would get, with all that is noted. */
async function captured(from = folder): Promise<{ files: Record<string, string>; notes: string[]; own: boolean }> {
  const trees = await treesIn(from)
  const capture = must(await trees.capture('r1'))
  const { tree, notes } = must(await trees.add('r1', 'a1', capture.commit))
  return { files: filesIn(tree.top), notes: [...capture.notes, ...notes], own: capture.commit !== capture.head }
}

describe('what a person has', () => {
  it('is HEAD itself where nothing differs from it', async () => {
    initRepository(folder)
    const before = belongings(folder)
    const capture = must(await (await treesIn(folder)).capture('r1'))
    expect(capture).toEqual({
      ok: true,
      commit: git(folder, 'rev-parse', 'HEAD').trim(),
      head: capture.commit,
      notes: [],
    })
    expect(git(folder, 'rev-parse', 'refs/retinue/r1/base').trim()).toBe(capture.commit)
    expect(belongings(folder)).toEqual(before)
  })

  it('is what is on disk: staged, not staged, untracked, deleted, executable, links, files for folders', async () => {
    initRepository(folder, {
      'staged.txt': 'a\n',
      'both.txt': 'a\n',
      'gone.txt': 'a\n',
      'gone-staged.txt': 'a\n',
      'run.sh': '#!/bin/sh\n',
      'file-to-folder': 'f\n',
      'folder-to-file/deep/x': 'x\n',
      'folder-to-link/x': 'x\n',
      'moved/x': 'x\n',
      '.gitignore': 'ignored\n',
    })
    put(folder, {
      'staged.txt': 'b\n',
      'both.txt': 'b\n',
      'new/ü/ñ "q".txt': 'new\n',
      'new/line\nbreak': 'x\n',
      ignored: 'no\n',
    })
    git(folder, 'add', 'staged.txt', 'both.txt')
    put(folder, { 'both.txt': 'c\n' })
    rmSync(join(folder, 'gone.txt'))
    git(folder, 'rm', '-q', 'gone-staged.txt')
    chmodSync(join(folder, 'run.sh'), 0o755)
    rmSync(join(folder, 'file-to-folder'))
    put(folder, { 'file-to-folder/y': 'y\n' })
    rmSync(join(folder, 'folder-to-file'), { recursive: true })
    put(folder, { 'folder-to-file': 'now a file\n' })
    rmSync(join(folder, 'folder-to-link'), { recursive: true })
    symlinkSync('moved', join(folder, 'folder-to-link'))
    symlinkSync('/nowhere', join(folder, 'dangling'))
    const before = belongings(folder)

    const { files, notes, own } = await captured()
    const { ignored: _, ...expected } = filesIn(folder)
    expect(files).toEqual(expected)
    expect({ notes, own }).toEqual({ notes: [], own: true })
    expect(belongings(folder)).toEqual(before)
  })

  it('has what is behind a link that git ignores no more', async () => {
    initRepository(folder, { 'd/x': 'x\n', 'other/x': 'x\n' })
    rmSync(join(folder, 'd'), { recursive: true })
    symlinkSync('other', join(folder, 'd'))
    put(folder, { '.gitignore': '/d\n' })
    expect((await captured()).files).toEqual({ '.gitignore': '/d\n', 'other/x': 'x\n' })
  })

  it('is found though it changed in the second in which the index was written, and kept its size', async () => {
    initRepository(folder, { 'a.txt': 'one\n' })
    const second = (path: string) => Math.floor(statSync(join(folder, path)).mtimeMs / 1000)
    do {
      put(folder, { 'a.txt': 'one\n' })
      git(folder, 'add', 'a.txt')
      put(folder, { 'a.txt': 'two\n' })
    } while (second('.git/index') !== second('a.txt'))
    await until(() => Math.floor(Date.now() / 1000) > second('a.txt'))
    expect((await captured()).files).toEqual({ 'a.txt': 'two\n' })
  })

  it('of conflicts, entries to be added, and files assumed to be unchanged, is what is on disk', async () => {
    initRepository(folder, { 'a.txt': 'base\n', 'assumed.txt': 'a\n' })
    git(folder, 'checkout', '-q', '-b', 'side')
    put(folder, { 'a.txt': 'side\n' })
    git(folder, 'commit', '-qam', 'side')
    git(folder, 'checkout', '-q', 'main')
    put(folder, { 'a.txt': 'main\n' })
    git(folder, 'commit', '-qam', 'main')
    expect(() => git(folder, 'merge', 'side')).toThrow()
    put(folder, { 'later.txt': 'later\n', 'assumed.txt': 'b\n' })
    git(folder, 'add', '-N', 'later.txt')
    git(folder, 'update-index', '--assume-unchanged', 'assumed.txt')
    const before = belongings(folder)
    expect((await captured()).files).toEqual(filesIn(folder))
    expect(belongings(folder)).toEqual(before)
  })

  it('is all of it where the index is split in two', async () => {
    initRepository(folder, { 'a.txt': 'a\n', 'b.txt': 'b\n' })
    git(folder, 'update-index', '--split-index')
    put(folder, { 'b.txt': 'changed\n' })
    git(folder, 'add', 'b.txt')
    put(folder, { 'b.txt': 'again\n' })
    const before = belongings(folder)
    expect((await captured()).files).toEqual({ 'a.txt': 'a\n', 'b.txt': 'again\n' })
    expect(belongings(folder)).toEqual(before)
  })

  it('is all of it where the index cannot be read at all', async () => {
    initRepository(folder, { 'a.txt': 'a\n', 'b.txt': 'b\n' })
    put(folder, { 'b.txt': 'changed\n' })
    writeFileSync(join(folder, '.git/index'), 'nonsense')
    expect((await captured()).files).toEqual({ 'a.txt': 'a\n', 'b.txt': 'changed\n' })
    expect(readFileSync(join(folder, '.git/index'), 'utf8')).toBe('nonsense')
  })

  it('is there in a repository without commits, and in one without an index', async () => {
    git(folder, 'init', '-q')
    put(folder, { 'a.txt': 'a\n' })
    expect(await captured()).toEqual({ files: { 'a.txt': 'a\n' }, notes: [], own: true })
    git(folder, 'add', 'a.txt')
    put(folder, { 'a.txt': 'b\n' })
    expect((await captured()).files).toEqual({ 'a.txt': 'b\n' })
  })

  it('is there where there are no files at all', async () => {
    git(folder, 'init', '-q')
    expect((await captured()).files).toEqual({})
    const bare = temporaryFolder()
    expect((await captured(bare)).files).toEqual({})
  })

  it("never has Retinue's own files, whatever .gitignore says", async () => {
    initRepository(folder, { '.gitignore': '!.retinue\n!.retinue/**\n!.retinue-tmp-*\n', 'retinue.yaml': 'x: 1\n' })
    put(folder, {
      '.retinue/.gitignore': '',
      '.retinue/log.db': 'x',
      'sub/.retinue/x': 'x',
      'sub/.retinue-tmp-1': 'x',
      '.Retinue/y': 'y',
    })
    const trees = await treesIn(folder)
    const capture = must(await trees.capture('r1'))
    expect(capture).toEqual({ ok: true, commit: capture.head, head: capture.head, notes: [] })
  })
})

describe('a folder without git', () => {
  it('is captured without getting a .git, and again reads only what changed', async () => {
    put(folder, { 'a.txt': 'a\n', 'src/b.txt': 'b\n', '__pycache__/x.pyc': 'x', '.DS_Store': 'x' })
    expect(await captured()).toEqual({ files: { 'a.txt': 'a\n', 'src/b.txt': 'b\n' }, notes: [], own: true })
    expect(existsSync(join(folder, '.git'))).toBe(false)
    put(folder, { 'a.txt': 'c\n' })
    rmSync(join(folder, 'src'), { recursive: true })
    expect((await captured()).files).toEqual({ 'a.txt': 'c\n' })
  })

  it('with very many files is captured into a pack, with line endings as they are', async () => {
    const many = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`d${i % 9}/${i}.txt`, `${i}\r\n`]))
    put(folder, { ...many, empty: '', '.gitattributes': '* text=auto eol=crlf\r\n' })
    expect((await captured()).files).toEqual(filesIn(folder))
  })

  it('is not what is around a .git that agents could have made', async () => {
    const evil = join(folder, 'evil')
    mkdirSync(evil)
    git(evil, 'init', '-q', '--bare')
    put(folder, { '.git': `gitdir: ${evil}\n`, 'a.txt': 'a\n' })
    git(evil, 'config', 'core.bare', 'false')
    const trees = await treesIn(folder)
    expect(trees.in_git).toBe(false)
  })
})

describe('repositories of all kinds', () => {
  it('with SHA-256', async () => {
    git(folder, 'init', '-q', '--object-format=sha256')
    put(folder, { 'a.txt': 'a\n' })
    git(folder, 'add', '-A')
    git(folder, 'commit', '-qm', 'first')
    put(folder, { 'b.txt': 'b\n' })
    const trees = await treesIn(folder)
    const capture = must(await trees.capture('r1'))
    expect(capture.commit).toHaveLength(64)
    const { tree } = must(await trees.add('r1', 'a1', capture.commit))
    expect(filesIn(tree.top)).toEqual({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
  })

  it('shallow', async () => {
    const origin = temporaryFolder()
    initRepository(origin)
    put(origin, { 'a.txt': 'two\n' })
    git(origin, 'commit', '-qam', 'second')
    git(folder, 'clone', '-q', '--depth=1', `file://${origin}`, 'clone')
    const clone = join(folder, 'clone')
    put(clone, { 'b.txt': 'b\n' })
    const before = belongings(clone)
    const trees = await treesIn(clone)
    const capture = must(await trees.capture('r1'))
    const { tree } = must(await trees.add('r1', 'a1', capture.commit))
    put(tree.top, { 'c.txt': 'c\n' })
    const snapshot = must(await tree.snapshot(NOTE))
    expect(must(await trees.merge(capture.commit, snapshot.commit, NOTE)).kind).toBe('fast_forward')
    expect(must(await trees.commits(capture.commit, snapshot.commit)).commits).toHaveLength(1)
    expect(belongings(clone)).toEqual(before)
  })

  it.each([['--no-cone'], ['--cone', '--sparse-index']])('sparse (%s)', async (...flags) => {
    initRepository(folder, { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n', 'top.txt': 't\n' })
    git(folder, 'sparse-checkout', 'set', ...flags, ...(flags.includes('--cone') ? ['in'] : ['/in/', '/top.txt']))
    expect(existsSync(join(folder, 'out/b.txt'))).toBe(false)
    put(folder, { 'in/a.txt': 'changed\n' })
    const before = belongings(folder)
    const trees = await treesIn(folder)
    const capture = must(await trees.capture('r1'))
    const { tree } = must(await trees.add('r1', 'a1', capture.commit))
    expect(filesIn(tree.top)).toEqual({ 'in/a.txt': 'changed\n', 'top.txt': 't\n' })
    put(tree.top, { 'in/new.txt': 'n\n', 'out/new.txt': 'o\n' })
    const snapshot = must(await tree.snapshot(NOTE))
    const { changes } = must(await trees.changes(capture.head as string, snapshot.commit))
    expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'modified in/a.txt',
      'added in/new.txt',
      'added out/new.txt',
    ])
    expect(belongings(folder)).toEqual(before)
  })

  it("where the person's checkout is a linked worktree", async () => {
    const main = join(folder, 'main')
    mkdirSync(main)
    initRepository(main)
    git(main, 'worktree', 'add', '-q', join(folder, 'linked'))
    const linked = join(folder, 'linked')
    put(linked, { 'b.txt': 'b\n' })
    const git_dir = join(main, '.git/worktrees/linked')
    const before = [belongings(linked, git_dir), belongings(main)]
    expect((await captured(linked)).files).toEqual({ 'a.txt': 'one\n', 'b.txt': 'b\n' })
    expect([belongings(linked, git_dir), belongings(main)]).toEqual(before)
  })

  it('with objects of another repository', async () => {
    const origin = join(folder, 'origin')
    mkdirSync(origin)
    initRepository(origin)
    git(folder, 'clone', '-q', '--shared', origin, 'clone')
    put(join(folder, 'clone'), { 'b.txt': 'b\n' })
    expect((await captured(join(folder, 'clone'))).files).toEqual({ 'a.txt': 'one\n', 'b.txt': 'b\n' })
  })

  it('seen from a folder below the top, with a slash-heavy and non-ASCII name', async () => {
    const top = join(folder, 'Ünïcode ‘q’/repo')
    mkdirSync(top, { recursive: true })
    initRepository(top, { 'root.txt': 'r\n', 'packages/a b/é/x.txt': 'x\n' })
    put(top, { 'packages/a b/é/y.txt': 'y\n', 'other.txt': 'o\n' })
    const trees = await treesIn(join(top, 'packages/a b/é'))
    expect(trees.prefix).toBe('packages/a b/é')
    const { commit } = must(await trees.capture('r1'))
    const { tree } = must(await trees.add('r1', 'a1', commit))
    expect(filesIn(tree.top)).toEqual(filesIn(top))
    expect(filesIn(tree.root)).toEqual({ 'x.txt': 'x\n', 'y.txt': 'y\n' })
    put(tree.root, { 'z.txt': 'z\n' })
    expect(must(await tree.repository.status()).text).toContain('?? z.txt')
  })

  it('with submodules, and repositories that git does not know', async () => {
    const library = temporaryFolder()
    initRepository(library, { 'lib.txt': 'lib\n' })
    initRepository(folder)
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'lib')
    git(folder, 'commit', '-qm', 'with lib')
    put(folder, { 'lib/lib.txt': 'changed below\n', 'b.txt': 'b\n' })
    mkdirSync(join(folder, 'nested'))
    initRepository(join(folder, 'nested'))
    const before = belongings(folder)
    const { files, notes } = await captured()
    expect(Object.keys(files)).toEqual(['.gitmodules', 'a.txt', 'b.txt'])
    expect(notes).toEqual([
      'submodule lib is empty in worktrees',
      'nested/ is a repository of its own and is not in worktrees',
    ])
    expect(belongings(folder)).toEqual(before)
  })

  it.each([
    ['.gitattributes', { '.gitattributes': '* text=auto eol=crlf\n' }, []],
    ['core.autocrlf', {}, ['core.autocrlf', 'true']],
    ['info/attributes', {}, []],
  ])('with line endings by %s', async (how, files, setting) => {
    git(folder, 'init', '-q')
    if (setting.length > 0) git(folder, 'config', ...setting)
    if (how === 'info/attributes') put(folder, { '.git/info/attributes': '* text eol=crlf\n' })
    put(folder, { ...files, 'a.txt': 'one\r\ntwo\r\n', 'b.txt': 'x\r\n' })
    git(folder, 'add', '-A')
    git(folder, 'commit', '-qm', 'first')
    expect(git(folder, 'cat-file', 'blob', 'HEAD:a.txt')).toBe('one\ntwo\n')
    put(folder, { 'b.txt': 'y\r\n', 'c.txt': 'new\r\n' })
    const { files: got, own } = await captured()
    expect(got).toEqual({
      ...files,
      ...(how === '.gitattributes' ? { '.gitattributes': '* text=auto eol=crlf\r\n' } : {}),
      'a.txt': 'one\r\ntwo\r\n',
      'b.txt': 'y\r\n',
      'c.txt': 'new\r\n',
    })
    expect(own).toBe(true)
    put(folder, { 'b.txt': 'x\r\n' })
    rmSync(join(folder, 'c.txt'))
    expect((await captured()).own).toBe(false)
  })
})

it('is refused where git is missing from the PATH or a folder is not there', async () => {
  const { createHost } = await import('../../../src/host/index.js')
  expect(await createHost().trees(join(folder, 'nowhere'))).toEqual({
    ok: false,
    code: 'failed',
    message: `${join(folder, 'nowhere')} does not exist`,
  })
})

it('several processes make the private repository at once', async () => {
  initRepository(folder)
  const opened = await Promise.all(Array.from({ length: 6 }, () => treesIn(folder)))
  const captures = await Promise.all(opened.map((trees, i) => trees.capture(`r${i}`)))
  expect(new Set(captures.map((one) => must(one).commit)).size).toBe(1)
  expect(execFileSync('ls', [join(folder, '.retinue')], { encoding: 'utf8' })).toBe('git\n')
})
