import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { passes } from '../../store/index.js'
import type { Database } from './database.js'

const CONNECT_MS = 10_000
const AGAIN_MS = 250
/**
 * For a server that is gone without a word, as long as the store waits: longer than DBOS lets its longest reads run (30 s)
 * and than whoever is stopped with a lock can keep others waiting. Tables are made on other connections.
 */
const ANSWER_MS = 35_000
/** The same for a connection on which nothing is asked. */
const KEEP_ALIVE_MS = 10_000

/**
 * Connections for DBOS. Of its own ones nobody hears in the moment between two who use them: one that broke just then
 * would end the process. And while the database is away it asks again after a second, then two, up to a minute, so that it
 * would come back as much later as that was away; here whoever needs a connection has one as soon as there is one.
 */
export async function openPool(
  { url, patience_ms }: Database,
  max: number,
  answer_ms: number = ANSWER_MS,
): Promise<pg.Pool> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    ...{ connectionString: url, max, connectionTimeoutMillis: CONNECT_MS },
    ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS },
  })
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    giveUpAfter(answer_ms, client)
  })
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

/** What pg has and does not tell of; its version is fixed in package.json. */
type Inside = {
  connection: {
    stream: { setTimeout(ms: number): void; on(event: 'timeout', hear: () => void): void; destroy(): void }
  }
  readyForQuery: boolean
}

/**
 * Breaks a connection on which something was asked and nothing has come for so long; one that only listens may be silent
 * for ever. pg's own limit (`query_timeout`) does not do: the connection stays, DBOS gives it back to the pool as a good
 * one, and the next who gets it waits as long. One that broke is thrown away, and DBOS asks again on another.
 */
function giveUpAfter(answer_ms: number, client: pg.PoolClient): void {
  const inside = client as unknown as Inside
  const { stream } = inside.connection
  stream.setTimeout(answer_ms)
  stream.on('timeout', () => {
    if (!inside.readyForQuery) stream.destroy()
  })
}
