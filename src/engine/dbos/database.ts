import { databaseSettings } from '../../store/index.js'

/** Where DBOS keeps its queues: in the database that has the log, in a schema of its own. So long it is waited for. */
export type Database = { url: string; schema: string; patience_ms: number }

/** Whoever is stopped inside a transaction keeps others out for so long. */
const IDLE_IN_TRANSACTION_MS = 10_000

/** DBOS would set that timeout itself, in a way that pg warns of on stderr. */
export const OWN_TIMEOUT = { systemDatabaseIdleTransactionTimeoutMs: 0 }

export function databaseOf(store: string): Database {
  const read = databaseSettings(store)
  if (!read.ok) throw new Error(read.message)
  const { connection, schema, patience_ms } = read.settings
  const timeout = `idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`
  return {
    url: `${connection}${connection.includes('?') ? '&' : '?'}${timeout}`,
    schema: `${schema}_dbos`,
    patience_ms,
  }
}
