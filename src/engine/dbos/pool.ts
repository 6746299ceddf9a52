import type pg from 'pg'
import type { Database } from './database.js'

const CONNECT_MS = 10_000

/**
 * Connections for DBOS. Of its own ones nobody hears in the moment between two who use them: one that broke just then
 * would end the process.
 */
export async function openPool({ url }: Database, max: number): Promise<pg.Pool> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, max, connectionTimeoutMillis: CONNECT_MS })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
