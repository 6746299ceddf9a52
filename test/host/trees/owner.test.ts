import { existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { list } from '../../../src/host/trees/list.js'
import { own as ownRun } from '../../../src/host/trees/owner.js'
import { removeRun, tidy } from '../../../src/host/trees/remove.js'
import { initRepository, temporaryFolders } from '../helpers.js'
import { good, openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()

async function project() {
  const root = temporaryFolder()
  initRepository(root)
  const own = await openTrees(root)
  await work(own, 'r1', 'a1', () => {})
  const owners = async () => (await good(list(own))).trees.map(({ run_id, owner }) => [run_id, owner])
  return { own, owners }
}

it('the trees of a run have the process that was named last, until there is none', async () => {
  const { own, owners } = await project()
  await work(own, 'r2', 'a1', () => {})
  await good(ownRun(own, 'r1', 'one'))
  await good(ownRun(own, 'r1', 'two'))
  expect(await owners()).toEqual([
    ['r1', 'two'],
    ['r2', null],
  ])
  await good(ownRun(own, 'r1', null))
  expect(await owners()).toMatchObject([['r1', null], {}])
  await good(ownRun(own, 'r1', 'three'))
  await good(removeRun(own, 'r1'))
  await work(own, 'r1', 'a1', () => {})
  expect(await owners()).toMatchObject([['r1', null], {}])
})

it('names of processes go with the last tree, but not before its first is made', async () => {
  const { own, owners } = await project()
  const long_ago = Date.now() / 1000 - 7200
  for (const run_id of ['r1', 'gone', 'begun']) await good(ownRun(own, run_id, 'one'))
  for (const run_id of ['r1', 'gone']) utimesSync(join(own.home, 'owners', run_id), long_ago, long_ago)
  await good(tidy(own))
  expect(await owners()).toEqual([['r1', 'one']])
  expect(existsSync(join(own.home, 'owners/gone'))).toBe(false)
  expect(existsSync(join(own.home, 'owners/begun'))).toBe(true)
})
