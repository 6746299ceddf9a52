import type { AgentRow, RunRow } from '../../domain/index.js'
import { AGENT_COLUMNS, COUNTERS, RUN_COLUMNS } from '../columns.js'
import { type AgentDelta, type AgentDeltas, applyToAgent, applyToRun, type RunDelta } from '../deltas.js'
import { bound, type Query } from './connections.js'
import type { Tables } from './schema.js'

/** What the events of one transaction, or of a whole run, do to the row of a run and to those of its agents. */
export type RunChange = {
  run_id: string
  run: RunDelta
  agents: AgentDeltas
  /** Where the events are that created agents: agents are listed in the order of these. */
  created_at: Map<string, number>
}

/** The tables `runs` and `sub_agents`, as they are written: by appends, and anew from the events. */
export class ProjectionTables {
  readonly #statements

  constructor(tables: Tables) {
    this.#statements = prepare(tables)
  }

  /** For any number of runs at once: each statement takes the rows of all. */
  statements(changes: readonly RunChange[]): Query[] {
    const { insertRuns, updateRuns, insertAgents, updateAgents } = this.#statements
    const newRuns = changes.flatMap(({ run_id, run }) => applyToRun(run_id, null, run) ?? [])
    const movedRuns = changes.flatMap(movedRun)
    const newAgents = changes.flatMap(newAgentsOf)
    const queries = [
      newRuns.length > 0 && bound(insertRuns, JSON.stringify(newRuns), newRuns.length),
      movedRuns.length > 0 && bound(updateRuns, JSON.stringify(movedRuns), runsOf(movedRuns)),
      newAgents.length > 0 && bound(insertAgents, JSON.stringify(newAgents)),
    ]
    const moved = changes.flatMap(movedAgentsOf)
    if (moved.length > 0) queries.push(bound(updateAgents, JSON.stringify(moved), runsOf(moved)))
    return queries.filter((query) => query !== false)
  }
}

function runsOf(rows: readonly { run_id: string }[]): string[] {
  return rows.map(({ run_id }) => run_id)
}

function movedRun({ run_id, run }: RunChange) {
  if (run.created) return []
  const { set, add, events, updated_at, agents } = run
  return [{ run_id, events, updated_at, agents, ...add, status: set.status, outcome: set.outcome, text: set.text }]
}

function newAgentsOf({ run_id, agents, created_at }: RunChange) {
  return [...agents].flatMap(([agent_id, delta]) => {
    const row = delta.created ? applyToAgent({ run_id, agent_id }, null, delta) : null
    return row ? [{ ...row, created_position: created_at.get(agent_id) }] : []
  })
}

function movedAgentsOf({ run_id, agents }: RunChange) {
  const moved = ([agent_id, { set, updated_at }]: [string, AgentDelta]) => ({ ...set, run_id, agent_id, updated_at })
  return [...agents].filter(([, delta]) => !delta.created).map(moved)
}

const TEXTS = [
  ...['run_id', 'agent_id', 'session_id', 'task', 'workspace_root', 'status', 'outcome', 'text'],
  ...['parent_id', 'state', 'model', 'context_json'],
]

/** The columns of rows that come as JSON: one parameter, however many rows. */
function columns(names: readonly string[]): string {
  const typeOf = (name: string) => (TEXTS.includes(name) ? 'text' : name === 'cost_usd' ? 'double precision' : 'bigint')
  return `json_to_recordset($1::json) AS d(${names.map((name) => `${name} ${typeOf(name)}`).join(', ')})`
}

function prepare({ runs, sub_agents, must }: Tables) {
  const runNames: readonly (keyof RunRow)[] = RUN_COLUMNS
  const agentNames: readonly (keyof AgentRow | 'created_position')[] = ['created_position', ...AGENT_COLUMNS]
  const sums = COUNTERS.map((name) => `${name} = r.${name} + d.${name}`).join(', ')
  const sets = COUNTERS.map((name) => `${name} = coalesce(d.${name}, a.${name})`).join(', ')
  // PostgreSQL takes the rows in JSON for a hundred. By them alone it would read all of some thousand runs.
  return {
    insertRuns: {
      name: 'insert_runs',
      // In one order for all: two transactions that make the same runs wait for each other, but not in a circle.
      text: `WITH made AS (
          INSERT INTO ${runs} (${runNames.join(', ')})
          SELECT ${runNames.map((name) => `d.${name}`).join(', ')} FROM ${columns(runNames)} ORDER BY d.run_id
          ON CONFLICT DO NOTHING RETURNING 1)
        SELECT ${must}((SELECT count(*) FROM made) = $2::bigint)`,
    },
    updateRuns: {
      name: 'update_runs',
      text: `UPDATE ${runs} AS r SET last_position = r.last_position + d.events,
          updated_at = greatest(r.updated_at, d.updated_at), status = coalesce(d.status, r.status),
          outcome = coalesce(d.outcome, r.outcome), text = coalesce(d.text, r.text), agents = r.agents + d.agents, ${sums}
        FROM ${columns(['run_id', 'events', 'updated_at', 'status', 'outcome', 'text', 'agents', ...COUNTERS])}
        WHERE r.run_id = d.run_id AND r.run_id = ANY($2::text[])`,
    },
    insertAgents: {
      name: 'insert_agents',
      text: `INSERT INTO ${sub_agents} (${agentNames.join(', ')})
        SELECT ${agentNames.map((name) => `d.${name}`).join(', ')} FROM ${columns(agentNames)}`,
    },
    updateAgents: {
      name: 'update_agents',
      text: `UPDATE ${sub_agents} AS a SET updated_at = greatest(a.updated_at, d.updated_at),
          state = coalesce(d.state, a.state), outcome = coalesce(d.outcome, a.outcome), ${sets}
        FROM ${columns(['run_id', 'agent_id', 'updated_at', 'state', 'outcome', ...COUNTERS])}
        WHERE a.run_id = d.run_id AND a.agent_id = d.agent_id AND a.run_id = ANY($2::text[])`,
    },
  }
}
