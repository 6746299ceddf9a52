import { databaseSettings } from '../../store/index.js'

/** Where DBOS keeps its queues: in the database that has the log, in a schema of its own. */
export type Database = { url: string; schema: string }

export function databaseOf(store: string): Database {
  const read = databaseSettings(store)
  if (!read.ok) throw new Error(read.message)
  return { url: read.settings.connection, schema: `${read.settings.schema}_dbos` }
}
