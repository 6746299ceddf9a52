import type { Database } from './database.js'
import { looking, OPEN } from './present.js'
import { rollTable } from './roll.js'
import { routeOf } from './routes.js'

/**
 * Removes the queues of checkouts in which nobody works any more and for which nothing waits: clones come and go, and each
 * worker looks at every queue each second. In one statement, so that a worker that begins meanwhile keeps its own: it is on
 * the roll before it makes them.
 */
export async function removeOldQueues(database: Database, project: string): Promise<void> {
  const table = `"${database.schema}".queues`
  await looking(database, table, async (client) => {
    const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${table}`)
    const bound = rows.flatMap(({ name }) => {
      const checkout = routeOf(project, name)?.checkout
      return checkout ? [{ name, checkout }] : []
    })
    await client.query(
      `DELETE FROM ${table} AS queue USING unnest($1::text[], $2::text[]) AS bound (name, checkout)
       WHERE queue.name = bound.name
         AND NOT EXISTS (SELECT 1 FROM ${rollTable(database)} WHERE info ->> 'checkout' = bound.checkout)
         AND NOT EXISTS (SELECT 1 FROM "${database.schema}".workflow_status
                         WHERE queue_name = bound.name AND status IN ${OPEN})`,
      [bound.map(({ name }) => name), bound.map(({ checkout }) => checkout)],
    )
  })
}
