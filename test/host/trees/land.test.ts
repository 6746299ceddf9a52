import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Hold, holdFor } from '../../../src/host/held.js'
import { land } from '../../../src/host/trees/land.js'
import { tidy } from '../../../src/host/trees/remove.js'
import { git, initRepository, put, temporaryFolders } from '../helpers.js'
import { landingProcess } from './landing.js'
import { good, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()

/** All files below, with what is in them, but git's and Retinue's. */
function filesIn(root: string, below = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (path === '.git' || path === '.retinue') continue
    if (entry.isDirectory()) {
      const inside = filesIn(root, path)
      Object.assign(found, Object.keys(inside).length === 0 ? { [`${path}/`]: '' } : inside)
    } else if (entry.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(root, path))}`
    else found[path] = readFileSync(join(root, path), 'latin1')
  }
  return found
}

/** Does something each time before a path is looked up. */
function interrupting(matches: (path: string) => boolean, act: () => void): Hold {
  const hold = holdFor(process.platform)
  return (path, options) => {
    if (matches(path)) act()
    return hold(path, options)
  }
}

describe('into a folder that is as it was', () => {
  it('brings changes of every kind, uncommitted, and leaves the index alone', async () => {
    const root = temporaryFolder()
    initRepository(root, {
      'kept.txt': 'kept\n',
      'changed.txt': 'one\n',
      'gone/deep/file.txt': 'gone\n',
      'program.sh': 'echo\n',
      'was-file': 'file\n',
      'was-folder/a': 'a\n',
      'was-folder/b/c': 'c\n',
    })
    put(root, { 'untracked.txt': 'mine\n' })
    chmodSync(join(root, 'changed.txt'), 0o640)
    const index = readFileSync(join(root, '.git/index'))
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => {
      put(top, { 'changed.txt': 'two\n', 'new/ü "x"\n.txt': 'new\n', 'untracked.txt': 'ours\n' })
      writeFileSync(join(top, 'binary'), Buffer.from([0, 255, 254, 13, 10]))
      rmSync(join(top, 'gone'), { recursive: true })
      chmodSync(join(top, 'program.sh'), 0o755)
      unlinkSync(join(top, 'was-file'))
      put(top, { 'was-file/inside': 'inside\n' })
      rmSync(join(top, 'was-folder'), { recursive: true })
      put(top, { 'was-folder': 'file now\n' })
      symlinkSync('changed.txt', join(top, 'link'))
      put(top, { 'retinue.yaml': 'name: x\n' })
    })
    const { paths } = await good(land(own, { base, to, exactly: true }))
    expect(paths).toContain('was-file/inside')
    expect(filesIn(root)).toEqual({
      'kept.txt': 'kept\n',
      'changed.txt': 'two\n',
      'new/ü "x"\n.txt': 'new\n',
      'untracked.txt': 'ours\n',
      binary: '\0\xff\xfe\r\n',
      'program.sh': 'echo\n',
      'was-file/inside': 'inside\n',
      'was-folder': 'file now\n',
      link: '-> changed.txt',
      'retinue.yaml': 'name: x\n',
    })
    expect(statSync(join(root, 'program.sh')).mode & 0o111).toBe(0o111)
    expect(statSync(join(root, 'changed.txt')).mode & 0o777).toBe(0o640)
    expect(readFileSync(join(root, '.git/index'))).toEqual(index)
    expect(git(root, 'log', '--format=%s').trim()).toBe('first')
    expect(readdirSync(own.home).filter((name) => /^(scratch|trash)-/.test(name))).toEqual([])
  })

  it('does the same in a folder without git', async () => {
    const root = temporaryFolder()
    put(root, { 'a.txt': 'one\n', 'b/c.txt': 'c\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => {
      put(top, { 'a.txt': 'two\n', 'd.txt': 'd\n' })
      rmSync(join(top, 'b'), { recursive: true })
    })
    expect(await good(land(own, { base, to, exactly: true }))).toEqual({
      ok: true,
      paths: ['a.txt', 'b/c.txt', 'd.txt'],
    })
    expect(filesIn(root)).toEqual({ 'a.txt': 'two\n', 'd.txt': 'd\n' })
    expect(existsSync(join(root, '.git'))).toBe(false)
  })

  it('writes line endings as git would check them out', async () => {
    const root = temporaryFolder()
    initRepository(root, { '.gitattributes': '*.bat text eol=crlf\n', 'a.bat': 'one\r\n', 'a.txt': 'one\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => {
      put(top, { 'a.bat': 'one\r\ntwo\r\n', 'b.cmd': 'three\r\n', 'a.txt': 'two\n' })
      put(top, { '.gitattributes': '*.bat text eol=crlf\n*.cmd text eol=crlf\n' })
    })
    expect(git(own.home, '--git-dir', own.home, 'show', `${to}:b.cmd`)).toBe('three\n')
    await good(land(own, { base, to, exactly: true }))
    expect(filesIn(root)).toMatchObject({ 'a.bat': 'one\r\ntwo\r\n', 'b.cmd': 'three\r\n', 'a.txt': 'two\n' })
  })

  it('works for a workspace below the top', async () => {
    const root = temporaryFolder()
    initRepository(root, { 'packages/a/x': 'x\n', y: 'y\n' })
    const own = await openTrees(join(root, 'packages/a'))
    const { base, to } = await work(own, 'r1', 'a1', (top) => put(top, { 'packages/a/x': 'z\n' }))
    await good(land(own, { base, to, exactly: true }))
    expect(readFileSync(join(root, 'packages/a/x'), 'utf8')).toBe('z\n')
  })
})

describe('what stands in the way', () => {
  it('is a file that the person changed since, and nothing is written', async () => {
    const root = temporaryFolder()
    initRepository(root, { 'a.txt': 'one\n', 'b.txt': 'one\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => put(top, { 'a.txt': 'two\n', 'c.txt': 'c\n' }))
    put(root, { 'b.txt': 'mine\n' })
    const before = filesIn(root)
    expect(await land(own, { base, to, exactly: true })).toMatchObject({ ok: false, code: 'changed', paths: ['b.txt'] })
    expect(filesIn(root)).toEqual(before)
  })

  it('is an ignored file of theirs, which no capture has', async () => {
    const root = temporaryFolder()
    initRepository(root, { '.gitignore': 'out.log\n', 'a.txt': 'one\n' })
    put(root, { 'out.log': 'theirs\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) =>
      put(top, { '.gitignore': '', 'out.log': 'ours\n', 'a.txt': 'two\n' }),
    )
    for (const exactly of [true, false]) {
      expect(await land(own, { base, to, exactly })).toMatchObject({ ok: false, code: 'changed', paths: ['out.log'] })
    }
    expect(filesIn(root)).toEqual({ '.gitignore': 'out.log\n', 'a.txt': 'one\n', 'out.log': 'theirs\n' })
  })

  it('is an ignored file in a folder that a file takes the place of', async () => {
    const root = temporaryFolder()
    initRepository(root, { '.gitignore': '*.log\n', 'x/a.txt': 'one\n' })
    put(root, { 'x/deep/out.log': 'theirs\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => {
      rmSync(join(top, 'x'), { recursive: true })
      put(top, { x: 'file\n' })
    })
    expect(await land(own, { base, to, exactly: true })).toMatchObject({ code: 'changed', paths: ['x/deep/out.log'] })
    expect(filesIn(root)).toMatchObject({ 'x/a.txt': 'one\n', 'x/deep/out.log': 'theirs\n' })
  })

  it('is a symbolic link where a folder is expected', async () => {
    const [root, outside] = [temporaryFolder(), temporaryFolder()]
    initRepository(root, { '.gitignore': '/build\n', 'a.txt': 'one\n' })
    symlinkSync(outside, join(root, 'build'))
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => put(top, { '.gitignore': '', 'build/x': 'ours\n' }))
    expect(await land(own, { base, to, exactly: true })).toMatchObject({ ok: false, code: 'changed', paths: ['build'] })
    expect(readdirSync(outside)).toEqual([])
    expect(readFileSync(join(root, '.gitignore'), 'utf8')).toBe('/build\n')
  })

  it('is a submodule', async () => {
    const [root, other] = [temporaryFolder(), temporaryFolder()]
    initRepository(root)
    initRepository(other)
    const own = await openTrees(root)
    const { base } = await work(own, 'r1', 'a1', () => {})
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub')
    git(root, 'commit', '-q', '-m', 'sub')
    const to = git(root, 'rev-parse', 'HEAD').trim()
    git(root, 'reset', '-q', '--hard', 'HEAD~')
    expect(await land(own, { base, to, exactly: false })).toMatchObject({ ok: false, code: 'failed', paths: ['sub'] })
  })

  it('is a path of Retinue or git in any spelling', async () => {
    const root = temporaryFolder()
    initRepository(root)
    const own = await openTrees(root)
    const { base } = await work(own, 'r1', 'a1', () => {})
    for (const path of ['.retinue/x', 'a/.Retinue/x']) {
      const id = git(root, 'hash-object', '-w', 'a.txt').trim()
      const env = ['-c', 'core.protectNTFS=false', '-c', 'core.protectHFS=false']
      git(root, ...env, 'update-index', '--add', '--cacheinfo', `100644,${id},${path}`)
      const tree = git(root, ...env, 'write-tree').trim()
      const to = git(root, 'commit-tree', tree, '-p', base, '-m', 'evil').trim()
      git(root, 'reset', '-q', '--hard')
      expect(await land(own, { base, to, exactly: true })).toMatchObject({ ok: false, code: 'failed', paths: [path] })
    }
    expect(existsSync(join(root, 'a'))).toBe(false)
  })
})

describe('into a folder that has changed since', () => {
  it('merges with what the person changed, also in commits', async () => {
    const root = temporaryFolder()
    const lines = [...'abcdefghij'].map((letter) => `${letter}\n`)
    initRepository(root, { 'a.txt': lines.join(''), 'b.txt': 'b\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => {
      put(top, { 'a.txt': lines.with(0, 'agent\n').join(''), 'new.txt': 'new\n' })
    })
    put(root, { 'b.txt': 'committed\n' })
    git(root, 'commit', '-qam', 'second')
    put(root, { 'a.txt': lines.with(9, 'person\n').join('') })
    expect(await good(land(own, { base, to, exactly: false }))).toEqual({ ok: true, paths: ['a.txt', 'new.txt'] })
    expect(filesIn(root)).toEqual({
      'a.txt': lines.with(0, 'agent\n').with(9, 'person\n').join(''),
      'b.txt': 'committed\n',
      'new.txt': 'new\n',
    })
  })

  it('writes nothing where both changed the same', async () => {
    const root = temporaryFolder()
    initRepository(root, { 'a.txt': 'one\n', 'b.txt': 'one\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => put(top, { 'a.txt': 'agent\n', 'b.txt': 'two\n' }))
    put(root, { 'a.txt': 'person\n' })
    expect(await land(own, { base, to, exactly: false })).toMatchObject({ code: 'conflict', paths: ['a.txt'] })
    expect(filesIn(root)).toEqual({ 'a.txt': 'person\n', 'b.txt': 'one\n' })
  })
})

describe('a person who saves during the landing', () => {
  /** Saves when the landing looks at the file for the nth time; what the person saved must be there in the end. */
  async function saving(nth: number, save: (path: string) => void) {
    const root = temporaryFolder()
    initRepository(root, { 'a.txt': 'one\n', 'b.txt': 'one\n', 'z.txt': 'one\n' })
    const own = await openTrees(root)
    const { base, to } = await work(own, 'r1', 'a1', (top) => {
      put(top, { 'a.txt': 'two\n', 'b.txt': 'two\n', 'z.txt': 'two\n' })
    })
    let times = 0
    const hold = interrupting(
      (path) => path.endsWith('/b.txt') || /tmp-was/.test(path),
      () => {
        if (++times === nth) save(join(root, 'b.txt'))
      },
    )
    const landed = await land(own, { base, to, exactly: true }, { root, hold })
    return { landed, times, files: filesIn(root), own, base, to }
  }

  it('keeps what was saved, at whatever moment', { timeout: 120_000 }, async () => {
    const { times } = await saving(0, () => {})
    expect(times).toBe(5)
    for (let nth = 1; nth <= times; nth++) {
      const { landed, files } = await saving(nth, (path) => writeFileSync(path, 'saved\n'))
      // The last time is when it has been brought over already.
      expect(landed, `${nth}`).toMatchObject(nth < times ? { code: 'changed', paths: ['b.txt'] } : { ok: true })
      expect(files, `${nth}`).toMatchObject({ 'b.txt': 'saved\n', 'z.txt': nth < times ? 'one\n' : 'two\n' })
      expect(Object.keys(files).sort(), `${nth}`).toEqual(['a.txt', 'b.txt', 'z.txt'])
    }
  })

  it('is told what was brought over and what not', async () => {
    const { landed, own, base, to } = await saving(4, (path) => writeFileSync(path, 'saved\n'))
    expect(landed).toMatchObject({
      message:
        '"b.txt" was changed during the landing, which stopped there. brought over: "a.txt"; not brought over: "b.txt", "z.txt"',
    })
    // What is there now can be merged with the rest later.
    put(own.top, { 'b.txt': 'one\n' })
    await good(land(own, { base, to, exactly: false }))
    expect(filesIn(own.top)).toEqual({ 'a.txt': 'two\n', 'b.txt': 'two\n', 'z.txt': 'two\n' })
  })
})

it('leaves what is the same already as it is', async () => {
  const root = temporaryFolder()
  initRepository(root, { 'a.txt': 'one\n' })
  const own = await openTrees(root)
  const { base, to } = await work(own, 'r1', 'a1', (top) => put(top, { 'a.txt': 'two\n' }))
  put(root, { 'a.txt': 'two\n' })
  const before = lstatSync(join(root, 'a.txt'))
  expect(await land(own, { base, to, exactly: true })).toMatchObject({ code: 'changed', paths: ['a.txt'] })
  await good(land(own, { base, to, exactly: true, again: true }))
  expect(lstatSync(join(root, 'a.txt')).ino).toBe(before.ino)
})

describe('after a kill at any point', () => {
  it('brings the rest when it is done again', { timeout: 300_000 }, async () => {
    const root = temporaryFolder()
    const files = {
      '.gitignore': '*.log\n',
      'a.txt': 'one\n',
      'gone/file.txt': 'gone\n',
      'was-file': 'file\n',
      'was-folder/a': 'a\n',
    }
    initRepository(root, files)
    const untracked = { 'hidden.txt': 'untracked\n' }
    put(root, untracked)
    const own = await openTrees(root)
    const { base, to, tree } = await work(own, 'r1', 'a1', (top) => {
      put(top, { '.gitignore': '/hidden.txt\n', 'a.txt': 'two\n', 'new.log': 'new\n' })
      rmSync(join(top, 'gone'), { recursive: true })
      unlinkSync(join(top, 'was-file'))
      put(top, { 'was-file/inside': 'inside\n' })
      rmSync(join(top, 'was-folder'), { recursive: true })
      symlinkSync('a.txt', join(top, 'was-folder'))
    })
    const wanted = filesIn(tree.top)
    const landIn = await landingProcess(temporaryFolder())
    const step = process.env.RETINUE_FULL ? 1 : 2
    let kills = 0
    for (let nth = step; ; nth += step) {
      const names = Object.keys(filesIn(root)).map((path) => path.split('/')[0] ?? '')
      for (const name of names) rmSync(join(root, name), { recursive: true, force: true })
      put(root, { ...files, ...untracked })
      if (landIn({ folder: root, base, to, nth }) === 0) break
      kills++
      await good(land(own, { base, to, exactly: true, again: true }))
      expect(filesIn(root), `${nth}`).toEqual(wanted)
    }
    expect(kills).toBeGreaterThan(8)
    expect(filesIn(root)).toEqual(wanted)
    await good(tidy(own))
    expect(readdirSync(own.home).filter((name) => /^(scratch|trash)-/.test(name))).toEqual([])
  })
})
