import { spawn } from 'node:child_process'
import { existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { capture } from '../../../src/host/trees/capture.js'
import { openPrivate } from '../../../src/host/trees/private.js'
import { removeRun } from '../../../src/host/trees/remove.js'
import { git, initRepository, put, temporaryFolders } from '../helpers.js'
import { good, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()
const PRIVATE = ['packed-refs.lock', 'HEAD.lock', 'config.lock', 'refs/retinue/r1/result.lock']
const THEIRS = ['refs/retinue/r1/base.lock', 'refs/heads/retinue/r1/a1.lock']
const OTHERS = ['refs/heads/main.lock', 'index.lock', 'packed-refs.lock']

async function locked() {
  const root = temporaryFolder()
  initRepository(root)
  const own = await openTrees(root)
  await work(own, 'r1', 'a1', (top) => put(top, { new: 'new\n' }))
  const git_dir = join(root, '.git')
  const ours = [...PRIVATE.map((name) => join(own.home, name)), ...THEIRS.map((name) => join(git_dir, name))]
  const others = OTHERS.map((name) => join(git_dir, name))
  for (const lock of [...ours, ...others]) put('/', { [lock]: '' })
  return { root, own, ours, others }
}

it('locks that a killed git left are removed where no git is alive here that could have them', async () => {
  const { root, own, ours, others } = await locked()
  expect(await removeRun(own, 'r1')).toMatchObject({ ok: false })
  const again = await openTrees(root)
  expect(ours.filter((lock) => existsSync(lock))).toEqual([])
  // Those of the person are not ours, whoever left them.
  expect(others.every((lock) => existsSync(lock))).toBe(true)
  await good(capture(again, 'r1'))
})

it('locks that a living git may have stay until they are old', async ({ onTestFinished }) => {
  const { root, own, ours } = await locked()
  // Waits for what never comes, in the places in which the locks are.
  const args = [`--git-dir=${own.home}`, `--work-tree=${root}`, 'cat-file', '--batch']
  const living = spawn('git', args, { cwd: root, stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void living.kill('SIGKILL'))
  const answered = new Promise((resolve) => living.stdout.once('data', resolve))
  living.stdin.write(`${git(root, 'rev-parse', 'HEAD').trim()}\n`)
  await answered
  await openTrees(root)
  expect(ours.every((lock) => existsSync(lock))).toBe(true)

  const long_ago = Date.now() / 1000 - 600
  for (const lock of ours) utimesSync(lock, long_ago, long_ago)
  await openTrees(root)
  expect(ours.filter((lock) => existsSync(lock))).toEqual([])
})

it('whoever opens it for one run looks at the refs of that run alone', async () => {
  const { root, own, ours } = await locked()
  const other = join(own.home, 'refs/retinue/r2/result.lock')
  put('/', { [other]: '' })
  const { machine } = own
  await good(openPrivate(machine, root, 'r2'))
  expect(existsSync(other)).toBe(false)
  expect(ours.filter((lock) => existsSync(lock)).map((lock) => lock.split('/refs/')[1])).toEqual(
    [...PRIVATE, ...THEIRS].filter((name) => name.includes('r1')).map((name) => name.slice('refs/'.length)),
  )
})
