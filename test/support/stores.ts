import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openPostgresStore, openSqliteStore, type Store } from '../../src/store/index.js'

const wanted = process.env.RETINUE_TEST_ENGINE || 'local'
if (wanted !== 'local' && wanted !== 'dbos') {
  throw new Error(`RETINUE_TEST_ENGINE is local or dbos, not ${wanted}`)
}

/** Where `RETINUE_TEST_ENGINE=dbos` has the stores of all test projects, each in a schema of its own. */
const server = wanted === 'dbos' ? await sharedUrl() : null

async function sharedUrl(): Promise<string> {
  const { sharedPostgres } = await import('./postgres.js')
  return (await sharedPostgres()).url
}

/** Whether agents of test projects run on workers. There is one in a process, so that no two tests have theirs at once. */
export const ON_WORKERS = server !== null

/** The order in which the rows of `sub_agents` were made, for SQL. */
export const BY_CREATION = server === null ? 'rowid' : 'created_at, created_position'

/** The two settings of a test project on workers. null: it has neither, and with that a file and this process. */
export function testStore(cwd: string): { store: string; engine: 'dbos' } | null {
  return server === null ? null : { store: `${server}?schema=${schemaOf(cwd)}`, engine: 'dbos' }
}

/** The same for the command line. */
export function testStoreVariables(cwd: string): { RETINUE_STORE?: string; RETINUE_ENGINE?: string } {
  const settings = testStore(cwd)
  return settings === null ? {} : { RETINUE_STORE: settings.store, RETINUE_ENGINE: settings.engine }
}

/**
 * Schemas that were a project's before. What is beside them for the queues (`…_dbos`) stays, since making that takes as
 * long as a test: each project has a queue of its own there, and each run another id.
 */
const free: string[] = []
const taken = new Map<string, string>()

function schemaOf(cwd: string): string {
  const schema = taken.get(cwd) ?? free.pop() ?? `test_${randomBytes(8).toString('hex')}`
  taken.set(cwd, schema)
  return schema
}

/** The store of a test project, as a program opens it that is no Retinue. */
export async function openTestStore(cwd: string): Promise<Store> {
  const settings = testStore(cwd)
  const clock = { now: () => Date.now() }
  const opened = await (settings === null
    ? openSqliteStore({ file: join(cwd, '.retinue/retinue.db'), clock })
    : openPostgresStore({ url: settings.store, clock }))
  if (!opened.ok) throw new Error(opened.message)
  return opened.store
}

/** What was in it goes with the folder. */
export async function dropTestStore(cwd: string): Promise<void> {
  const schema = taken.get(cwd)
  if (schema === undefined) return
  taken.delete(cwd)
  await asked(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  free.push(schema)
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
