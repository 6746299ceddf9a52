import type { Signal } from '../store.js'
import { all, type Database } from './database.js'

type Row = Omit<Signal, 'data'> & { data: string }

export class Signals {
  readonly #statements

  constructor(
    reading: Database,
    writing: Database,
    readonly clock: { now(): number },
  ) {
    this.#statements = {
      add: writing.prepare('INSERT INTO signals (run_id, kind, data, by, at) VALUES (?, ?, ?, ?, ?)'),
      list: reading.prepare(
        'SELECT id, run_id, kind, data, by, at FROM signals WHERE id > ?2 AND run_id = coalesce(?1, run_id) ORDER BY id',
      ),
    }
  }

  add({ run_id, kind, data, by }: Omit<Signal, 'id' | 'at'>): Signal {
    const at = this.clock.now()
    const text = JSON.stringify(data ?? null)
    const { lastInsertRowid } = this.#statements.add.run([run_id, kind, text, by, at])
    return { id: Number(lastInsertRowid), run_id, kind, data: JSON.parse(text), by, at }
  }

  list({ run_id, after }: { run_id?: string; after: number }): Signal[] {
    return all<Row>(this.#statements.list, run_id ?? null, after).map((row) => ({ ...row, data: JSON.parse(row.data) }))
  }
}
