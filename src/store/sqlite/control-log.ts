import type { ControlEvent } from '../../domain/index.js'
import {
  type ControlDraft,
  type ControlHead,
  type ControlRow,
  controlEventOf,
  controlRows,
  findControlTampering,
} from '../control-log.js'
import type { Store } from '../store.js'
import { all, type Database, type Statement } from './database.js'

/** SQLite's word for "no limit". */
const ALL = -1

const PAGE = 500

/** The tables `control_log` and `control_head`. */
export class ControlLog {
  readonly #statements

  constructor(
    readonly reading: Database,
    writing: Database,
  ) {
    this.#statements = prepare(reading, writing)
  }

  /** Inside a transaction, which is what keeps two processes from appending after the same head. */
  append(drafts: readonly ControlDraft[]): ControlEvent[] {
    if (drafts.length === 0) return []
    const [head] = all<ControlHead>(this.#statements.headToWrite)
    // A head that somebody took away is not made up for: every row after it would look sound.
    if (!head)
      throw new Error('The control log has no head, so nothing can be appended to it. Restore it from a backup.')
    return controlRows(head, drafts).map((row) => {
      const { position, type, version, at, data, digest } = row
      this.#statements.insert.run([position, type, version, at, data, digest])
      this.#statements.move.run([position, digest])
      return controlEventOf(row)
    })
  }

  read({ after = 0, last }: NonNullable<Parameters<Store['readControl']>[0]>): ControlEvent[] {
    const rows =
      last === undefined
        ? all<ControlRow>(this.#statements.after, after, ALL)
        : all<ControlRow>(this.#statements.last, after, Math.max(0, last)).reverse()
    return rows.map(controlEventOf)
  }

  verify() {
    // One snapshot: an append of another process between the statements would look like tampering.
    this.reading.exec('BEGIN')
    try {
      const [head] = all<ControlHead>(this.#statements.head)
      return findControlTampering(controlRowsOf(this.#statements.after), head ?? null)
    } finally {
      this.reading.exec('COMMIT')
    }
  }
}

/** Every row, in pages, for the reason that eventRows has. */
function* controlRowsOf(after: Statement): Generator<ControlRow> {
  // Before the first position that a row should have, so that one which was put there is seen too.
  for (let seen = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = all<ControlRow>(after, seen, PAGE)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    seen = last.position
  }
}

function prepare(reading: Database, writing: Database) {
  const columns = 'position, type, version, at, data, digest'
  const head = 'SELECT position, digest FROM control_head'
  return {
    headToWrite: writing.prepare(head),
    insert: writing.prepare(`INSERT INTO control_log (${columns}) VALUES (?, ?, ?, ?, ?, ?)`),
    move: writing.prepare('UPDATE control_head SET position = ?, digest = ?'),
    head: reading.prepare(head),
    after: reading.prepare(`SELECT ${columns} FROM control_log WHERE position > ? ORDER BY position LIMIT ?`),
    last: reading.prepare(`SELECT ${columns} FROM control_log WHERE position > ? ORDER BY position DESC LIMIT ?`),
  }
}
