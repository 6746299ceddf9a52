import type { DBOSClient } from '@dbos-inc/dbos-sdk'
import { type Database, OWN_TIMEOUT } from './database.js'
import { migrated } from './migrate.js'
import { openPool } from './pool.js'

/** The one workflow there is: work on an agent until it rests. */
export const ADVANCE = 'advance'

/**
 * Of what workers and those who give them work must agree on: the queue, what a workflow is told, the signals between
 * agents. Workers of one version share their work whatever release they are of, so that they can be replaced one by
 * one; when this changes, those of before finish what was given to them.
 */
export const APPLICATION_VERSION = 'retinue-1'
export const APPLICATION = 'retinue'

const CONNECTIONS = 4
/** So long, and so many at a time. */
const KEPT_MS = 60 * 60 * 1000
const MOST_REMOVED = 1000

/** Somebody who is to be worked on, and why: the same for the same reason, so that it is asked for once. */
type Wake = { run_id: string; agent_id: string; why: string; delay_ms?: number }

/** Hands agents to whichever worker has room. */
export class Dispatch {
  readonly queue: string
  /** Opened when there is something to give: most commands have nothing. */
  #client: Promise<{ client: DBOSClient; end: () => Promise<void> }> | null = null

  constructor(
    readonly database: Database,
    project: string,
  ) {
    this.queue = `${APPLICATION}.${project}`
  }

  async wake({ run_id, agent_id, why, delay_ms }: Wake): Promise<void> {
    const client = await this.open()
    await client.enqueue(
      {
        queueName: this.queue,
        workflowName: ADVANCE,
        workflowID: `${run_id}/${agent_id}/${why}`,
        appVersion: APPLICATION_VERSION,
        ...(delay_ms === undefined ? {} : { delaySeconds: Math.ceil(delay_ms / 1000) }),
      },
      run_id,
      agent_id,
    )
  }

  /** Has what a dead worker left taken up by another. Those that are done are left alone. */
  async takeUp(executors: readonly string[]): Promise<number> {
    const client = await this.open()
    const left = await client.listWorkflows({
      executorId: [...executors],
      status: 'PENDING',
      queueName: this.queue,
      loadInput: false,
      loadOutput: false,
    })
    const ids = left.map(({ workflowID }) => workflowID)
    if (ids.length > 0) await client.resumeWorkflows(ids, { queueName: this.queue })
    return ids.length
  }

  /** Removes what was done long ago: the log has it all. */
  async tidy(): Promise<void> {
    const client = await this.open()
    const done = await client.listWorkflows({
      status: ['SUCCESS', 'ERROR', 'CANCELLED'],
      completedBefore: new Date(Date.now() - KEPT_MS).toISOString(),
      queueName: this.queue,
      limit: MOST_REMOVED,
      loadInput: false,
      loadOutput: false,
    })
    if (done.length > 0) await client.deleteWorkflows(done.map(({ workflowID }) => workflowID))
  }

  /** Workers that have something under way. */
  async executors(): Promise<string[]> {
    const client = await this.open()
    const pending = await client.listWorkflows({
      status: 'PENDING',
      queueName: this.queue,
      loadInput: false,
      loadOutput: false,
    })
    return [...new Set(pending.flatMap(({ executorId }) => executorId ?? []))]
  }

  async close(): Promise<void> {
    const opened = await this.#client?.catch(() => null)
    await opened?.end()
  }

  /** Makes the tables of DBOS, or brings them up to date. From then on whatever is asked waits for a database that is away. */
  async open(): Promise<DBOSClient> {
    this.#client ??= openClient(this.database).catch((error) => {
      this.#client = null
      throw error
    })
    return (await this.#client).client
  }
}

async function openClient(database: Database): Promise<{ client: DBOSClient; end: () => Promise<void> }> {
  const { DBOSClient } = await import('@dbos-inc/dbos-sdk')
  const { url, schema } = database
  // The first who needs its tables makes them, worker or not.
  await migrated(database)
  const pool = await openPool(database, CONNECTIONS)
  const client = await DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: schema,
    applicationName: APPLICATION,
    logger: QUIET,
    ...OWN_TIMEOUT,
  })
  const end = async () => {
    await client.destroy()
    await pool.end()
  }
  return { client, end }
}

/** What DBOS says of itself is said by others too: whoever cannot reach the database is told by the store. */
export const QUIET = { info: () => {}, debug: () => {}, warn: () => {}, error: () => {} }
