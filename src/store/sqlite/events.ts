import type { EventRow } from '../rows.js'
import { all, type Statement } from './database.js'

const COLUMNS = 'run_id, position, agent_id, seq, type, version, at, data, digest'

export const EVENTS_OF_RUN = `SELECT ${COLUMNS} FROM events WHERE run_id = ? AND position > ? ORDER BY position LIMIT ?`

// Within a stream the order of seq is that of position, and it has the index. Without the plus SQLite would choose the
// index of position and look at the events of every agent of the run.
export const EVENTS_OF_AGENT = `SELECT ${COLUMNS} FROM events
  WHERE run_id = ? AND agent_id = ? AND seq > ? AND +position > ? ORDER BY seq LIMIT ?`

const PAGE = 500

/**
 * Every row of a run. In pages and not with `iterate`, because libsql cannot end a statement that was left half-way,
 * and the connection would go on seeing the database as it was then.
 */
export function* eventRows(eventsOfRun: Statement, run_id: string): Generator<EventRow> {
  for (let after = 0; ; ) {
    const rows = all<EventRow>(eventsOfRun, run_id, after, PAGE)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.position
  }
}
