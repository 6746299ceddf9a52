import { project } from '../../domain/index.js'
import { addToAgents, addToRun, newRunDelta } from '../deltas.js'
import { eventOf } from '../rows.js'
import type { Client, Connections } from './connections.js'
import type { ProjectionTables, RunChange } from './projections.js'
import { eventRows, eventsOfRun } from './read.js'
import type { Tables } from './schema.js'

/** Makes `runs` and `sub_agents` anew. Appends wait meanwhile: they lock rows of a table that is locked as a whole. */
export function rebuild(connections: Connections, projections: ProjectionTables, tables: Tables): Promise<void> {
  const attempt = () =>
    connections.with(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      await client.query(`LOCK TABLE ${tables.runs}, ${tables.sub_agents} IN EXCLUSIVE MODE`)
      await client.query(`DELETE FROM ${tables.runs}`)
      await client.query(`DELETE FROM ${tables.sub_agents}`)
      const { rows } = await client.query(`SELECT DISTINCT run_id FROM ${tables.events} ORDER BY run_id`)
      for (const { run_id } of rows) {
        const change = await changeOf(client, run_id, tables)
        if (change.run.created) for (const query of projections.statements([change])) await client.query(query)
      }
      await client.query('COMMIT')
    })
  return connections.patiently(attempt, 'write')
}

/** What all events of a run come to. Of an agent that was never created there is no row to change. */
async function changeOf(client: Client, run_id: string, tables: Tables): Promise<RunChange> {
  const change: RunChange = { run_id, run: newRunDelta(), agents: new Map(), created_at: new Map() }
  for await (const row of eventRows(client, eventsOfRun(tables), run_id)) {
    const event = eventOf(row)
    const projection = project(event, event.agent_id)
    addToRun(change.run, projection, event.at)
    addToAgents(change.agents, projection, event.at)
    if (projection.agent) change.created_at.set(projection.agent_id, event.position)
  }
  return change
}
