import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, expect, onTestFinished } from 'vitest'
import { openPostgresStore, type Store } from '../../src/store/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { clock } from './sqlite.js'

/** Where a store of one test may be: a schema of its own, which costs less than a database. */
export function schemas(): () => Promise<string> {
  let made: Promise<string> | null = null
  const ends: (() => unknown)[] = []
  const database = async () => (await sharedPostgres()).database({ finished: (end) => ends.push(end) })
  afterAll(async () => {
    for (const end of ends) await end()
  })
  return async () => {
    made ??= database()
    return withParameter(await made, 'schema', `s_${randomBytes(6).toString('hex')}`)
  }
}

export function withParameter(url: string, name: string, value: string): string {
  const changed = new URL(url)
  changed.searchParams.set(name, value)
  return changed.href
}

export async function openUrl(url: string): Promise<Store> {
  const opened = await openPostgresStore({ url, clock })
  if (!opened.ok) throw new Error(opened.message)
  return opened.store
}

/** A store that is closed after the test. */
export async function urlStore(url: string): Promise<Store> {
  const store = await openUrl(url)
  onTestFinished(() => store.close())
  return store
}

/** Statements past the store, as somebody with a terminal on the database would give them. */
export async function besides<Row extends pg.QueryResultRow>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = await connected(url)
  try {
    let rows: Row[] = []
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** Holds the locks that a statement takes, up to the test's end at most. Answers with how to let go of them. */
export async function holding(url: string, statement: string): Promise<() => Promise<void>> {
  const client = await connected(url)
  let ended: Promise<void> | null = null
  const letGo = () => {
    ended ??= client.end()
    return ended
  }
  onTestFinished(letGo)
  await client.query('BEGIN')
  await client.query(statement)
  return letGo
}

const WAITING = `FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'retinue' AND wait_event_type = 'Lock'`

async function waiting(url: string): Promise<number[]> {
  return (await besides<{ pid: number }>(url, `SELECT pid ${WAITING} ORDER BY query_start`)).map(({ pid }) => pid)
}

/** Answers when so many connections of stores in this database wait for a lock. */
export async function waitingForLocks(url: string, connections: number): Promise<void> {
  await expect.poll(() => waiting(url), { interval: 10 }).toHaveLength(connections)
}

/** As when it has waited for too long: the server gives up the statement of the one who began to wait last. */
export async function endLastWait(url: string): Promise<void> {
  const last = (await waiting(url)).at(-1) as number
  await besides(url, `SELECT pg_cancel_backend(${last})`)
  await expect.poll(() => waiting(url), { interval: 10 }).not.toContain(last)
}

async function connected(url: string): Promise<pg.Client> {
  const plain = new URL(url)
  const schema = plain.searchParams.get('schema') ?? 'retinue'
  plain.search = ''
  const client = new pg.Client(plain.href)
  await client.connect()
  await client.query(`SET search_path TO "${schema}", public`)
  return client
}
