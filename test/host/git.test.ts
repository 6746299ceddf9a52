import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHost, type Repository } from '../../src/host/index.js'
import { git, initRepository, put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()
const host = createHost()
const homeBefore = process.env.HOME
let root: string
let home: string

beforeEach(() => {
  root = temporaryFolder()
  home = temporaryFolder()
  process.env.HOME = home
  put(home, { '.gitconfig': '[user]\n\tname = Owner\n\temail = owner@example.org\n' })
})
afterEach(() => {
  process.env.HOME = homeBefore
})

async function open(folder = root): Promise<Repository> {
  const opened = await host.git.open(folder)
  if (!opened.ok) throw new Error(opened.message)
  return opened.repository
}

async function statusOf(repository: Repository): Promise<string[]> {
  const status = await repository.status()
  if (!status.ok) throw new Error(status.message)
  return status.text.trimEnd().split('\n').slice(1)
}

const committed = (...args: string[]) =>
  git(root, 'show', '--name-only', '--format=', ...args)
    .trim()
    .split('\n')

describe('opening', () => {
  it('finds the repository that a folder is in', async () => {
    initRepository(root, { 'sub/a.txt': 'x' })
    expect(await open()).toMatchObject({ git_dir: join(root, '.git'), work_tree: root })
    expect(await open(join(root, 'sub'))).toMatchObject({ git_dir: join(root, '.git'), work_tree: root })
  })

  it('refuses a folder in no work tree', async () => {
    git(root, 'init', '-q', '--bare', 'bare.git')
    initRepository(join(mkdirp(root, 'repo')))
    mkdirp(root, 'plain')
    for (const folder of ['bare.git', 'plain', 'none', 'repo/.git', 'repo/.git/hooks']) {
      expect(await host.git.open(join(root, folder))).toMatchObject({ ok: false, code: 'not_a_repository' })
    }
  })

  it('says so when there is no git', async () => {
    initRepository(root)
    const path = process.env.PATH
    process.env.PATH = home
    try {
      expect(await host.git.open(root)).toMatchObject({ ok: false, code: 'git_missing' })
    } finally {
      process.env.PATH = path
    }
  })

  it('works in a worktree and in a submodule, and follows their .git file only then', async () => {
    const main = mkdirp(root, 'main')
    const tree = join(root, 'tree')
    initRepository(main)
    git(main, 'worktree', 'add', '-q', tree)
    git(main, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', main, 'module')
    const inTree = await open(tree)
    expect(inTree).toMatchObject({ git_dir: join(main, '.git/worktrees/tree'), work_tree: tree })
    const inModule = await open(join(main, 'module'))
    expect(inModule).toMatchObject({ git_dir: join(main, '.git/modules/module'), work_tree: join(main, 'module') })

    // Somebody makes the work tree point to a repository of their own.
    const evil = mkdirp(root, 'evil')
    initRepository(evil, { 'evil.txt': 'x' })
    rmSync(join(tree, '.git'))
    writeFileSync(join(tree, '.git'), `gitdir: ${join(evil, '.git')}\n`)
    put(tree, { 'new.txt': 'x' })
    expect(await inTree.commit({ message: 'second', paths: ['new.txt'] })).toMatchObject({ ok: true })
    expect(git(main, 'log', '-1', '--format=%s', 'tree').trim()).toBe('second')
    expect(git(evil, 'log', '-1', '--format=%s').trim()).toBe('first')
  })
})

describe('looking', () => {
  it('tells commit and branch, also where there are none yet', async () => {
    git(root, 'init', '-q')
    const repository = await open()
    expect(await repository.head()).toEqual({ ok: true, commit: null, branch: 'main' })
    expect(await repository.log({ limit: 5 })).toEqual({ ok: true, text: '' })
    put(root, { 'a.txt': 'x' })
    const first = await repository.commit({ message: 'first' })
    const commit = git(root, 'rev-parse', 'HEAD').trim()
    expect(first).toMatchObject({ ok: true, commit })
    expect(await repository.head()).toEqual({ ok: true, commit, branch: 'main' })
    git(root, 'checkout', '-q', '--detach')
    expect(await repository.head()).toEqual({ ok: true, commit, branch: null })
  })

  it('tells what has changed, with names as they are, and leaves no lock or trace', async () => {
    initRepository(root)
    put(root, {
      'a.txt': 'two\n',
      'né w.txt': 'x',
      '.retinue/log': 'x',
      'sub/.retinue/log': 'x',
      '.retinue-tmp-1': 'x',
    })
    const repository = await open()
    expect(await repository.status()).toEqual({ ok: true, text: '## main\n M a.txt\n?? "né w.txt"\n' })
  })

  it('shows changes against index, commit or range, for all or some paths', async () => {
    initRepository(root, { 'a.txt': 'one\n', 'b.txt': 'one\n', '*.txt': 'one\n' })
    const repository = await open()
    put(root, { 'a.txt': 'staged\n' })
    git(root, 'add', 'a.txt')
    put(root, { 'a.txt': 'changed\n', 'b.txt': 'changed\n', '*.txt': 'changed\n' })
    const shown = async (options: Parameters<Repository['diff']>[0]) => {
      const diff = await repository.diff(options)
      return diff.ok ? diff.text.split('\n').filter((line) => /^[+-]/.test(line)) : diff.code
    }
    expect(await shown({ paths: ['a.txt'] })).toEqual(['--- a/a.txt', '+++ b/a.txt', '-staged', '+changed'])
    expect(await shown({ staged: true })).toEqual(['--- a/a.txt', '+++ b/a.txt', '-one', '+staged'])
    expect(await shown({ ref: 'HEAD', paths: ['a.txt'] })).toEqual(['--- a/a.txt', '+++ b/a.txt', '-one', '+changed'])
    expect(await shown({ paths: ['*.txt'] })).toEqual(['--- a/*.txt', '+++ b/*.txt', '-one', '+changed'])
    expect(await shown({})).toHaveLength(12)
    expect(await shown({ ref: 'HEAD..HEAD' })).toEqual([])
    for (const ref of ['--output=/tmp/x', '-p', 'HEAD:a.txt', 'a b', '', 'no-such-branch']) {
      expect(await shown({ ref })).toBe('failed')
    }
    expect(await shown({ paths: ['../x'] })).toBe('failed')
    expect(await shown({ paths: ['--output=x'] })).toEqual([])
  })

  it('tells the history of everything or of a path', async () => {
    initRepository(root)
    put(root, { 'b.txt': 'x' })
    git(root, 'add', '.')
    git(root, 'commit', '-q', '-m', 'second: é')
    const repository = await open()
    const log = async (options: { limit: number; path?: string }) => {
      const told = await repository.log(options)
      return told.ok ? told.text.trimEnd().split('\n') : told.code
    }
    expect(await log({ limit: 5 })).toEqual([
      expect.stringMatching(/^[0-9a-f]{7,} \d{4}-\d\d-\d\dT\S+ Person: second: é$/),
      expect.stringMatching(/ Person: first$/),
    ])
    expect(await log({ limit: 1 })).toHaveLength(1)
    expect(await log({ limit: 5, path: 'b.txt' })).toEqual([expect.stringContaining('second')])
  })

  it('shows and commits nothing outside the folder it was opened for', async () => {
    initRepository(root, { 'a.txt': 'one\n', 'sub/b.txt': 'one\n' })
    put(root, { 'a.txt': 'two\n', 'sub/b.txt': 'two\n', 'new.txt': 'x', 'sub/new.txt': 'x' })
    const repository = await open(join(root, 'sub'))
    expect(await statusOf(repository)).toEqual([' M b.txt', '?? new.txt'])
    const diff = await repository.diff({})
    expect(diff.ok && diff.text).toContain('--- a/b.txt')
    expect(diff.ok && diff.text).not.toContain('a.txt')
    expect(await repository.commit({ message: 'sub', paths: ['../a.txt'] })).toMatchObject({
      ok: false,
      code: 'failed',
    })
    expect(await repository.commit({ message: 'sub' })).toMatchObject({ ok: true })
    expect(committed()).toEqual(['sub/b.txt', 'sub/new.txt'])
  })
})

describe('committing', () => {
  beforeEach(() =>
    initRepository(root, { 'a.txt': 'one\n', 'b.txt': 'one\n', 'gone.txt': 'x\n', '.gitignore': '*.log\n' }),
  )

  it('takes all that changed, is new or is gone, but nothing ignored and nothing of Retinue', async () => {
    put(root, { 'a.txt': 'two\n', 'né w.txt': 'x', 'x.log': 'x', '.retinue/log': 'x', 'sub/.retinue/log': 'x' })
    put(root, { '.retinue-tmp-1': 'x', 'sub/[x].txt': 'x' })
    rmSync(join(root, 'gone.txt'))
    const result = await (await open()).commit({ message: 'all\n\nof it' })
    expect(result).toMatchObject({ ok: true, summary: expect.stringContaining('4 files changed') })
    expect(git(root, '-c', 'core.quotePath=false', 'show', '--name-only', '--format=%B').trim().split('\n')).toEqual([
      'all',
      '',
      'of it',
      '',
      '',
      'a.txt',
      'gone.txt',
      'né w.txt',
      'sub/[x].txt',
    ])
  })

  it('takes exactly the paths that are named, and leaves the rest as it was staged', async () => {
    put(root, { 'a.txt': 'two\n', 'b.txt': 'staged\n', 'new.txt': 'x', 'other.txt': 'x', 'dir/x.txt': 'x' })
    git(root, 'add', 'b.txt', 'other.txt')
    put(root, { 'b.txt': 'not staged\n' })
    const repository = await open()
    expect(await repository.commit({ message: 'two', paths: ['a.txt', 'new.txt', 'dir'] })).toMatchObject({ ok: true })
    expect(committed()).toEqual(['a.txt', 'dir/x.txt', 'new.txt'])
    expect(await statusOf(repository)).toEqual(['MM b.txt', 'A  other.txt'])
    expect(git(root, 'show', ':b.txt')).toBe('staged\n')
  })

  it('takes a file that was removed, staged or not', async () => {
    rmSync(join(root, 'gone.txt'))
    git(root, 'rm', '-q', 'b.txt')
    expect(await (await open()).commit({ message: 'gone', paths: ['gone.txt', 'b.txt'] })).toMatchObject({ ok: true })
    expect(committed()).toEqual(['b.txt', 'gone.txt'])
  })

  it('takes names for names', async () => {
    put(root, { '*.txt': 'x', 'c.txt': 'x', '-n': 'x', ':(top)x': 'x' })
    const repository = await open()
    expect(await repository.commit({ message: 'names', paths: ['*.txt', '-n', ':(top)x'] })).toMatchObject({ ok: true })
    expect(committed()).toEqual(['*.txt', '-n', ':(top)x'])
    expect(await repository.commit({ message: '--amend', paths: ['c.txt'] })).toMatchObject({ ok: true })
    expect(git(root, 'log', '--format=%s').trim().split('\n')).toEqual(['--amend', 'names', 'first'])
  })

  it('says when there is nothing, and when a path is unknown, ignored or not to be committed', async () => {
    put(root, { 'x.log': 'x', '.retinue/log': 'x' })
    const repository = await open()
    expect(await repository.commit({ message: 'x' })).toMatchObject({ ok: false, code: 'nothing_to_commit' })
    expect(await repository.commit({ message: 'x', paths: ['a.txt'] })).toMatchObject({ code: 'nothing_to_commit' })
    put(root, { 'a.txt': 'two\n' })
    for (const path of ['none.txt', 'x.log', '../x', 'a\0b']) {
      expect(await repository.commit({ message: 'x', paths: ['a.txt', path] })).toMatchObject({ code: 'failed' })
    }
    for (const path of ['.retinue/log', '.git/config', 'sub/.retinue']) {
      const refused = { code: 'failed', message: expect.stringContaining('belongs to git or Retinue') }
      expect(await repository.commit({ message: 'x', paths: ['a.txt', path] })).toMatchObject(refused)
      expect(await repository.diff({ paths: [path] })).toMatchObject(refused)
      expect(await repository.log({ limit: 1, path })).toMatchObject(refused)
    }
    expect(await statusOf(repository)).toEqual([' M a.txt'])
  })

  it('stages nothing when it fails', async () => {
    put(root, { 'a.txt': 'two\n', 'new.txt': 'x' })
    const repository = await open()
    expect(await repository.commit({ message: '', paths: ['a.txt', 'new.txt'] })).toMatchObject({ code: 'failed' })
    expect(await statusOf(repository)).toEqual([' M a.txt', '?? new.txt'])
  })

  it('does not follow a link out of the repository', async () => {
    const outside = temporaryFolder()
    put(outside, { 'secret.txt': 'secret' })
    symlinkSync(outside, join(root, 'link'))
    const repository = await open()
    expect(await repository.commit({ message: 'x', paths: ['link/secret.txt'] })).toMatchObject({ code: 'failed' })
    expect(await repository.commit({ message: 'link', paths: ['link'] })).toMatchObject({ ok: true })
    expect(git(root, 'ls-tree', 'HEAD', 'link')).toMatch(/^120000 blob/)
  })

  it('speaks as the person where there is one, and as Retinue where there is none', async () => {
    const repository = await open()
    put(root, { 'a.txt': 'two\n' })
    await repository.commit({ message: 'two' })
    rmSync(join(home, '.gitconfig'))
    put(root, { 'a.txt': 'three\n' })
    expect(await repository.commit({ message: 'three' })).toMatchObject({ ok: true })
    expect(git(root, 'log', '-2', '--format=%an <%ae> %cn <%ce>').trim().split('\n')).toEqual([
      'Retinue <retinue@localhost> Retinue <retinue@localhost>',
      'Owner <owner@example.org> Owner <owner@example.org>',
    ])
  })

  it('clears away what a process that was killed has left', async () => {
    const dead = spawn('true')
    await once(dead, 'exit')
    const { owner } = host.identity
    const [, machine = '', start = ''] = /^(.+):\d+:(\d+)$/.exec(owner) ?? []
    put(join(root, '.git'), {
      'retinue-commit-dead/owner': `${machine}:${dead.pid}:${start}`,
      'retinue-commit-dead/objects/x': '',
      'retinue-commit-old/index': '',
      'retinue-commit-new/index': '',
      'retinue-commit-mine/owner': owner,
      'retinue-commit-other/owner': 'elsewhere:1:1',
    })
    const longAgo = Date.now() / 1000 - 7200
    utimesSync(join(root, '.git/retinue-commit-old'), longAgo, longAgo)
    put(root, { 'a.txt': 'two\n' })
    expect(await (await open()).commit({ message: 'second' })).toMatchObject({ ok: true })
    const left = readdirSync(join(root, '.git')).filter((name) => name.startsWith('retinue-commit-'))
    expect(left.sort()).toEqual(['retinue-commit-mine', 'retinue-commit-new', 'retinue-commit-other'])
  })

  it('takes turns', async () => {
    const repository = await open()
    const names = Array.from({ length: 6 }, (_, i) => `n${i}.txt`)
    put(root, Object.fromEntries(names.map((name) => [name, 'x'])))
    const results = await Promise.all(names.map((name) => repository.commit({ message: name, paths: [name] })))
    expect(results.every((result) => result.ok)).toBe(true)
    for (const result of results) expect(committed(result.ok ? result.commit : '')).toHaveLength(1)
  })

  it('leaves a merge under way to the person', async () => {
    git(root, 'checkout', '-q', '-b', 'side')
    put(root, { 'a.txt': 'side\n' })
    git(root, 'commit', '-qam', 'side')
    git(root, 'checkout', '-q', 'main')
    put(root, { 'b.txt': 'main\n' })
    git(root, 'commit', '-qam', 'main')
    git(root, 'merge', '-q', '--no-commit', '--no-ff', 'side')
    const result = await (await open()).commit({ message: 'merge' })
    expect(result).toMatchObject({ ok: false, code: 'failed', message: expect.stringContaining('merge') })
  })
})

it('runs none of the programs that a repository can name', async () => {
  initRepository(root, { 'a.txt': 'one\n', '.gitattributes': '*.txt diff=evil\n' })
  const marker = join(home, 'marker')
  const evil = join(home, 'evil.sh')
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${marker}\n`)
  chmodSync(evil, 0o755)
  for (const hook of ['pre-commit', 'post-commit', 'prepare-commit-msg', 'commit-msg', 'post-index-change']) {
    const file = join(root, '.git/hooks', hook)
    mkdirSync(join(root, '.git/hooks'), { recursive: true })
    writeFileSync(file, `#!/bin/sh\n${evil}\n`)
    chmodSync(file, 0o755)
  }
  const settings = {
    'core.fsmonitor': evil,
    'core.pager': evil,
    'pager.diff': evil,
    'pager.log': evil,
    'core.editor': evil,
    'diff.external': evil,
    'diff.evil.command': evil,
    'diff.evil.textconv': evil,
    'gpg.program': evil,
    'commit.gpgSign': 'true',
    'log.showSignature': 'true',
    'core.sshCommand': evil,
    'credential.helper': evil,
  }
  for (const [name, value] of Object.entries(settings)) git(root, 'config', name, value)

  // A commit with a signature, which somebody might want to have checked.
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n'
  const signed = git(root, 'cat-file', 'commit', 'HEAD').replace('\n\n', `\n${signature}\n`)
  writeFileSync(join(home, 'signed'), signed)
  git(root, 'reset', '--soft', git(root, 'hash-object', '-t', 'commit', '-w', join(home, 'signed')).trim())
  rmSync(marker, { force: true })

  const repository = await open()
  put(root, { 'a.txt': 'two\n', 'new.txt': 'x' })
  await repository.head()
  await repository.status()
  const diff = await repository.diff({})
  await repository.diff({ ref: 'HEAD', paths: ['a.txt'] })
  expect(await repository.commit({ message: 'two' })).toMatchObject({ ok: true })
  await repository.log({ limit: 5 })
  await host.facts()
  expect(diff.ok && diff.text).toContain('+two')
  expect(existsSync(marker)).toBe(false)

  // The trap works: git by itself falls into it.
  put(root, { 'a.txt': 'three\n' })
  git(root, 'diff')
  expect(existsSync(marker)).toBe(true)
})

function mkdirp(...parts: string[]): string {
  const folder = join(...parts)
  mkdirSync(folder, { recursive: true })
  return folder
}
