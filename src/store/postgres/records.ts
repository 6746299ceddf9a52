import type { ControlRecord, PutResult, Store } from '../store.js'
import { bound, type Client, type Connections } from './connections.js'
import type { Tables } from './schema.js'
import type { Made, Transactions } from './transactions.js'

type Row = Omit<ControlRecord, 'value'> & { value: string | null }

/** `records` holds what exists now, `record_history` every version there ever was; a deletion is one without a value. */
export class Records {
  readonly #statements

  constructor(
    readonly connections: Connections,
    readonly transactions: Transactions,
    readonly parts: { tables: Tables; clock: { now(): number } },
  ) {
    this.#statements = prepare(parts.tables)
  }

  async find(type: string, id: string): Promise<ControlRecord | null> {
    const row = await this.connections.first<Row>(this.#statements.find, type, id)
    return row ? recordOf(row) : null
  }

  async list(type: string): Promise<ControlRecord[]> {
    return (await this.connections.all<Row>(this.#statements.list, type)).map(recordOf)
  }

  async history(type: string, id: string): Promise<ControlRecord[]> {
    return (await this.connections.all<Row>(this.#statements.history, type, id)).map(recordOf)
  }

  put({ type, id, value, by, expected_version }: Parameters<Store['putRecord']>[0]): Promise<PutResult> {
    const text = JSON.stringify(value ?? null)
    const at = this.parts.clock.now()
    return this.transactions.run(async (client) => {
      const { current, latest } = await this.#versions(client, type, id)
      if (current !== expected_version) return mismatch(current)
      return this.#written({ type, id, version: latest + 1, value: text, at, by })
    })
  }

  delete({ type, id, by, expected_version }: Parameters<Store['deleteRecord']>[0]): Promise<PutResult> {
    const at = this.parts.clock.now()
    return this.transactions.run(async (client) => {
      const { current, latest } = await this.#versions(client, type, id)
      if (current === 0 || current !== expected_version) return mismatch(current)
      return this.#written({ type, id, version: latest + 1, value: null, at, by })
    })
  }

  /**
   * `current` is 0 for one that does not exist, `latest` goes on after a deletion, so that no version number ever means
   * two values. Whoever else changes the record waits: one that does not exist has no row that could be locked.
   */
  async #versions(client: Client, type: string, id: string): Promise<{ current: number; latest: number }> {
    const { lock, versions } = this.#statements
    const key = `${this.parts.tables.records}\n${type}\n${id}`
    const [, { rows }] = await Promise.all([client.query(bound(lock, key)), client.query(bound(versions, type, id))])
    return rows[0]
  }

  #written(row: Row): Made<PutResult> {
    const { replace, remove, remember } = this.#statements
    const { type, id, version, value, at, by } = row
    const change = value === null ? bound(remove, type, id) : bound(replace, type, id, version, value, at, by)
    const statements = [change, bound(remember, type, id, version, value, at, by)]
    return { value: { ok: true, record: recordOf(row) }, changed: true, statements }
  }
}

function mismatch(current: number): Made<PutResult> {
  return { value: { ok: false, code: 'version_mismatch', current }, changed: false }
}

function recordOf({ type, id, version, value, at, by }: Row): ControlRecord {
  return { type, id, version, value: value === null ? null : JSON.parse(value), at, by }
}

function prepare({ records, record_history }: Tables) {
  const columns = 'type, id, version, value, at, by'
  const values = 'VALUES ($1, $2, $3, $4, $5, $6)'
  return {
    find: { name: 'record', text: `SELECT ${columns} FROM ${records} WHERE type = $1 AND id = $2` },
    list: { name: 'records', text: `SELECT ${columns} FROM ${records} WHERE type = $1 ORDER BY id` },
    history: {
      name: 'record_history',
      text: `SELECT ${columns} FROM ${record_history} WHERE type = $1 AND id = $2 ORDER BY version`,
    },
    lock: { name: 'lock_record', text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))' },
    versions: {
      name: 'record_versions',
      text: `SELECT
        coalesce((SELECT version FROM ${records} WHERE type = $1 AND id = $2), 0) AS current,
        coalesce((SELECT max(version) FROM ${record_history} WHERE type = $1 AND id = $2), 0) AS latest`,
    },
    replace: {
      name: 'replace_record',
      text: `INSERT INTO ${records} (${columns}) ${values} ON CONFLICT (type, id)
        DO UPDATE SET version = excluded.version, value = excluded.value, at = excluded.at, by = excluded.by`,
    },
    remove: { name: 'remove_record', text: `DELETE FROM ${records} WHERE type = $1 AND id = $2` },
    remember: { name: 'remember_record', text: `INSERT INTO ${record_history} (${columns}) ${values}` },
  }
}
