import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { OWN_GITIGNORE } from '../../domain/index.js'
import type { Store } from '../store.js'
import { type Database, isBusy } from './database.js'
import { isAtHome, isSame, placeOf, settle } from './home.js'
import { kindOf, migrate, SCHEMA_VERSION } from './schema.js'
import { SqliteStore } from './store.js'

export type SqliteOptions = { file: string; clock: { now(): number } }

/**
 * `made_here`: false for a file that was copied, or came with a repository. `adopt` says that it is to count all the
 * same. `isThere`: whether the file still has its name; what is written to one that has none is gone at the end.
 */
export type Opened =
  | { ok: true; store: Store; made_here: boolean; adopt: () => Promise<void>; isThere: () => Promise<boolean> }
  | { ok: false; code: 'newer_version' | 'unreadable'; message: string }

/** How long another process may take to create or migrate the same file. */
const BUSY_MS = 5000

export async function openSqliteStore({ file, clock }: SqliteOptions): Promise<Opened> {
  try {
    await makeFolder(dirname(file))
    const { default: Libsql } = await import('libsql')
    const writing = new Libsql(file)
    writing.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    const { version, foreign } = kindOf(writing)
    if (foreign) throw new Error('it belongs to another program')
    if (version > SCHEMA_VERSION) return { ok: false, code: 'newer_version', message: newer(file, version) }
    await untilFree(() => prepareWriting(writing))
    const here = await placeOf(file)
    let made_here = false
    await untilFree(() => {
      made_here = isAtHome(writing, here)
    })
    // From here on the writer does its own waiting, without stopping the event loop.
    writing.exec('PRAGMA busy_timeout = 0')
    const reading = new Libsql(file)
    reading.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA query_only = 1`)
    const store = new SqliteStore(reading, writing, clock)
    const isThere = () =>
      placeOf(file).then(
        (now) => isSame(here, now),
        ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
      )
    return { ok: true, store, made_here, isThere, adopt: () => untilFree(() => settle(writing, here)) }
  } catch (error) {
    return { ok: false, code: 'unreadable', message: unreadable(file, error) }
  }
}

/** The database is no part of what a person versions, so its folder hides itself from git. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if (basename(folder) !== '.retinue') return
  // A repository can bring such a link with it; what a run logs must not end up where a stranger chose.
  if ((await lstat(folder)).isSymbolicLink()) throw new Error(`${folder} is a symbolic link; remove it`)
  await writeFile(join(folder, '.gitignore'), OWN_GITIGNORE, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

function prepareWriting(database: Database): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  migrate(database)
}

/** SQLite does not wait for the lock that a change of the journal mode needs. */
async function untilFree(work: () => void): Promise<void> {
  const deadline = performance.now() + BUSY_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      await setTimeout(5)
    }
  }
}

function newer(file: string, version: number): string {
  return (
    `${file} was written by a newer version of Retinue: its schema is version ${version}, and this one knows ` +
    `${SCHEMA_VERSION}. Update Retinue, or name another file.`
  )
}

function unreadable(file: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `${file} cannot be opened as a database of Retinue: ${reason}. Check the path and its permissions.`
}
