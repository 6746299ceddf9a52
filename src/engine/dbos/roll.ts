import type pg from 'pg'
import type { Identity } from '../../host/index.js'
import { inTurn } from '../../runtime/index.js'
import type { Database } from './database.js'
import type { SharedLimits } from './shared-limits.js'

/** A worker that gave no word for so long does not work any more, whatever its connection says. */
export const SILENT_MS = 8000
/** One whose lock is free is dead, unless it has just lost its connection and comes back. */
const UNLOCKED_MS = 3000
const AGAIN_MS = 500
/** When all have lost their connections, the first to be back does not take the others for dead. */
const SETTLED_MS = 4000
/** Those that left without a word are no news any more. */
const FORGOTTEN = "interval '1 hour'"

/** What others may know of a worker. */
export type WorkerInfo = {
  name: string
  /** The process, as leases name it: whoever is on its machine knows whether it lives. */
  owner: string
  host: string
  pid: number
  /** The path of its folder on its machine. */
  project: string
  /** Whose runs it shares with others, and in which of its checkouts. */
  project_id: string
  checkout: string
  concurrency: number
  labels: readonly string[]
  version: string
} & SharedLimits

export function rollTable({ schema }: Database): string {
  return `"${schema}".workers`
}

/**
 * The roll of workers. Each holds an advisory lock, which the database frees when the process dies, and gives a word now
 * and then, which it cannot while it is stopped. DBOS itself does not notice when one is gone.
 */
export class Roll {
  #client: pg.Client | null = null
  /** A connection does one thing at a time; and with a second one, the lock would be on the wrong one. */
  readonly #alone = inTurn()
  /** Whether its lock is this connection's. The server may not have noticed yet that the one before is gone. */
  #locked = false
  #connected_at = 0
  #ended = false

  constructor(
    private readonly database: Database,
    readonly executor: string,
    private info: WorkerInfo,
    private readonly identity: Identity,
  ) {}

  /** What all workers of the project share now. */
  get limits(): SharedLimits {
    const { at_once, per_run } = this.info
    return { at_once, per_run }
  }

  /** Says that this worker is there, and hears what those that started later said for all. */
  beat(): Promise<void> {
    return this.#on(async (client) => {
      const { rows } = await client.query<{ info: WorkerInfo }>(
        `INSERT INTO ${this.#table} (executor, info, started_at, beat_at) VALUES ($1, $2, now(), now())
         ON CONFLICT (executor) DO UPDATE SET beat_at = now() RETURNING info`,
        [this.executor, JSON.stringify(this.info)],
      )
      this.info = rows[0]?.info ?? this.info
      if (!this.#locked) this.#locked = await tryLock(client, this.executor)
    })
  }

  /** Says for all workers of the project what they share. Answers with what the others that are there were told before. */
  share(limits: SharedLimits): Promise<SharedLimits[]> {
    return this.#on(async (client) => {
      const { project_id } = this.info
      const { rows } = await client.query<SharedLimits>(
        `SELECT (info ->> 'at_once')::int AS at_once, (info ->> 'per_run')::int AS per_run FROM ${this.#table}
         WHERE info ->> 'project_id' = $1 AND executor <> $2 AND beat_at > now() - $3 * interval '1 ms'
         ORDER BY started_at, executor`,
        [project_id, this.executor, SILENT_MS],
      )
      await client.query(`UPDATE ${this.#table} SET info = info || $2 WHERE info ->> 'project_id' = $1`, [
        ...[project_id, JSON.stringify(limits)],
      ])
      this.info = { ...this.info, ...limits }
      return rows
    })
  }

  /**
   * Those of these workers that are gone. Others may look at the same time, and no lock keeps them from it: one that was
   * held meanwhile would keep everybody from looking if its holder were stopped. An agent that two take up is invoked
   * twice at worst, and its lease lets one work on it.
   */
  async gone(executors: readonly string[]): Promise<string[]> {
    return executors.length === 0 ? [] : this.#on((client) => this.#look(client, executors))
  }

  async #look(client: pg.Client, executors: readonly string[]): Promise<string[]> {
    const settled = performance.now() - this.#connected_at >= SETTLED_MS
    const { rows } = await client.query<{ executor: string; owner: string | null; silent: boolean }>(
      `SELECT asked.executor, worker.info ->> 'owner' AS owner, worker.beat_at IS NULL
          OR worker.beat_at < now() - $2 * interval '1 ms'
          OR (worker.beat_at < now() - $3 * interval '1 ms' AND NOT EXISTS (
               SELECT 1 FROM pg_locks
               WHERE locktype = 'advisory' AND objsubid = 1 AND granted
                 AND (classid::bigint << 32) | objid::bigint = hashtextextended(asked.executor, 0))) AS silent
       FROM unnest($1::text[]) AS asked (executor) LEFT JOIN ${this.#table} AS worker USING (executor)`,
      [[...executors], SILENT_MS, UNLOCKED_MS],
    )
    await client.query(`DELETE FROM ${this.#table} WHERE beat_at < now() - ${FORGOTTEN}`)
    // Of a process on this machine it is known whether it lives, and nobody need wait until it has been silent for long.
    const isDead = (owner: string | null) => owner !== null && this.identity.isAlive(owner) === false
    return rows
      .filter(({ silent, owner }) => (silent && settled) || isDead(owner))
      .map(({ executor }) => executor)
      .filter((executor) => executor !== this.executor)
  }

  /** It is there no more. */
  async leave(): Promise<void> {
    this.#ended = true
    const client = this.#client
    this.#client = null
    if (!client) return
    await client.query(`DELETE FROM ${this.#table} WHERE executor = $1`, [this.executor]).catch(() => {})
    await client.end().catch(() => {})
  }

  /** One on which something failed is not used again: it may never answer any more. */
  #on<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return this.#alone(async () => {
      const client = await this.#connected()
      try {
        return await work(client)
      } catch (error) {
        if (this.#client === client) this.#client = null
        void client.end().catch(() => {})
        throw error
      }
    })
  }

  get #table(): string {
    return rollTable(this.database)
  }

  /** On one connection of its own: the lock lives as long as that does. */
  async #connected(): Promise<pg.Client> {
    if (this.#client) return this.#client
    if (this.#ended) throw new Error('The worker has left')
    const { default: pg } = await import('pg')
    const client = new pg.Client({
      connectionString: this.database.url,
      application_name: `retinue worker ${this.info.name}`.slice(0, 63),
      connectionTimeoutMillis: 10 * AGAIN_MS,
      query_timeout: SILENT_MS,
      keepAlive: true,
    })
    const lost = () => {
      if (this.#client === client) this.#client = null
    }
    client.on('error', lost)
    client.on('end', lost)
    try {
      await client.connect()
      await this.#makeTable(client)
      this.#locked = await tryLock(client, this.executor)
    } catch (error) {
      void client.end().catch(() => {})
      throw error
    }
    this.#client = client
    this.#connected_at = performance.now()
    return client
  }

  /** Two who make it at once get into each other's way, although it says IF NOT EXISTS. */
  async #makeTable(client: pg.Client): Promise<void> {
    const roll = [`${this.database.schema} roll`]
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', roll)
    await client.query(`CREATE TABLE IF NOT EXISTS ${this.#table} (
      executor text PRIMARY KEY, info jsonb NOT NULL, started_at timestamptz NOT NULL, beat_at timestamptz NOT NULL)`)
    await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', roll)
  }
}

async function tryLock(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine',
    [name],
  )
  return rows[0]?.mine ?? false
}
