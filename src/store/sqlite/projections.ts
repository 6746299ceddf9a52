import { project } from '../../domain/index.js'
import { AGENT_COLUMNS, COUNTERS, RUN_COLUMNS } from '../columns.js'
import {
  type AgentDelta,
  type AgentDeltas,
  addToAgents,
  addToRun,
  applyToAgent,
  applyToRun,
  newRunDelta,
  type RunDelta,
} from '../deltas.js'
import { agentExists, noRun } from '../refusals.js'
import { eventOf } from '../rows.js'
import { all, type Database, first, type Value } from './database.js'
import { EVENTS_OF_RUN, eventRows } from './events.js'

/** The tables `runs` and `sub_agents`, as they are written: by appends, and anew from the events. */
export class ProjectionTables {
  readonly #statements

  constructor(database: Database) {
    this.#statements = prepare(database)
  }

  hasRun(run_id: string): boolean {
    return first(this.#statements.hasRun, run_id) !== undefined
  }

  isClosed(run_id: string): boolean {
    return first(this.#statements.isClosed, run_id) !== undefined
  }

  /** Answers with the run's last position after the events. */
  writeRun(run_id: string, delta: RunDelta): number {
    const row = delta.created ? applyToRun(run_id, null, delta) : null
    if (row) {
      this.#statements.insertRun.run(valuesOf(RUN_COLUMNS, row))
      return row.last_position
    }
    const { set, add, events, updated_at, agents } = delta
    const moved = delta.touched
      ? first<{ last_position: number }>(
          this.#statements.updateRun,
          ...[events, updated_at, set.status ?? null, set.outcome ?? null, set.text ?? null, agents],
          ...COUNTERS.map((name) => add[name]),
          run_id,
        )
      : first<{ last_position: number }>(this.#statements.moveRun, events, updated_at, run_id)
    if (!moved) throw noRun(run_id)
    return moved.last_position
  }

  /** Throws where a new row is there already. */
  writeAgent({ run_id, agent_id }: { run_id: string; agent_id: string }, delta: AgentDelta): void {
    const row = delta.created ? applyToAgent({ run_id, agent_id }, null, delta) : null
    if (row) {
      const { changes } = this.#statements.insertAgent.run(valuesOf(AGENT_COLUMNS, row))
      if (changes === 0) throw agentExists(run_id, agent_id)
      return
    }
    const { set, updated_at } = delta
    const state = [updated_at, set.state ?? null, set.outcome ?? null]
    // Most changes are of the state alone, and each value that is bound costs as much as finding the row.
    if (set.turns === undefined) this.#statements.moveAgent.run([...state, run_id, agent_id])
    else {
      const counts = COUNTERS.map((name) => set[name] ?? null)
      this.#statements.updateAgent.run([...state, ...counts, run_id, agent_id])
    }
  }

  /** Inside a transaction. Throws on a log that cannot be read, which must then be rolled back. */
  rebuild(): void {
    this.#statements.clearRuns.run([])
    this.#statements.clearAgents.run([])
    for (const { run_id } of all<{ run_id: string }>(this.#statements.runIds)) this.#rebuildRun(run_id)
  }

  #rebuildRun(run_id: string): void {
    const run = newRunDelta()
    const agents: AgentDeltas = new Map()
    for (const row of eventRows(this.#statements.events, run_id)) {
      const event = eventOf(row)
      const projection = project(event, event.agent_id)
      addToRun(run, projection, event.at)
      addToAgents(agents, projection, event.at)
    }
    if (run.created) this.writeRun(run_id, run)
    for (const [agent_id, delta] of agents) if (delta.created) this.writeAgent({ run_id, agent_id }, delta)
  }
}

function valuesOf<Row>(columns: readonly (keyof Row & string)[], row: Row): Value[] {
  return columns.map((column) => row[column] as Value)
}

function prepare(database: Database) {
  const marks = (columns: readonly string[]) => columns.map(() => '?').join(', ')
  const sets = COUNTERS.map((name) => `${name} = coalesce(?, ${name})`).join(', ')
  const sums = COUNTERS.map((name) => `${name} = ${name} + ?`).join(', ')
  const state = 'updated_at = max(updated_at, ?), state = coalesce(?, state), outcome = coalesce(?, outcome)'
  const move = 'last_position = last_position + ?, updated_at = max(updated_at, ?)'
  return {
    hasRun: database.prepare('SELECT 1 FROM runs WHERE run_id = ?'),
    isClosed: database.prepare("SELECT 1 FROM runs WHERE run_id = ? AND status = 'closed'"),
    insertRun: database.prepare(`INSERT INTO runs (${RUN_COLUMNS.join(', ')}) VALUES (${marks(RUN_COLUMNS)})`),
    moveRun: database.prepare(`UPDATE runs SET ${move} WHERE run_id = ? RETURNING last_position`),
    updateRun: database.prepare(
      `UPDATE runs SET ${move}, status = coalesce(?, status), outcome = coalesce(?, outcome),
       text = coalesce(?, text), agents = agents + ?, ${sums} WHERE run_id = ? RETURNING last_position`,
    ),
    insertAgent: database.prepare(
      `INSERT INTO sub_agents (${AGENT_COLUMNS.join(', ')}) VALUES (${marks(AGENT_COLUMNS)}) ON CONFLICT DO NOTHING`,
    ),
    moveAgent: database.prepare(`UPDATE sub_agents SET ${state} WHERE run_id = ? AND agent_id = ?`),
    updateAgent: database.prepare(`UPDATE sub_agents SET ${state}, ${sets} WHERE run_id = ? AND agent_id = ?`),
    clearRuns: database.prepare('DELETE FROM runs'),
    clearAgents: database.prepare('DELETE FROM sub_agents'),
    runIds: database.prepare('SELECT DISTINCT run_id FROM events ORDER BY run_id'),
    events: database.prepare(EVENTS_OF_RUN),
  }
}
