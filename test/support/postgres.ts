import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { startPostgres } from '../../scripts/postgres-server.mjs'
import { urlOfRun } from './postgres-run.js'
import type { WhenFinished } from './project.js'

/** Tests that run side by side must give their own `finished`. */
type Finished = { finished?: WhenFinished }

export type TestDatabases = {
  /** Of the user who may do everything, with the password. */
  url: string
  /** The URL of a new, empty database, which is dropped when the test is finished. */
  database(options?: Finished): Promise<string>
}

export type TestServer = TestDatabases & {
  /** `immediate` is as after a crash. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  /** Again, on the same port, with the same data. */
  start(): Promise<void>
}

/**
 * One server for all tests of a run: what `TEST_DATABASE_URL` names, or one that the first test which needs it starts.
 * It ends with the run.
 */
export async function sharedPostgres(): Promise<TestDatabases> {
  const url = process.env.TEST_DATABASE_URL || (await urlOfRun())
  return { url, database: (options) => newDatabase(url, options) }
}

/**
 * A server that is this test's alone: it may stop it, and start it again. `small_disk_mb`: its databases are on a disk of
 * that size.
 */
export async function ownPostgres(
  options: { durable?: boolean; settings?: Record<string, string>; small_disk_mb?: number } & Finished = {},
): Promise<TestServer> {
  const { finished = onTestFinished, ...rest } = options
  const server = await startPostgres(rest)
  finished(() => server.remove())
  const place = options.small_disk_mb === undefined ? '' : 'TABLESPACE small'
  if (place !== '') await queried(server.url, `CREATE TABLESPACE small LOCATION '${server.small_disk}'`)
  return {
    url: server.url,
    stop: (mode) => server.stop(mode),
    start: () => server.start(),
    // It goes with the server.
    database: () => newDatabase(server.url, { finished: () => {}, place }),
  }
}

async function newDatabase(
  server: string,
  { finished = onTestFinished, place = '' }: Finished & { place?: string } = {},
): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await queried(server, `CREATE DATABASE ${name} ${place}`)
  finished(async () => void (await queried(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** The rows of one statement, on a connection of its own. */
export async function queried(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
