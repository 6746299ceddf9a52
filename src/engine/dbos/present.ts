import type pg from 'pg'
import type { Identity } from '../../host/index.js'
import type { Database } from './database.js'
import { rollTable, SILENT_MS, type WorkerInfo } from './roll.js'
import { routeOf } from './routes.js'

/** A worker that gave a word lately. Times are the database's. */
export type PresentWorker = Omit<WorkerInfo, 'name' | 'owner'> & { id: string; started_at: number; beat_at: number }

const ANSWER_MS = 10_000

/** Workers of earlier versions do not say it. */
const UNSAID = { labels: [], at_once: null, per_run: null }

type Row = { executor: string; info: WorkerInfo; started_at: Date; beat_at: Date }

/**
 * Those on the roll, the first to come first. Of a process on this machine it is known at once that it is gone. null: nobody
 * has set up the tables for workers so far.
 */
export function presentWorkers(database: Database, identity: Identity): Promise<PresentWorker[] | null> {
  return looking(database, rollTable(database), async (client) => {
    const { rows } = await client.query<Row>(
      `SELECT executor, info, started_at, beat_at FROM ${rollTable(database)}
       WHERE beat_at > now() - $1 * interval '1 ms' ORDER BY started_at, executor`,
      [SILENT_MS],
    )
    const there = rows.filter(({ info }) => identity.isAlive(info.owner) !== false)
    return there.map(({ executor, info: { name: _, owner: __, ...info }, started_at, beat_at }) => ({
      id: executor,
      ...UNSAID,
      ...info,
      started_at: started_at.getTime(),
      beat_at: beat_at.getTime(),
    }))
  })
}

/** How many agents of a project wait for a worker with a label, by label. */
export async function waitingForLabels(database: Database, project: string): Promise<Map<string, number>> {
  const table = `"${database.schema}".workflow_status`
  // An agent may be asked for more than once, for different reasons.
  const agent = "array_to_string((string_to_array(workflow_uuid, '/'))[1:2], '/')"
  const rows = await looking(database, table, async (client) => {
    const found = await client.query<{ queue: string; agents: number }>(
      `SELECT queue_name AS queue, count(DISTINCT ${agent})::int AS agents FROM ${table}
       WHERE status = 'ENQUEUED' AND queue_name IS NOT NULL GROUP BY 1 ORDER BY 1`,
    )
    return found.rows
  })
  const waiting = new Map<string, number>()
  for (const { queue, agents } of rows ?? []) {
    const label = routeOf(project, queue)?.label
    if (label) waiting.set(label, agents)
  }
  return waiting
}

/** null: there is no such table so far. */
export async function looking<T>(
  database: Database,
  table: string,
  look: (client: pg.Client) => Promise<T>,
): Promise<T | null> {
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
    const { rows } = await client.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [table])
    return rows[0]?.there ? await look(client) : null
  } finally {
    await client.end()
  }
}
