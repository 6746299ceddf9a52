import type { ControlRecord, PutResult, Store } from '../store.js'
import { all, type Database, first } from './database.js'

type Row = Omit<ControlRecord, 'value'> & { value: string | null }

/** `records` holds what exists now, `record_history` every version there ever was; a deletion is one without a value. */
export class Records {
  readonly #statements

  constructor(
    reading: Database,
    writing: Database,
    readonly clock: { now(): number },
  ) {
    this.#statements = prepare(reading, writing)
  }

  find(type: string, id: string): ControlRecord | null {
    return all<Row>(this.#statements.find, type, id).map(recordOf)[0] ?? null
  }

  list(type: string): ControlRecord[] {
    return all<Row>(this.#statements.list, type).map(recordOf)
  }

  history(type: string, id: string): ControlRecord[] {
    return all<Row>(this.#statements.history, type, id).map(recordOf)
  }

  put({ type, id, value, by, expected_version }: Parameters<Store['putRecord']>[0]): PutResult {
    const current = this.#current(type, id)
    if (current !== expected_version) return { ok: false, code: 'version_mismatch', current }
    const row = { type, id, version: this.#nextVersion(type, id), value: JSON.stringify(value ?? null), by }
    return this.#write({ ...row, at: this.clock.now() })
  }

  delete({ type, id, by, expected_version }: Parameters<Store['deleteRecord']>[0]): PutResult {
    const current = this.#current(type, id)
    if (current === 0 || current !== expected_version) return { ok: false, code: 'version_mismatch', current }
    return this.#write({ type, id, version: this.#nextVersion(type, id), value: null, by, at: this.clock.now() })
  }

  #write(row: Row): PutResult {
    const { type, id, version, value, at, by } = row
    if (value === null) this.#statements.remove.run([type, id])
    else this.#statements.replace.run([type, id, version, value, at, by])
    this.#statements.remember.run([type, id, version, value, at, by])
    return { ok: true, record: recordOf(row) }
  }

  #current(type: string, id: string): number {
    return first<{ version: number }>(this.#statements.current, type, id)?.version ?? 0
  }

  /** Goes on after a deletion, so that no version number ever means two values. */
  #nextVersion(type: string, id: string): number {
    return (first<{ version: number | null }>(this.#statements.latest, type, id)?.version ?? 0) + 1
  }
}

function recordOf({ type, id, version, value, at, by }: Row): ControlRecord {
  return { type, id, version, value: value === null ? null : JSON.parse(value), at, by }
}

function prepare(reading: Database, writing: Database) {
  const columns = 'type, id, version, value, at, by'
  return {
    find: reading.prepare(`SELECT ${columns} FROM records WHERE type = ? AND id = ?`),
    list: reading.prepare(`SELECT ${columns} FROM records WHERE type = ? ORDER BY id`),
    history: reading.prepare(`SELECT ${columns} FROM record_history WHERE type = ? AND id = ? ORDER BY version`),
    current: writing.prepare('SELECT version FROM records WHERE type = ? AND id = ?'),
    latest: writing.prepare('SELECT max(version) AS version FROM record_history WHERE type = ? AND id = ?'),
    replace: writing.prepare(`INSERT OR REPLACE INTO records (${columns}) VALUES (?, ?, ?, ?, ?, ?)`),
    remove: writing.prepare('DELETE FROM records WHERE type = ? AND id = ?'),
    remember: writing.prepare(`INSERT INTO record_history (${columns}) VALUES (?, ?, ?, ?, ?, ?)`),
  }
}
