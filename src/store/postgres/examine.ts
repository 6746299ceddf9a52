import { type Client, clientConfig } from './connections.js'
import { kindOf, NOW, tablesOf } from './schema.js'
import { readSettings } from './settings.js'

/** What is good to know about the database of a store that opens, measured over one connection. */
export type Examined = {
  server: string
  database: string
  schema: string
  /** As the server says it, such as `16.4`; the number is 160004. */
  version: string
  version_number: number
  schema_version: number
  encrypted: boolean
  /** Why nothing can be written, or null. */
  unwritable: string | null
  round_trip_ms: number
  commit_ms: number
  /** How far the server's clock is ahead of this machine's. */
  clock_ahead_ms: number
}

/** The middle of these many: one alone may have met a checkpoint. */
const TRIES = 7

/**
 * Looks at the database of a store. Nothing of it stays: what is committed to measure the time is a word in the server's
 * own log, which no table has. Rejects as pg does.
 */
export async function examinePostgres(url: string, clock: { now(): number }): Promise<Examined> {
  const read = readSettings(url)
  if (!read.ok) throw new Error(read.message)
  const { settings } = read
  const { default: pg } = await import('pg')
  const client = new pg.Client(clientConfig(settings, pg.types))
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(`SELECT current_setting('server_version') AS version,
      current_setting('server_version_num')::integer AS version_number,
      coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted`)
    const { version, version_number, encrypted } = rows[0]
    const round_trip_ms = await timed(() => client.query('SELECT 1'))
    const unwritable = await whyUnwritable(client, settings.schema)
    return {
      ...{ server: settings.place.server, database: settings.place.database, schema: settings.schema },
      ...{ version: String(version).split(' ')[0] as string, version_number, encrypted, unwritable, round_trip_ms },
      schema_version: (await kindOf(client, settings.schema)).version,
      commit_ms: unwritable === null ? await timed(() => committed(client)) : 0,
      clock_ahead_ms: await clockAhead(client, clock, round_trip_ms),
    }
  } finally {
    await client.end().catch(() => {})
  }
}

function committed(client: Client): Promise<unknown> {
  return client.query("SELECT pg_logical_emit_message(true, 'retinue', 'doctor')")
}

async function whyUnwritable(client: Client, schema: string): Promise<string | null> {
  const { rows: states } = await client.query(
    `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only`,
  )
  if (states[0].standby) return 'it is a standby'
  if (states[0].read_only) return 'it is read-only'
  const { must: _, ...tables } = tablesOf(schema)
  const { rows } = await client.query(
    `SELECT name FROM unnest($1::text[]) AS name
     WHERE NOT (has_table_privilege(name, 'SELECT') AND has_table_privilege(name, 'INSERT')
       AND has_table_privilege(name, 'UPDATE') AND has_table_privilege(name, 'DELETE'))`,
    [Object.values(tables)],
  )
  const missing = rows.map(({ name }) => String(name).replaceAll('"', ''))
  return missing.length === 0 ? null : `the user has not all rights on ${missing.join(', ')}`
}

async function clockAhead(client: Client, clock: { now(): number }, round_trip_ms: number): Promise<number> {
  const { rows } = await client.query(`SELECT ${NOW} AS now`)
  return Math.round(rows[0].now - (clock.now() - round_trip_ms / 2))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < TRIES; i += 1) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  times.sort((one, other) => one - other)
  return times[Math.floor(TRIES / 2)] as number
}
