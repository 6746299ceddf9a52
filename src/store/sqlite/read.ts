import type { AgentRow, RunRow, StoredEvent } from '../../domain/index.js'
import { AGENT_COLUMNS, RUN_COLUMNS } from '../columns.js'
import { checkedBlob, type EventRow, eventOf } from '../rows.js'
import type { EventQuery, RunQuery, Tampering } from '../store.js'
import { findTampering, type Head } from '../verify.js'
import { all, type Database, first } from './database.js'
import { EVENTS_OF_AGENT, EVENTS_OF_RUN, eventRows } from './events.js'

/** SQLite's word for "no limit". */
const ALL = -1

/** What can be seen. It has a connection of its own, so that no read waits for the writer's lock. */
export class Reader {
  readonly #statements

  constructor(readonly database: Database) {
    this.#statements = prepare(database)
  }

  events({ run_id, agent_id, after = 0, after_seq = 0, limit = ALL }: EventQuery): StoredEvent[] {
    const rows =
      agent_id === undefined
        ? all<EventRow>(this.#statements.ofRun, run_id, after, limit)
        : all<EventRow>(this.#statements.ofAgent, run_id, agent_id, after_seq, after, limit)
    return rows.map(eventOf)
  }

  blob(digest: string): Uint8Array | null {
    const row = first<{ bytes: ArrayBuffer }>(this.#statements.blob, digest)
    return row ? checkedBlob(digest, new Uint8Array(row.bytes)) : null
  }

  runs({ session_id, status, id_prefix, before, limit = ALL }: RunQuery): RunRow[] {
    const { runs, runsBefore } = this.#statements
    const wanted = [session_id ?? null, status ?? null, id_prefix ?? '', limit] as const
    return before === undefined ? all(runs, ...wanted) : all(runsBefore, ...wanted, before)
  }

  run(run_id: string): RunRow | null {
    return all<RunRow>(this.#statements.run, run_id)[0] ?? null
  }

  /** Nothing but that: whoever follows a run asks it whenever something happens. */
  isClosed(run_id: string): boolean {
    return first<{ status: RunRow['status'] }>(this.#statements.status, run_id)?.status === 'closed'
  }

  agents(run_id: string, states?: readonly AgentRow['state'][]): AgentRow[] {
    if (!states) return all(this.#statements.agents, run_id)
    return all(this.#statements.agentsIn, run_id, JSON.stringify(states))
  }

  agent(run_id: string, agent_id: string): AgentRow | null {
    return all<AgentRow>(this.#statements.agent, run_id, agent_id)[0] ?? null
  }

  verify(run_id: string): Tampering | null {
    // One snapshot: an append of another process between the statements would look like tampering.
    this.database.exec('BEGIN')
    try {
      const heads = all<Head>(this.#statements.heads, run_id)
      const { last_position } = this.run(run_id) ?? { last_position: 0 }
      return findTampering(eventRows(this.#statements.ofRun, run_id), heads, last_position)
    } finally {
      this.database.exec('COMMIT')
    }
  }

  /** Changes whenever another connection has committed something. */
  dataVersion(): number {
    return first<{ data_version: number }>(this.#statements.dataVersion)?.data_version ?? 0
  }
}

function prepare(database: Database) {
  const runColumns = RUN_COLUMNS.join(', ')
  const runs = `SELECT ${runColumns} FROM runs
    WHERE session_id = coalesce(?1, session_id) AND status = coalesce(?2, status)
      AND substr(run_id, 1, length(?3)) = ?3`
  const newestFirst = 'ORDER BY created_at DESC, run_id DESC LIMIT ?4'
  return {
    ofRun: database.prepare(EVENTS_OF_RUN),
    ofAgent: database.prepare(EVENTS_OF_AGENT),
    blob: database.prepare('SELECT bytes FROM blobs WHERE digest = ?'),
    runs: database.prepare(`${runs} ${newestFirst}`),
    runsBefore: database.prepare(
      `${runs} AND (created_at, run_id) < (SELECT created_at, run_id FROM runs WHERE run_id = ?5) ${newestFirst}`,
    ),
    run: database.prepare(`SELECT ${runColumns} FROM runs WHERE run_id = ?`),
    status: database.prepare('SELECT status FROM runs WHERE run_id = ?'),
    // In the order in which they were created.
    agents: database.prepare(`SELECT ${AGENT_COLUMNS.join(', ')} FROM sub_agents WHERE run_id = ? ORDER BY rowid`),
    agentsIn: database.prepare(
      `SELECT ${AGENT_COLUMNS.join(', ')} FROM sub_agents
        WHERE run_id = ? AND state IN (SELECT value FROM json_each(?)) ORDER BY rowid`,
    ),
    agent: database.prepare(`SELECT ${AGENT_COLUMNS.join(', ')} FROM sub_agents WHERE run_id = ? AND agent_id = ?`),
    heads: database.prepare('SELECT agent_id, seq, digest FROM streams WHERE run_id = ? ORDER BY agent_id'),
    dataVersion: database.prepare('PRAGMA data_version'),
  }
}
