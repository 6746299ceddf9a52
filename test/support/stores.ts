import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { openPostgresStore, openSqliteStore, type Store } from '../../src/store/index.js'

const wanted = process.env.RETINUE_TEST_STORE || 'sqlite'
if (wanted !== 'sqlite' && wanted !== 'postgres') {
  throw new Error(`RETINUE_TEST_STORE is sqlite or postgres, not ${wanted}`)
}

/** Where `RETINUE_TEST_STORE=postgres` has the stores of all test projects, each in a schema of its own. */
const server = wanted === 'postgres' ? await sharedUrl() : null

async function sharedUrl(): Promise<string> {
  const { sharedPostgres } = await import('./postgres.js')
  return (await sharedPostgres()).url
}

/** The order in which the rows of `sub_agents` were made, for SQL. */
export const BY_CREATION = server === null ? 'rowid' : 'created_at, created_position'

/** For what opens a test project: the store that it has where that is not the file which is the default. */
export function testStore(cwd: string): { store?: string } {
  return server === null ? {} : { store: `${server}?schema=${schemaOf(cwd)}` }
}

/** The same for the command line. */
export function testStoreVariable(cwd: string): { RETINUE_STORE?: string } {
  const { store } = testStore(cwd)
  return store === undefined ? {} : { RETINUE_STORE: store }
}

function schemaOf(cwd: string): string {
  return `test_${createHash('sha256').update(cwd).digest('hex').slice(0, 16)}`
}

/** The store of a test project, as a program opens it that is no Retinue. */
export async function openTestStore(cwd: string): Promise<Store> {
  const { store } = testStore(cwd)
  const clock = { now: () => Date.now() }
  const opened = await (store === undefined
    ? openSqliteStore({ file: join(cwd, '.retinue/retinue.db'), clock })
    : openPostgresStore({ url: store, clock }))
  if (!opened.ok) throw new Error(opened.message)
  return opened.store
}

/** The schema goes with the folder. */
export async function dropTestStore(cwd: string): Promise<void> {
  if (server !== null) await asked(`DROP SCHEMA IF EXISTS ${schemaOf(cwd)} CASCADE`)
}

/**
 * What the database of a test project says to a statement that both kinds understand, by nobody's code but its own. The
 * answer is the rows, or those that it changed.
 */
export async function askDatabase(cwd: string, sql: string): Promise<{ rows: unknown[]; changes: number }> {
  if (server !== null) return asked(sql, schemaOf(cwd))
  const { default: Database } = await import('libsql')
  const database = new Database(join(cwd, '.retinue', 'retinue.db'))
  try {
    const statement = database.prepare(sql)
    if (statement.reader) return { rows: statement.all(), changes: 0 }
    return { rows: [], changes: statement.run().changes }
  } finally {
    database.close()
  }
}

async function asked(sql: string, schema = 'public'): Promise<{ rows: unknown[]; changes: number }> {
  const { default: pg } = await import('pg')
  // Big integers as numbers, as SQLite has them.
  const getTypeParser = ((oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid))) as never
  const client = new pg.Client({
    connectionString: server as string,
    options: `-c search_path=${schema}`,
    types: { getTypeParser },
  })
  await client.connect()
  try {
    const { rows, rowCount } = await client.query(sql)
    return { rows, changes: rowCount ?? 0 }
  } finally {
    await client.end()
  }
}
