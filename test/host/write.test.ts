import { createHash } from 'node:crypto'
import { chmodSync, linkSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { holdByDescriptor, holdByName } from '../../src/host/held.js'
import type { Workspace } from '../../src/host/index.js'
import { Locks } from '../../src/host/locks.js'
import { openWorkspace } from '../../src/host/workspace.js'
import { put, temporaryFolders } from './helpers.js'

const temporaryFolder = temporaryFolders()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe.each([
  ['by descriptor', holdByDescriptor],
  ['by name', holdByName],
])('writing to a workspace held %s', (_, hold) => {
  let root: string
  let workspace: Workspace

  beforeEach(async () => {
    root = temporaryFolder()
    workspace = await openWorkspace(root, hold, new Locks())
  })

  const content = (path: string) => readFileSync(join(root, path), 'utf8')

  it('creates a file with the folders above it', async () => {
    const written = await workspace.writeText('a/b/c.txt', 'hé\n')
    expect(written).toEqual({ ok: true, path: 'a/b/c.txt', digest: sha256('hé\n'), created: true })
    expect(content('a/b/c.txt')).toBe('hé\n')
    expect(statSync(join(root, 'a/b/c.txt')).mode & 0o777).toBe(0o666 & ~process.umask())
  })

  it('replaces a file, keeps its mode and leaves nothing else behind', async () => {
    put(root, { 'run.sh': 'old' })
    chmodSync(join(root, 'run.sh'), 0o751)
    expect(await workspace.writeText('run.sh', 'new')).toMatchObject({ ok: true, created: false })
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o751)
    expect(content('run.sh')).toBe('new')
    expect(readdirSync(root)).toEqual(['run.sh'])
  })

  it('does not write into a second name of the same file', async () => {
    put(root, { 'a.txt': 'old' })
    linkSync(join(root, 'a.txt'), join(root, 'b.txt'))
    await workspace.writeText('a.txt', 'new')
    expect(content('b.txt')).toBe('old')
  })

  it('writes through a link and keeps the link', async () => {
    put(root, { 'sub/target.txt': 'old' })
    symlinkSync('sub/target.txt', join(root, 'link'))
    symlinkSync('sub/made.txt', join(root, 'dangling'))
    expect(await workspace.writeText('link', 'new')).toMatchObject({ ok: true, path: 'sub/target.txt', created: false })
    expect(await workspace.writeText('dangling', 'made')).toMatchObject({ path: 'sub/made.txt', created: true })
    expect(readlinkSync(join(root, 'link'))).toBe('sub/target.txt')
    expect(lstatSync(join(root, 'dangling')).isSymbolicLink()).toBe(true)
    expect([content('sub/target.txt'), content('sub/made.txt')]).toEqual(['new', 'made'])
  })

  it('writes only over what is expected', async () => {
    put(root, { 'a.txt': 'one' })
    expect(await workspace.writeText('a.txt', 'two', { expect: sha256('one') })).toMatchObject({ ok: true })
    expect(await workspace.writeText('a.txt', 'three', { expect: sha256('one') })).toMatchObject({ code: 'changed' })
    expect(await workspace.writeText('a.txt', 'three', { expect: null })).toMatchObject({ code: 'changed' })
    expect(await workspace.writeText('new/b.txt', 'x', { expect: sha256('one') })).toMatchObject({ code: 'changed' })
    expect(await workspace.writeText('c.txt', 'x', { expect: null })).toMatchObject({ ok: true, created: true })
    expect(content('a.txt')).toBe('two')
    expect(readdirSync(root)).toEqual(['a.txt', 'c.txt'])
  })

  it('lets one of many writers win who all expect the same', async () => {
    put(root, { 'a.txt': 'old' })
    const tries = Array.from({ length: 20 }, (_, i) =>
      workspace.writeText('a.txt', `new ${i}`, { expect: sha256('old') }),
    )
    const written = (await Promise.all(tries)).filter((result) => result.ok)
    expect(written).toHaveLength(1)
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  it('lets a reader see the old or the new content and nothing in between', async () => {
    const contents = ['a'.repeat(200_000), 'b'.repeat(100_000)]
    await workspace.writeText('a.txt', contents[0] ?? '')
    let writing = true
    const reader = async () => {
      let reads = 0
      while (writing) {
        const read = await workspace.readText('a.txt')
        expect(read).toMatchObject({ ok: true, path: 'a.txt' })
        expect(contents.includes(read.ok ? read.text : '')).toBe(true)
        reads++
        // Small files are read in one go: without this the writer would never get a turn.
        await nextTurn()
      }
      return reads
    }
    const readers = [reader(), reader()]
    for (let i = 0; i < 40; i++) await workspace.writeText('a.txt', contents[i % 2] ?? '')
    writing = false
    for (const reads of await Promise.all(readers)) expect(reads).toBeGreaterThan(0)
  })

  it('removes what it had begun when it fails', async () => {
    put(root, { 'a.txt': 'one' })
    expect(await workspace.writeText('a.txt', 'two', { expect: sha256('other') })).toMatchObject({ code: 'changed' })
    expect(await workspace.writeText(`${'x'.repeat(300)}.txt`, 'x')).toMatchObject({ ok: false, code: 'io' })
    expect(await workspace.writeText('a.txt/b.txt', 'x')).toMatchObject({ ok: false, code: 'not_a_directory' })
    expect(await workspace.writeText('folder/', 'x')).toMatchObject({ ok: false, code: 'not_a_file' })
    expect(readdirSync(root)).toEqual(['a.txt'])
  })

  it.skipIf(process.getuid?.() === 0)('leaves a read-only file alone', async () => {
    put(root, { 'a.txt': 'one' })
    chmodSync(join(root, 'a.txt'), 0o444)
    expect(await workspace.writeText('a.txt', 'two')).toMatchObject({ ok: false, code: 'permission_denied' })
  })
})
