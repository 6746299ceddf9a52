import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import type { Trees } from '../../../src/host/index.js'
import { initRepository, put, temporaryFolders } from '../helpers.js'
import { filesIn, must, NOTE, treesIn } from './person.js'

const temporaryFolder = temporaryFolders()
let folder: string
let trees: Trees
let base: string

beforeEach(async () => {
  folder = temporaryFolder()
  initRepository(folder, {
    'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9\n',
    'b.txt': 'b\n',
    'log.union': 'first\n',
  })
  trees = await treesIn(folder)
  base = must(await trees.capture('r1')).commit
})

async function edit(name: string, change: (top: string) => void): Promise<string> {
  const { tree } = must(await trees.add('r1', name, base))
  change(tree.top)
  return must(await tree.snapshot(NOTE)).commit
}

async function filesOf(commit: string): Promise<Record<string, string>> {
  return filesIn(must(await trees.add('r1', 'look', commit)).tree.top)
}

it('nothing, a fast-forward and a merge are told apart', async () => {
  const ours = await edit('a1', (top) => put(top, { 'a.txt': '1!\n2\n3\n4\n5\n6\n7\n8\n9\n' }))
  const theirs = await edit('a2', (top) => {
    put(top, { 'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9!\n' })
    chmodSync(join(top, 'b.txt'), 0o755)
  })
  expect(await trees.merge(ours, base, NOTE)).toEqual({ ok: true, commit: ours, kind: 'nothing' })
  expect(await trees.merge(ours, ours, NOTE)).toEqual({ ok: true, commit: ours, kind: 'nothing' })
  expect(await trees.merge(base, ours, NOTE)).toEqual({ ok: true, commit: ours, kind: 'fast_forward' })
  const merged = must(await trees.merge(ours, theirs, NOTE))
  expect(merged.kind).toBe('merge')
  expect(await filesOf(merged.commit)).toMatchObject({ 'a.txt': '1!\n2\n3\n4\n5\n6\n7\n8\n9!\n', 'b.txt': 'x b\n' })
  expect(must(await trees.commits(ours, merged.commit)).commits.map(({ id }) => id)).toEqual([theirs, merged.commit])
  expect(await trees.merge(ours, theirs, NOTE)).toEqual(merged)
})

it('a conflict names the paths, and its tree has both sides', async () => {
  const ours = await edit('a1', (top) => {
    put(top, { 'a.txt': 'ours\n', 'ü\n.txt': 'ours\n', fine: 'fine\n' })
    rmSync(join(top, 'b.txt'))
  })
  const theirs = await edit('a2', (top) =>
    put(top, { 'a.txt': 'theirs\n', 'b.txt': 'edited\n', 'ü\n.txt': 'theirs\n' }),
  )
  const merged = await trees.merge(ours, theirs, NOTE)
  expect(merged).toMatchObject({ ok: false, code: 'conflict', paths: ['a.txt', 'b.txt', 'ü\n.txt'] })
  if (merged.ok || !('tree' in merged)) throw new Error('no conflict')
  const { changes } = must(await trees.changes(ours, merged.tree))
  expect(changes.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'ü\n.txt'])
  expect(must(await trees.diff(ours, merged.tree)).text).toContain('+>>>>>>>')
})

it('the attributes of the worktree that has ours say how files are merged', async () => {
  const ours = await edit('a1', (top) =>
    put(top, { 'log.union': 'first\nours\n', '.gitattributes': '*.union merge=union\n' }),
  )
  const theirs = await edit('a2', (top) => put(top, { 'log.union': 'first\ntheirs\n' }))
  expect(await filesOf(must(await trees.merge(ours, theirs, NOTE)).commit)).toMatchObject({
    'log.union': 'first\nours\ntheirs\n',
  })
})

it('a rename meets an edit', async () => {
  const ours = await edit('a1', (top) => {
    rmSync(join(top, 'a.txt'))
    put(top, { 'moved/a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' })
  })
  const theirs = await edit('a2', (top) => put(top, { 'a.txt': '1\n2\n3\n4\nfive\n6\n7\n8\n9\n' }))
  const { commit } = must(await trees.merge(ours, theirs, NOTE))
  expect(await filesOf(commit)).toMatchObject({ 'moved/a.txt': '1\n2\n3\n4\nfive\n6\n7\n8\n9\n' })
  expect(must(await trees.diff(base, ours)).text).toContain('rename to moved/a.txt')
  expect(must(await trees.diff(base, ours, { stat: true })).text).toMatch(
    /a\.txt => moved\/a\.txt|\{ => moved\}\/a\.txt/,
  )
})

it('a commit that is not there is missing', async () => {
  const none = '1'.repeat(40)
  expect(await trees.merge(base, none, NOTE)).toMatchObject({ ok: false, code: 'missing' })
  expect(await trees.changes(base, none)).toMatchObject({ ok: false, code: 'missing' })
  expect(await trees.commits(base, none)).toMatchObject({ ok: false, code: 'missing' })
  expect(await trees.diff(base, none)).toMatchObject({ ok: false, code: 'missing' })
})

it('the worktree whose attributes count may be of another run, which removes it meanwhile', async () => {
  const theirs = await edit('a1', (top) => put(top, { 'b.txt': 'b!\n' }))
  const { tree: other } = must(await trees.add('r2', 'a1', base))
  // Removes that tree right before git looks for what two commits have in common.
  const tools = temporaryFolder()
  const removes = `case "$*" in *merge-base*) rm -rf '${other.top}' ;; esac`
  put(tools, { git: `#!/bin/sh\n${removes}\nPATH="\${PATH#*:}" exec git "$@"\n` })
  chmodSync(join(tools, 'git'), 0o755)
  const { PATH } = process.env
  onTestFinished(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = `${tools}:${PATH}`
  expect(await (await treesIn(folder)).merge(base, theirs, NOTE)).toEqual({
    ok: true,
    commit: theirs,
    kind: 'fast_forward',
  })
  expect(existsSync(other.top)).toBe(false)
})
