import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { passes } from '../../store/index.js'
import type { Database } from './database.js'

const CONNECT_MS = 10_000
const AGAIN_MS = 250

/**
 * Connections for DBOS. Of its own ones nobody hears in the moment between two who use them: one that broke just then
 * would end the process. And while the database is away it asks again after a second, then two, up to a minute, so that it
 * would come back as much later as that was away; here whoever needs a connection has one as soon as there is one.
 */
export async function openPool({ url, patience_ms }: Database, max: number): Promise<pg.Pool> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, max, connectionTimeoutMillis: CONNECT_MS })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>
  const patiently = async (): Promise<pg.PoolClient> => {
    const began = performance.now()
    for (;;) {
      try {
        return await connect()
      } catch (error) {
        if (pool.ending || !passes(error) || performance.now() - began > patience_ms) throw error
      }
      await setTimeout(AGAIN_MS)
    }
  }
  type Answer = Parameters<typeof pool.connect>[0]
  pool.connect = ((answer?: Answer) => {
    if (!answer) return patiently()
    patiently().then(
      (client) => answer(undefined, client, client.release),
      (error) => answer(error, undefined, () => {}),
    )
  }) as typeof pool.connect
  return pool
}
