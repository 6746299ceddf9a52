import { chmodSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changes } from '../../../src/host/trees/compare.js'
import { initRepository, put, temporaryFolders } from '../helpers.js'
import { openTrees, work } from './run.js'

const temporaryFolder = temporaryFolders()

async function changed() {
  const root = temporaryFolder()
  initRepository(root, { 'a.txt': 'a\n', 'gone.txt': 'g\n', 'run.sh': '#!/bin/sh\n', turned: 't\n' })
  const own = await openTrees(root)
  const { base, to } = await work(own, 'r1', 'a1', (top) => {
    put(top, { 'a.txt': 'b\n', 'new/x.txt': 'x\n' })
    rmSync(join(top, 'gone.txt'))
    chmodSync(join(top, 'run.sh'), 0o755)
    rmSync(join(top, 'turned'))
    symlinkSync('../elsewhere', join(top, 'turned'))
  })
  return { own, base, to }
}

it('says of each changed path what it was and is, and where links lead', async () => {
  const { own, base, to } = await changed()
  const file = '100644'
  expect(await changes(own, base, to)).toEqual({
    ok: true,
    changes: [
      { path: 'a.txt', kind: 'modified', mode_before: file, mode_after: file, link: null },
      { path: 'gone.txt', kind: 'deleted', mode_before: file, mode_after: null, link: null },
      { path: 'new/x.txt', kind: 'added', mode_before: null, mode_after: file, link: null },
      { path: 'run.sh', kind: 'modified', mode_before: file, mode_after: '100755', link: null },
      { path: 'turned', kind: 'modified', mode_before: file, mode_after: '120000', link: '../elsewhere' },
    ],
  })
  expect(await changes(own, base, '1'.repeat(40))).toMatchObject({ ok: false, code: 'missing' })
})

it('says nothing where it was not told all', async () => {
  const { own, base, to } = await changed()
  expect(await changes(own, base, to, 300)).toMatchObject({ ok: false, code: 'failed' })
})
