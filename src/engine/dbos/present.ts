import type { Database } from './database.js'
import { rollTable, SILENT_MS, type WorkerInfo } from './roll.js'

/** A worker that gave a word lately. Times are the database's. */
export type PresentWorker = Omit<WorkerInfo, 'name' | 'owner'> & { id: string; started_at: number; beat_at: number }

const ANSWER_MS = 10_000

type Row = { executor: string; info: WorkerInfo; started_at: Date; beat_at: Date }

/** Those on the roll, the first to come first. null: nobody has set up the tables for workers so far. */
export async function presentWorkers(database: Database): Promise<PresentWorker[] | null> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: database.url,
    application_name: 'retinue',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
      rollTable(database),
    ])
    if (!tables[0]?.there) return null
    const { rows } = await client.query<Row>(
      `SELECT executor, info, started_at, beat_at FROM ${rollTable(database)}
       WHERE beat_at > now() - $1 * interval '1 ms' ORDER BY started_at, executor`,
      [SILENT_MS],
    )
    return rows.map(({ executor, info: { name: _, owner: __, ...info }, started_at, beat_at }) => ({
      id: executor,
      ...info,
      started_at: started_at.getTime(),
      beat_at: beat_at.getTime(),
    }))
  } finally {
    await client.end()
  }
}
