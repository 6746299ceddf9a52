import type { DBOSClient, GetWorkflowsInput, WorkflowStatus } from '@dbos-inc/dbos-sdk'
import { type Database, OWN_TIMEOUT } from './database.js'
import { migrated } from './migrate.js'
import { openPool } from './pool.js'
import { type Here, queueOf, type Route, type Routes, routeOf } from './routes.js'

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

/**
 * Somebody who is to be worked on, and why: the same for the same reason, so that it is asked for once. `closes`: it is
 * only to be closed, for which no worker needs its label.
 */
type Wake = { run_id: string; agent_id: string; why: string; delay_ms?: number; closes?: boolean }

/** Why a workflow was asked for, which its id ends with. */
export function whyOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}

/** Something that a worker has taken from a queue. */
export type Claim = { id: string; queue: string; executor: string }

const claimOf = ({ workflowID, queueName = '', executorId = '' }: WorkflowStatus): Claim => ({
  ...{ id: workflowID, queue: queueName, executor: executorId },
})

const EVERYBODY: Route = { label: null, checkout: null }

/** So long those with the label, or in the checkout, have to close it themselves. */
const OTHERS_CLOSE_MS = 2000

/** Hands agents to whichever worker has room and may have them. */
export class Dispatch {
  /** Opened when there is something to give: most commands have nothing. */
  #client: Promise<{ client: DBOSClient; end: () => Promise<void> }> | null = null
  #closed = false

  constructor(
    readonly database: Database,
    /** Those of one project share their queues with no other. */
    readonly here: Here,
    readonly routes: Routes,
  ) {}

  async wake({ closes = false, ...wake }: Wake): Promise<void> {
    const { here } = this
    const { route, project = here.project, checkout } = await this.routes.of(wake.run_id, wake.agent_id)
    await this.#give(wake, project, route, closes)
    if (project === here.project || checkout !== here.checkout) return
    // It was begun here when the project had another name. Workers of this checkout may know either.
    await this.#give({ ...wake, why: `${wake.why}-in-${here.project}` }, here.project, { ...route, checkout }, closes)
  }

  async #give(wake: Omit<Wake, 'closes'>, project: string, route: Route, closes: boolean): Promise<void> {
    await this.#enqueue(wake, queueOf(project, route))
    if (!closes || (route.label === null && route.checkout === null)) return
    const later = (wake.delay_ms ?? 0) + OTHERS_CLOSE_MS
    await this.#enqueue({ ...wake, why: `${wake.why}-by-any`, delay_ms: later }, queueOf(project, EVERYBODY))
  }

  async #enqueue({ run_id, agent_id, why, delay_ms }: Omit<Wake, 'closes'>, queueName: string): Promise<void> {
    const client = await this.open()
    await client.enqueue(
      {
        queueName,
        // Where there is a limit for each run, it is by this; where there is none, it means nothing.
        queuePartitionKey: run_id,
        workflowName: ADVANCE,
        workflowID: `${run_id}/${agent_id}/${why}`,
        appVersion: APPLICATION_VERSION,
        ...(delay_ms === undefined ? {} : { delaySeconds: Math.ceil(delay_ms / 1000) }),
      },
      run_id,
      agent_id,
    )
  }

  /**
   * Has what a dead worker left taken up by another: each goes back to the queue that it came from. Those that are done
   * are left alone.
   */
  async takeUp(executors: readonly string[]): Promise<number> {
    const client = await this.open()
    const left = await this.#workflows(client, { executorId: [...executors], status: 'PENDING' })
    await this.giveBack(left.map(claimOf))
    return left.length
  }

  /** Puts what was taken from the queues back into them. */
  async giveBack(claims: readonly Claim[]): Promise<void> {
    const client = await this.open()
    for (const queueName of new Set(claims.map(({ queue }) => queue))) {
      const ids = claims.filter(({ queue }) => queue === queueName).map(({ id }) => id)
      await client.resumeWorkflows(ids, { queueName })
    }
  }

  /** Removes what was done long ago: the log has it all. */
  async tidy(): Promise<void> {
    const client = await this.open()
    const done = await this.#workflows(client, {
      status: ['SUCCESS', 'ERROR', 'CANCELLED'],
      completedBefore: new Date(Date.now() - KEPT_MS).toISOString(),
      limit: MOST_REMOVED,
    })
    if (done.length > 0) await client.deleteWorkflows(done.map(({ workflowID }) => workflowID))
  }

  /** What workers have under way. */
  async claims(): Promise<Claim[]> {
    const client = await this.open()
    return (await this.#workflows(client, { status: 'PENDING' })).map(claimOf)
  }

  /** On the project's queues: one that no worker has ever listened to has none that was begun. */
  async #workflows(client: DBOSClient, which: GetWorkflowsInput): Promise<WorkflowStatus[]> {
    const queueName = (await client.listQueues(APPLICATION))
      .map(({ name }) => name)
      .filter((name) => routeOf(this.here.project, name) !== null)
    if (queueName.length === 0) return []
    return client.listWorkflows({ ...which, queueName, loadInput: false, loadOutput: false })
  }

  async close(): Promise<void> {
    this.#closed = true
    const client = this.#client
    this.#client = null
    const opened = await client?.catch(() => null)
    await opened?.end()
  }

  /** Makes the tables of DBOS, or brings them up to date. From then on whatever is asked waits for a database that is away. */
  async open(): Promise<DBOSClient> {
    // Nobody would end what somebody opens who is late.
    if (this.#closed) throw new Error('Nothing is given to the workers here any more')
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
