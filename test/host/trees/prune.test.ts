import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { capture } from '../../../src/host/trees/capture.js'
import { pack, receive, unpack } from '../../../src/host/trees/parcel.js'
import type { Private } from '../../../src/host/trees/private.js'
import { pruneObjects } from '../../../src/host/trees/prune.js'
import { removeRun, tidy } from '../../../src/host/trees/remove.js'
import { add } from '../../../src/host/trees/worktree.js'
import { blobDigest } from '../../../src/store/index.js'
import { initRepository, put, temporaryFolders } from '../helpers.js'
import { filesIn } from './person.js'
import { good, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()

const looseIn = ({ home }: Private) =>
  readdirSync(join(home, 'objects'), { recursive: true, encoding: 'utf8' }).filter((path) => /^..\/./.test(path))

const packsIn = ({ home }: Private) => readdirSync(join(home, 'objects/pack')).filter((name) => name.endsWith('.pack'))

function age({ home }: Private, days: number): void {
  const at = Date.now() / 1000 - days * 86_400
  for (const path of readdirSync(join(home, 'objects'), { recursive: true, encoding: 'utf8' })) {
    if (/^(?:..|pack)\/./.test(path)) utimesSync(join(home, 'objects', path), at, at)
  }
}

async function has({ git }: Private, object: string): Promise<boolean> {
  return (await good(git().run(['cat-file', '-e', object], { answers: [1, 128] }))).exit_code === 0
}

it('removes what no run has any more once it is two weeks old, and nothing else', async () => {
  const root = temporaryFolder()
  initRepository(root)
  const own = await openTrees(root)
  const gone = await work(own, 'r1', 'a1', (top) => put(top, { 'gone.txt': 'gone\n' }))
  const kept = await work(own, 'r2', 'a1', (top) => put(top, { 'kept.txt': 'kept\n' }))
  await good(removeRun(own, 'r1'))

  age(own, 13)
  await good(tidy(own))
  expect(await has(own, gone.to)).toBe(true)

  age(own, 15)
  // As another process would that has not made a branch of it yet.
  const fresh = await good(own.git().run(['hash-object', '-w', '--stdin'], { stdin: 'just written\n' }))
  await good(tidy(own))
  expect(await has(own, gone.to)).toBe(false)
  expect(await has(own, `${kept.to}:kept.txt`)).toBe(true)
  expect(await has(own, fresh.stdout.trim())).toBe(true)
})

it('packs objects where there are very many, and only then', async () => {
  const root = temporaryFolder()
  initRepository(root)
  const own = await openTrees(root)
  const { to, tree } = await work(own, 'r1', 'a1', (top) => {
    for (let n = 0; n < 20; n++) put(top, { [`${n}.txt`]: `${n}\n` })
  })
  const before = looseIn(own).length
  await good(tidy(own))
  expect(looseIn(own)).toHaveLength(before)
  await pruneObjects(own, { loose: before, packs: 50 })
  expect(looseIn(own)).toHaveLength(before)
  await pruneObjects(own, { loose: before - 1, packs: 50 })
  expect(looseIn(own)).toEqual([])
  expect(await has(own, `${to}:7.txt`)).toBe(true)
  expect((await good(tree.head())).commit).toBe(to)
})

/** What a clone has that agents of other machines worked in: the work as a parcel, and perhaps a branch of it. */
async function carriedTo(from: Private, to: Private, run_id: string, branch: boolean): Promise<string> {
  const made = await work(from, run_id, 'a1', (top) => put(top, { [`${run_id}.txt`]: `${run_id}\n` }))
  const { bytes } = await good(pack(from, made.to, [], () => ({ push: () => {}, end: () => null })))
  await good(unpack(to, blobDigest(bytes as Uint8Array), bytes as Uint8Array))
  if (branch) await good(receive(to, run_id, 'a1', made.to))
  return made.to
}

it('removes what was carried here for runs that are gone once it is two weeks old, and nothing else', async () => {
  const [root, clone] = [temporaryFolder(), temporaryFolder()]
  initRepository(root)
  initRepository(clone)
  const [own, there] = [await openTrees(root), await openTrees(clone)]
  const gone = await carriedTo(own, there, 'r1', false)
  const kept = await carriedTo(own, there, 'r2', true)
  await pruneObjects(there)
  expect(packsIn(there)).toHaveLength(2)

  age(there, 15)
  const fresh = await carriedTo(own, there, 'r3', false)
  await pruneObjects(there)
  expect(await has(there, gone)).toBe(false)
  expect(await has(there, `${kept}:r2.txt`)).toBe(true)
  expect(await has(there, `${fresh}:r3.txt`)).toBe(true)
  // It is not done again before something is old again.
  const packed = packsIn(there)
  const written = statSync(join(there.home, 'objects/pack', packed[0] as string)).mtimeMs
  expect(written).toBeGreaterThan(Date.now() - 60_000)
})

it('lets go of a pack whose unpacking was killed, and not of one that is being unpacked', async () => {
  const [root, clone] = [temporaryFolder(), temporaryFolder()]
  initRepository(root)
  initRepository(clone)
  const [own, there] = [await openTrees(root), await openTrees(clone)]
  const keepOf = (pack: string) => join(there.home, 'objects/pack', pack.replace(/pack$/, 'keep'))
  const gone = await carriedTo(own, there, 'r1', false)
  const [killed] = packsIn(there) as [string]
  writeFileSync(keepOf(killed), '')
  age(there, 15)
  const fresh = await carriedTo(own, there, 'r2', false)
  const [begun] = packsIn(there).filter((name) => name !== killed) as [string]
  writeFileSync(keepOf(begun), '')

  await pruneObjects(there)
  expect([await has(there, gone), await has(there, fresh)]).toEqual([false, true])
  expect([existsSync(keepOf(killed)), existsSync(keepOf(begun))]).toEqual([false, true])
})

it('makes one pack of many', async () => {
  const [root, clone] = [temporaryFolder(), temporaryFolder()]
  initRepository(root)
  initRepository(clone)
  const [own, there] = [await openTrees(root), await openTrees(clone)]
  const all: string[] = []
  for (const run_id of ['r1', 'r2', 'r3']) all.push(await carriedTo(own, there, run_id, true))
  await pruneObjects(there, { loose: 5000, packs: 3 })
  expect(packsIn(there)).toHaveLength(3)
  await pruneObjects(there, { loose: 5000, packs: 2 })
  expect(packsIn(there)).toHaveLength(1)
  for (const [i, commit] of all.entries()) expect(await has(there, `${commit}:r${i + 1}.txt`)).toBe(true)
})

it('a folder without git is captured whole after what its last capture left was pruned', async () => {
  const root = temporaryFolder()
  put(root, { 'a.txt': 'one\n', 'b/c.txt': 'two\n' })
  const at = Date.now() / 1000 - 3600
  for (const path of ['a.txt', 'b/c.txt']) utimesSync(join(root, path), at, at)
  const own = await openTrees(root)
  const first = await good(capture(own, 'r1'))
  age(own, 15)
  await good(tidy(own))
  expect(await has(own, first.commit)).toBe(false)
  rmSync(join(root, 'a.txt'))
  const { commit } = await good(capture(own, 'r2'))
  const { tree } = await good(add(own, 'r2', 'a1', commit))
  expect(filesIn(tree.top)).toEqual({ 'b/c.txt': 'two\n' })
})
