import type { Signal } from '../store.js'
import { all, type Database, first } from './database.js'

type Row = Omit<Signal, 'data'> & { data: string }

const SELECT = 'SELECT id, run_id, kind, data, by, at FROM signals'
export const SIGNALS_OF_RUN = `${SELECT} WHERE run_id = ? AND id > ? ORDER BY id`

export class Signals {
  readonly #statements

  constructor(
    reading: Database,
    writing: Database,
    readonly clock: { now(): number },
  ) {
    this.#statements = {
      add: writing.prepare(
        `INSERT INTO signals (run_id, kind, data, by, at) SELECT ?1, ?2, ?3, ?4, ?5
          WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run_id = ?1 AND status = 'closed')`,
      ),
      all: reading.prepare(`${SELECT} WHERE id > ? ORDER BY id`),
      ofRun: reading.prepare(SIGNALS_OF_RUN),
      last: reading.prepare('SELECT coalesce(max(id), 0) AS id FROM signals'),
    }
  }

  add({ run_id, kind, data, by }: Omit<Signal, 'id' | 'at'>): Signal {
    const at = this.clock.now()
    const text = JSON.stringify(data ?? null)
    const { changes, lastInsertRowid } = this.#statements.add.run([run_id, kind, text, by, at])
    return { id: changes > 0 ? Number(lastInsertRowid) : 0, run_id, kind, data: JSON.parse(text), by, at }
  }

  list({ run_id, after }: { run_id?: string; after: number }): Signal[] {
    const rows =
      run_id === undefined ? all<Row>(this.#statements.all, after) : all<Row>(this.#statements.ofRun, run_id, after)
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }))
  }

  last(): number {
    return first<{ id: number }>(this.#statements.last)?.id ?? 0
  }
}
