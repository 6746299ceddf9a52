import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { holdByDescriptor, holdByName } from '../../src/host/held.js'
import { createHost, type Workspace } from '../../src/host/index.js'
import { Locks } from '../../src/host/locks.js'
import { openWorkspace } from '../../src/host/workspace.js'
import { put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()

/** Linux holds files by descriptor; elsewhere names are all there is. Both keep the same rules. */
describe.each([
  ['by descriptor', holdByDescriptor],
  ['by name', holdByName],
])('a workspace held %s', (_, hold) => {
  let base: string
  let root: string
  let workspace: Workspace

  beforeEach(async () => {
    base = temporaryFolder()
    root = join(base, 'proj')
    put(base, {
      'proj/a.txt': 'inside\n',
      'proj/sub/b.txt': 'below\n',
      'proj-evil/secret.txt': 'secret\n',
      'outside/secret.txt': 'secret\n',
    })
    workspace = await openWorkspace(root, hold, new Locks())
  })

  const resolves = async (given: string) => {
    const resolved = await workspace.resolve(given)
    return resolved.ok ? resolved.path : resolved.code
  }

  it('takes paths relative to its root and absolute paths inside it', async () => {
    expect(await resolves('a.txt')).toBe('a.txt')
    expect(await resolves('./sub/../sub//b.txt')).toBe('sub/b.txt')
    expect(await resolves(join(root, 'sub/b.txt'))).toBe('sub/b.txt')
    expect(await resolves('../proj/a.txt')).toBe('a.txt')
    expect(await resolves('')).toBe('.')
    expect(await resolves(root)).toBe('.')
    expect(await resolves('sub/..')).toBe('.')
  })

  it('resolves what does not exist through the nearest parent that does', async () => {
    expect(await resolves('new.txt')).toBe('new.txt')
    expect(await resolves('sub/x/y/z.txt')).toBe('sub/x/y/z.txt')
    symlinkSync('sub', join(root, 'link'))
    expect(await resolves('link/x/y.txt')).toBe('sub/x/y.txt')
  })

  it.each([
    '..',
    '../outside/secret.txt',
    'sub/../../outside/secret.txt',
    '../proj-evil/secret.txt',
    '../proj-evil',
    '/etc/passwd',
    '/',
    '../outside/none.txt',
    '/etc/passwd/none',
    '../../../../../../../etc/passwd',
  ])('refuses %s', async (given) => {
    expect(await resolves(given)).toBe('outside_workspace')
    for (const tried of [
      await workspace.readText(given),
      await workspace.readBytes(given),
      await workspace.digest(given),
      await workspace.writeText(given, 'x'),
      await workspace.list(given),
      await workspace.find('*', { under: given, limit: 10 }),
      await workspace.search({ pattern: '.', under: given, limit: 10 }),
    ]) {
      expect(tried).toMatchObject({ ok: false, code: 'outside_workspace' })
    }
  })

  it('refuses a NUL byte in a path', async () => {
    expect(await workspace.readText('a.txt\0.png')).toMatchObject({ ok: false, code: 'outside_workspace' })
  })

  it('follows symbolic links before it decides', async () => {
    symlinkSync('sub/b.txt', join(root, 'in-file'))
    symlinkSync('sub', join(root, 'in-folder'))
    symlinkSync('../outside/secret.txt', join(root, 'out-file'))
    symlinkSync('../outside', join(root, 'out-folder'))
    symlinkSync(join(base, 'proj-evil'), join(root, 'out-sibling'))
    expect(await workspace.readText('in-file')).toEqual({ ok: true, path: 'sub/b.txt', text: 'below\n', bytes: 6 })
    expect(await workspace.readText('in-folder/b.txt')).toMatchObject({ ok: true, path: 'sub/b.txt' })
    for (const given of ['out-file', 'out-folder', 'out-folder/secret.txt', 'out-folder/new.txt', 'out-sibling/x/y']) {
      expect(await resolves(given)).toBe('outside_workspace')
      expect(await workspace.readText(given)).toMatchObject({ ok: false, code: 'outside_workspace' })
      expect(await workspace.writeText(given, 'x')).toMatchObject({ ok: false, code: 'outside_workspace' })
    }
  })

  it('takes a dangling link for the place it points to', async () => {
    symlinkSync('sub/new.txt', join(root, 'in'))
    symlinkSync('../outside/new.txt', join(root, 'out'))
    symlinkSync('../outside/new', join(root, 'out-folder'))
    symlinkSync('out', join(root, 'out-by-two'))
    expect(await resolves('in')).toBe('sub/new.txt')
    expect(await resolves('out')).toBe('outside_workspace')
    expect(await resolves('out-by-two')).toBe('outside_workspace')
    expect(await resolves('out-folder/deep/file.txt')).toBe('outside_workspace')
    expect(await workspace.writeText('out', 'x')).toMatchObject({ ok: false, code: 'outside_workspace' })
    expect(await workspace.writeText('out-folder/deep/file.txt', 'x')).toMatchObject({ code: 'outside_workspace' })
    expect((await workspace.list('.')).ok).toBe(true)
  })

  it('answers a loop of links with a fault', async () => {
    symlinkSync('loop-b', join(root, 'loop-a'))
    symlinkSync('loop-a', join(root, 'loop-b'))
    expect(await workspace.readText('loop-a')).toMatchObject({ ok: false, code: 'io' })
    expect(await workspace.writeText('loop-a/x', 'x')).toMatchObject({ ok: false, code: 'io' })
  })

  it('opens a root that is itself reached through a link', async () => {
    symlinkSync('proj', join(base, 'alias'))
    const aliased = await openWorkspace(join(base, 'alias'), hold, new Locks())
    expect(aliased.root).toBe(root)
    expect(await aliased.readText(join(base, 'alias/a.txt'))).toMatchObject({ ok: true, path: 'a.txt' })
  })

  it('refuses everything once its root leads somewhere else', async () => {
    execFileSync('mv', [root, join(base, 'moved')])
    symlinkSync('outside', root)
    expect(await workspace.readText('secret.txt')).toMatchObject({ ok: false, code: 'outside_workspace' })
    expect(await workspace.writeText('new.txt', 'x')).toMatchObject({ ok: false, code: 'outside_workspace' })
  })

  it('does not block on a named pipe, and refuses other things that are no files', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    expect(await workspace.readText('pipe')).toMatchObject({ ok: false, code: 'not_a_file' })
    expect(await workspace.digest('pipe')).toMatchObject({ ok: false, code: 'not_a_file' })
    expect(await workspace.writeText('pipe', 'x')).toMatchObject({ ok: false, code: 'not_a_file' })
    expect(await workspace.search({ pattern: 'x', under: 'pipe', limit: 1 })).toMatchObject({ code: 'not_a_file' })
    expect(await workspace.readText('sub')).toMatchObject({ ok: false, code: 'not_a_file' })
    expect(await workspace.writeText('sub', 'x')).toMatchObject({ ok: false, code: 'not_a_file' })
    expect(await workspace.writeText('.', 'x')).toMatchObject({ ok: false, code: 'not_a_file' })
    expect(await workspace.list('a.txt')).toMatchObject({ ok: false, code: 'not_a_directory' })
    expect(await workspace.readText('a.txt/x')).toMatchObject({ ok: false, code: 'not_a_directory' })
    expect(await workspace.readText('none.txt')).toMatchObject({ ok: false, code: 'not_found' })
    expect(await workspace.list('none')).toMatchObject({ ok: false, code: 'not_found' })
  })

  it('reads text as it is, byte order mark and line ends included', async () => {
    put(root, { 'bom.txt': '\uFEFFhé\r\n', 'empty.txt': '' })
    expect(await workspace.readText('bom.txt')).toEqual({ ok: true, path: 'bom.txt', text: '\uFEFFhé\r\n', bytes: 8 })
    expect(await workspace.readText('empty.txt')).toEqual({ ok: true, path: 'empty.txt', text: '', bytes: 0 })
  })

  it('tells binary from text by a NUL or by what is not UTF-8', async () => {
    put(root, { nul: 'a\0b', latin: Buffer.from([0x68, 0xe9]), late: `${'x'.repeat(9000)}\0` })
    expect(await workspace.readText('nul')).toMatchObject({ ok: false, code: 'binary' })
    expect(await workspace.readText('latin')).toMatchObject({ ok: false, code: 'binary' })
    expect(await workspace.readText('late')).toMatchObject({ ok: true })
    expect(await workspace.readBytes('nul')).toEqual({ ok: true, path: 'nul', bytes: Buffer.from('a\0b') })
  })

  it('refuses a file over the limit before reading it, and names both sizes', async () => {
    truncateSync(join(root, 'a.txt'), 100 * 1024 ** 3)
    const read = await workspace.readText('a.txt')
    expect(read).toMatchObject({ ok: false, code: 'too_large' })
    expect(read.ok ? '' : read.message).toMatch(/107374182400 bytes.*10485760.*search/)
    expect(await workspace.readBytes('sub/b.txt', { max_bytes: 6 })).toMatchObject({ ok: true })
    expect(await workspace.readBytes('sub/b.txt', { max_bytes: 5 })).toMatchObject({ code: 'too_large' })
  })

  it('reads files that claim to be empty', async () => {
    // Files of /proc have no size. The root is only as wide as this test needs it.
    const proc = await openWorkspace('/proc/self', hold, new Locks())
    expect(await proc.readText('status')).toMatchObject({ ok: true, text: expect.stringContaining('Pid:') })
  })

  it('lists a folder by name, without git and Retinue', async () => {
    put(root, { '.git/config': '', '.retinue/log': '', '.gitignore': 'x', '.retinue-tmp-1': 'x' })
    symlinkSync('a.txt', join(root, 'link'))
    mkdirSync(join(root, 'zoo'))
    expect(await workspace.list('.')).toEqual({
      ok: true,
      path: '.',
      entries: [
        { name: '.gitignore', kind: 'file', bytes: 1 },
        { name: 'a.txt', kind: 'file', bytes: 7 },
        { name: 'link', kind: 'symlink', bytes: 0 },
        { name: 'sub', kind: 'directory', bytes: 0 },
        { name: 'zoo', kind: 'directory', bytes: 0 },
      ],
    })
    expect(await workspace.list('.git')).toMatchObject({ ok: false, code: 'outside_workspace' })
  })

  it('digests what is there, and says when nothing is', async () => {
    expect(await workspace.digest('a.txt')).toEqual({
      ok: true,
      path: 'a.txt',
      digest: '7b2441693c861bf6969869d8b6f45f098bc8ef07b78ca043a1cb663159aabb10',
    })
    expect(await workspace.digest('none.txt')).toEqual({ ok: true, path: 'none.txt', digest: null })
  })
})

it('opens a workspace through the host, and only for a folder', async () => {
  const root = temporaryFolder()
  put(root, { 'a.txt': 'x' })
  const host = createHost()
  expect((await host.workspace(root)).root).toBe(root)
  await expect(host.workspace(join(root, 'a.txt'))).rejects.toThrow(/not a folder/)
})
