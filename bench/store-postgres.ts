import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { openPostgresStore } from '../src/store/index.js'
import { appendTo, finished } from './appends.js'
import { measure, median, type Sample } from './measure.js'

export type PostgresAppends = { bare: Sample; one: Sample; hundred: Sample; one_ms: number; bare_ms: number }

/** Durable appends on a server of this machine's own, with everything on the disk before it is answered. */
export async function postgresAppends(count: number): Promise<PostgresAppends> {
  // Not bundled with the benchmark: it starts a program that lies beside it.
  const launcher = pathToFileURL(resolve('scripts/postgres-server.mjs')).href
  const { startPostgres }: typeof import('../scripts/postgres-server.mjs') = await import(launcher)
  const server = await startPostgres({ durable: true })
  try {
    const bare = await bareTransactions(server.url, count)
    const opened = await openPostgresStore({ url: server.url, clock: { now: () => Date.now() } })
    if (!opened.ok) throw new Error(opened.message)
    const one = await appendTo(opened.store, 1, count)
    const hundred = await appendTo(opened.store, 100, count)
    await opened.store.close()
    const times = { one_ms: median(one.each_ms), bare_ms: median(bare.each_ms) }
    return { bare: bare.sample, one: one.sample, hundred: hundred.sample, ...times }
  } finally {
    await server.remove()
  }
}

/** The same two rows in a transaction, one round trip, with nothing checked, chained or projected. */
async function bareTransactions(url: string, count: number): Promise<{ sample: Sample; each_ms: number[] }> {
  const client = new pg.Client({ connectionString: url, pipeline: true })
  await client.connect()
  await client.query('CREATE TABLE events (run_id text, position bigint, data text, PRIMARY KEY (run_id, position))')
  const insert = { name: 'insert', text: 'INSERT INTO events VALUES ($1, $2, $3)' }
  const each_ms: number[] = []
  let position = 0
  const row = (i: number) => client.query({ ...insert, values: ['r', ++position, JSON.stringify(finished(i).data)] })
  const sample = await measure(async () => {
    for (let i = 0; i < count; i++) {
      const began = performance.now()
      await Promise.all([client.query('BEGIN'), row(i), row(i), client.query('COMMIT')])
      each_ms.push(performance.now() - began)
    }
  })
  await client.end()
  return { sample, each_ms }
}
