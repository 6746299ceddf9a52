import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openSqliteStore, type Store } from '../../src/store/index.js'

export const clock = { now: () => Date.now() }

export async function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'retinue-store-'))
}

/** A folder that is gone after the test. */
export async function testFolder(): Promise<string> {
  const path = await folder()
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

export async function openFile(file: string): Promise<Store> {
  const opened = await openSqliteStore({ file, clock })
  if (!opened.ok) throw new Error(opened.message)
  return opened.store
}

/** A store that is closed after the test. */
export async function testStore(file: string): Promise<Store> {
  const store = await openFile(file)
  onTestFinished(() => store.close())
  return store
}
