import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { git, initRepository, put, temporaryFolders } from '../helpers.js'
import { belongings, filesIn, must, NOTE, treesIn } from './person.js'

const temporaryFolder = temporaryFolders()
const homeBefore = process.env.HOME
let folder: string
/** Made by whatever is run that must not be. */
let mark: string
let script: string

beforeEach(() => {
  const outside = temporaryFolder()
  folder = temporaryFolder()
  mark = join(outside, 'mark')
  script = join(outside, 'script')
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`)
  chmodSync(script, 0o755)
  process.env.HOME = outside
  initRepository(folder, {
    'a.txt': 'one\ntwo\nthree\n',
    'b.bin': 'b\n',
    '.gitattributes': '*.bin filter=evil merge=evil diff=evil\n*.txt merge=evil\n',
  })
})
afterEach(() => {
  process.env.HOME = homeBefore
})

/** Everything that a run does with trees, with changes on both sides of a merge. */
async function wholeRun(): Promise<Record<string, string>> {
  put(folder, { 'b.bin': 'changed\n', 'new.bin': 'new\n' })
  const trees = await treesIn(folder)
  const { commit: base } = must(await trees.capture('r1'))
  const { tree: integration } = must(await trees.add('r1', 'integration', base))
  const { tree: first } = must(await trees.add('r1', 'a1', base))
  const { tree: second } = must(await trees.add('r1', 'a2', base))
  put(first.top, { 'a.txt': 'ONE\ntwo\nthree\n', 'b.bin': 'x\n' })
  put(second.top, { 'a.txt': 'one\ntwo\nTHREE\n' })
  must(await first.repository.status())
  must(await first.repository.diff({}))
  expect((await first.repository.commit({ message: 'by the agent' })).ok).toBe(true)
  const theirs = must(await first.snapshot(NOTE)).commit
  const others = must(await second.snapshot(NOTE)).commit
  const merged = must(await trees.merge(theirs, others, NOTE))
  must(await integration.reset(merged.commit))
  must(await trees.diff(base, merged.commit))
  must(await trees.changes(base, merged.commit))
  expect(must(await first.ignored(['a.txt'])).paths).toEqual([])
  return filesIn(integration.top)
}

const EXPECTED = {
  '.gitattributes': '*.bin filter=evil merge=evil diff=evil\n*.txt merge=evil\n',
  'a.txt': 'ONE\ntwo\nTHREE\n',
  'b.bin': 'x\n',
  'new.bin': 'new\n',
}

const HOOKS = [
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-rewrite',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'prepare-commit-msg',
  'commit-msg',
  'reference-transaction',
  'fsmonitor-watchman',
]

async function nothingRuns(): Promise<void> {
  // The filter of the person themselves has its say when they look at their own files, not here.
  put(folder, { 'b.bin': 'changed\n', 'new.bin': 'new\n' })
  rmSync(mark, { force: true })
  const before = belongings(folder)
  rmSync(mark, { force: true })
  expect(await wholeRun()).toEqual(EXPECTED)
  expect(existsSync(mark)).toBe(false)
  expect(belongings(folder)).toEqual(before)
}

it('no hook of the repository is run', async () => {
  for (const hook of HOOKS) symlinkSync(script, join(folder, '.git/hooks', hook))
  git(folder, 'update-ref', 'refs/heads/probe', 'HEAD')
  expect(existsSync(mark)).toBe(true)
  await nothingRuns()
})

it('no hook from a folder that the configuration names is run', async () => {
  const hooks = join(folder, 'hooks')
  mkdirSync(hooks)
  for (const hook of HOOKS) symlinkSync(script, join(hooks, hook))
  writeFileSync(join(folder, '.git/info/exclude'), '/hooks\n')
  git(folder, 'config', 'core.hooksPath', hooks)
  await nothingRuns()
})

it('no monitor, filter, merge driver, diff driver or editor is run, by any configuration', async () => {
  const included = join(process.env.HOME as string, 'included')
  const evil = `[filter "evil"]\n\tclean = ${script}\n\tsmudge = ${script}\n\tprocess = ${script}\n\trequired = true\n
[merge "evil"]\n\tdriver = ${script}\n[diff "evil"]\n\ttextconv = ${script}\n\tcommand = ${script}\n
[core]\n\tfsmonitor = ${script}\n\teditor = ${script}\n\tpager = ${script}\n\tsshCommand = ${script}\n\taskPass = ${script}\n
[gpg]\n\tprogram = ${script}\n[commit]\n\tgpgSign = true\n[diff]\n\texternal = ${script}\n[credential]\n\thelper = ${script}\n`
  writeFileSync(included, evil)
  writeFileSync(join(process.env.HOME as string, '.gitconfig'), evil)
  git(folder, 'config', 'include.path', included)
  put(folder, { 'b.bin': 'changed\n', 'new.bin': 'new\n' })
  // A filter that speaks no protocol makes the person's own git fail, so it is shown by itself that it is run.
  expect(() => git(folder, 'add', 'b.bin')).toThrow()
  expect(existsSync(mark)).toBe(true)
  await nothingRuns()
})

it('what a filter made of a file is not what agents get, but what is on disk', async () => {
  git(folder, 'config', 'filter.evil.clean', 'tr a-z A-Z')
  git(folder, 'config', 'filter.evil.smudge', 'tr A-Z a-z')
  put(folder, { 'b.bin': 'text\n' })
  // Old enough for the index to be believed.
  const at = new Date(Date.now() - 60_000)
  utimesSync(join(folder, 'b.bin'), at, at)
  git(folder, 'add', '-A')
  git(folder, 'commit', '-qm', 'filtered')
  expect(git(folder, 'cat-file', 'blob', 'HEAD:b.bin')).toBe('TEXT\n')
  const before = belongings(folder)
  const trees = await treesIn(folder)
  const { commit } = must(await trees.capture('r1'))
  const { tree } = must(await trees.add('r1', 'a1', commit))
  expect(filesIn(tree.top)['b.bin']).toBe('text\n')
  const again = must(await trees.capture('r1'))
  expect(must(await trees.changes(commit, again.commit)).changes).toEqual([])
  expect(belongings(folder)).toEqual(before)
})

it('a work tree that the configuration puts elsewhere is not followed', async () => {
  const elsewhere = temporaryFolder()
  put(elsewhere, { 'secret.txt': 'secret\n' })
  git(folder, 'config', 'core.worktree', elsewhere)
  const trees = await treesIn(folder)
  expect(trees.in_git).toBe(false)
  const { commit, notes } = must(await trees.capture('r1'))
  const { tree } = must(await trees.add('r1', 'a1', commit))
  expect(Object.keys(filesIn(tree.top))).toEqual(['.gitattributes', 'a.txt', 'b.bin'])
  expect(notes[0]).toContain('treated as a folder without git')
})

it('a .git that an agent makes in its worktree is never followed and never committed', async () => {
  const trees = await treesIn(folder)
  const { commit } = must(await trees.capture('r1'))
  const { tree } = must(await trees.add('r1', 'a1', commit))
  rmSync(join(tree.top, '.git'))
  git(tree.top, 'init', '-q')
  git(tree.top, 'config', 'core.fsmonitor', script)
  git(tree.top, 'config', 'filter.evil.clean', script)
  for (const hook of HOOKS) symlinkSync(script, join(tree.top, '.git/hooks', hook))
  put(tree.top, {
    'a.txt': 'agent\n',
    'c.bin': 'c\n',
    '.GIT/config': '[core]\n',
    'dir/.git': 'gitdir: /nowhere\n',
    'dir/file': 'f\n',
  })
  mkdirSync(join(tree.top, 'nested'))
  initRepository(join(tree.top, 'nested'))
  rmSync(mark, { force: true })
  const opened = must(await trees.open('r1', 'a1')).tree
  must(await opened.repository.status())
  const snapshot = must(await opened.snapshot(NOTE))
  expect(snapshot.uncommittable.sort()).toEqual(['.GIT/config', 'nested/'])
  const { changes } = must(await trees.changes(commit, snapshot.commit))
  expect(changes.map(({ path }) => path)).toEqual(['a.txt', 'c.bin', 'dir/file'])
  must(await opened.reset(commit))
  expect(existsSync(join(tree.top, 'nested'))).toBe(false)
  expect(existsSync(mark)).toBe(false)
})
