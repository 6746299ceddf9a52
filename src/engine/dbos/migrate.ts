import { setTimeout } from 'node:timers/promises'
import type { Database } from './database.js'
import { quietly } from './quietly.js'

const AGAIN_MS = 100

/**
 * Makes the tables of DBOS, or brings them up to date. One process at a time: DBOS takes what another is just making for
 * what a dead one has left, and removes it.
 */
export async function migrated({ url, schema }: Database): Promise<void> {
  const [{ DBOS }, { default: pg }] = await Promise.all([import('@dbos-inc/dbos-sdk'), import('pg')])
  const client = new pg.Client({ connectionString: url, application_name: 'retinue' })
  client.on('error', () => {})
  await client.connect()
  try {
    // Asked for again and again: an index that is made waits for every statement, also for one that waits for a lock.
    const mine = 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine'
    while (!(await client.query(mine, [`${schema} migrate`])).rows[0].mine) await setTimeout(AGAIN_MS)
    // Whoever may not use the schema is told so here. DBOS would take it for one that is not there, and ask to make it.
    await client.query('SELECT to_regclass($1)', [`"${schema}".dbos_migrations`])
    await quietly(() => DBOS.migrate(url, { schemaName: schema }))
  } finally {
    await client.end().catch(() => {})
  }
}
