import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { remove } from '../../../src/host/trees/remove.js'
import { makeProject } from '../../support/project.js'
import { good, openTrees, work } from './run.js'

const trash = (home: string) => readdirSync(home).filter((name) => name.startsWith('trash-'))

it('a worktree that goes later is out of the way at once, and gone when the next removal is done', async () => {
  const own = await openTrees(makeProject({ 'a.txt': 'a\n' }, { git: true }))
  const first = await work(own, 'r1', 'a1', (top) => {
    for (let n = 0; n < 20; n++) {
      mkdirSync(join(top, `folder-${n}`))
      for (let i = 0; i < 50; i++) writeFileSync(join(top, `folder-${n}`, `${i}.txt`), 'x\n')
    }
    mkdirSync(join(top, 'closed'))
    writeFileSync(join(top, 'closed', 'file.txt'), 'x\n')
    chmodSync(join(top, 'closed'), 0o500)
  })
  const last = await work(own, 'r1', 'integration', () => {})

  // What holds up the trash here is what a large worktree would be.
  let open = () => {}
  const held = new Promise<void>((resolve) => {
    open = resolve
  })
  const before = own.machine.locks.run(`trash of ${own.home}`, () => held)
  await good(remove(own, 'r1', 'a1', { later: true }))
  expect(existsSync(first.tree.top)).toBe(false)
  expect(trash(own.home)).toHaveLength(2)

  let isDone = false
  const removed = good(remove(own, 'r1', 'integration', { keep_branch: true })).then(() => {
    isDone = true
  })
  while (existsSync(last.tree.top)) await new Promise(setImmediate)
  // Takes longer than all that the other has to do besides waiting.
  await good(remove(own, 'r1', 'none', { later: true }))
  expect(isDone).toBe(false)
  open()
  await Promise.all([before, removed])
  expect(trash(own.home)).toEqual([])
})
