import { once } from 'node:events'
import type pg from 'pg'
import { expect, it } from 'vitest'
import { databaseOf } from '../../src/engine/dbos/database.js'
import { openPool } from '../../src/engine/dbos/pool.js'
import { wireProxy } from '../store/wire-proxy.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import type { WhenFinished } from '../support/project.js'

const ANSWER_MS = 1000

async function opened(finished: WhenFinished) {
  const store = await (await sharedPostgres()).database({ finished })
  const proxy = await wireProxy(store, finished)
  const pool = await openPool(databaseOf(proxy.url), 1, ANSWER_MS)
  finished(() => pool.end())
  return { store, proxy, pool }
}

const pidOf = async (client: pg.Pool | pg.PoolClient) =>
  (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid as number

it('a connection on which no answer comes is given up, and whoever asks again has another', async ({
  onTestFinished,
}) => {
  const { proxy, pool } = await opened(onTestFinished)
  const before = await pidOf(pool)
  expect(proxy.hush(() => true)).toBe(1)
  await expect(pidOf(pool)).rejects.toThrow('Connection terminated unexpectedly')
  expect(await pidOf(pool)).not.toBe(before)
})

it('one that only listens may be silent for longer, hears what comes then, and is given up when it asks in vain', async ({
  onTestFinished,
}) => {
  const { store, proxy, pool } = await opened(onTestFinished)
  const client = await pool.connect()
  onTestFinished(() => client.release())
  await client.query('LISTEN something')
  const before = await pidOf(client)
  // The server is silent for twice as long as it may be where something was asked.
  await queried(store, `SELECT pg_sleep(${(2 * ANSWER_MS) / 1000})`)
  const heard = once(client, 'notification')
  await queried(store, "NOTIFY something, 'a word'")
  expect(await heard).toMatchObject([{ channel: 'something', payload: 'a word' }])
  expect(await pidOf(client)).toBe(before)
  expect(proxy.hush(() => true)).toBe(1)
  await expect(pidOf(client)).rejects.toThrow('Connection terminated unexpectedly')
})
