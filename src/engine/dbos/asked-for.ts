import type { Database } from './database.js'
import { looking } from './present.js'

/** States of what a worker has taken from a queue or will take. */
const OPEN = "('ENQUEUED', 'PENDING', 'DELAYED')"

/**
 * Those of these runs whose root agent workers will work on without anybody having to see to it: the first that is there
 * takes it up. The log does not say so: a run may have been taken from the workers, or their queues be lost. That the time
 * of one is up is no work, and may be years away.
 */
export async function askedFor(database: Database, run_ids: readonly string[]): Promise<ReadonlySet<string>> {
  const table = `"${database.schema}".workflow_status`
  const rows = await looking(database, table, async (client) => {
    const found = await client.query<{ run_id: string }>(
      `SELECT DISTINCT split_part(workflow_uuid, '/', 1) AS run_id FROM ${table}
       WHERE status IN ${OPEN} AND split_part(workflow_uuid, '/', 1) = ANY ($1)
         AND split_part(workflow_uuid, '/', 2) = 'root' AND split_part(workflow_uuid, '/', 3) NOT LIKE 'deadline-%'`,
      [[...run_ids]],
    )
    return found.rows
  })
  return new Set(rows?.map(({ run_id }) => run_id))
}
