import type { RunRow } from '../../domain/index.js'
import type { Signal } from '../store.js'
import type { ServerClock } from './clock.js'
import { bound, type Connections } from './connections.js'
import { NOW, type Tables } from './schema.js'
import type { Made, Transactions } from './transactions.js'

type Row = Omit<Signal, 'data'> & { data: string }

/**
 * Ids are handed out by the row of `signal_head`, which is held up to the commit. From a sequence a lower one could be
 * committed after a higher, and whoever asks for those above the last they saw would never hear of it.
 */
export class Signals {
  readonly #statements

  constructor(
    readonly connections: Connections,
    readonly transactions: Transactions,
    readonly parts: { tables: Tables; clock: ServerClock },
  ) {
    this.#statements = prepare(parts.tables)
  }

  add({ run_id, kind, data, by }: Omit<Signal, 'id' | 'at'>): Promise<Signal> {
    const text = JSON.stringify(data ?? null)
    const { clock } = this.parts
    const signal = { run_id, kind, data: JSON.parse(text), by }
    const { status, add } = this.#statements
    return this.transactions.run(async (client): Promise<Made<Signal>> => {
      const { rows: runs } = await client.query<{ status: RunRow['status'] }>(bound(status, run_id))
      if (runs[0]?.status === 'closed') return { value: { id: 0, ...signal, at: clock.clock.now() }, changed: false }
      const { rows } = await client.query<{ id: number; at: number }>(bound(add, run_id, kind, text, by))
      if (!rows[0]) throw new Error('The table signal_head has no row. Restore it from a backup.')
      const { id, at } = rows[0]
      clock.heard(at)
      return { value: { id, ...signal, at: clock.ours(at) }, changed: true }
    })
  }

  async list({ run_id, after }: { run_id?: string; after: number }): Promise<Signal[]> {
    const { all, ofRun } = this.#statements
    const rows =
      run_id === undefined
        ? await this.connections.all<Row>(all, after)
        : await this.connections.all<Row>(ofRun, run_id, after)
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data), at: this.parts.clock.ours(row.at) }))
  }

  async last(): Promise<number> {
    return (await this.connections.first<{ id: number }>(this.#statements.last))?.id ?? 0
  }
}

function prepare({ signals, signal_head, runs }: Tables) {
  const select = `SELECT id, run_id, kind, data, by, at FROM ${signals}`
  return {
    // Waits for an append that closes the run, and lets none close it before the signal is there to be removed.
    status: { name: 'status_to_signal', text: `SELECT status FROM ${runs} WHERE run_id = $1 FOR SHARE` },
    add: {
      name: 'add_signal',
      text: `WITH head AS (UPDATE ${signal_head} SET last = last + 1 RETURNING last)
        INSERT INTO ${signals} (id, run_id, kind, data, by, at)
        SELECT last, $1, $2, $3, $4, ${NOW} FROM head RETURNING id, at`,
    },
    all: { name: 'signals', text: `${select} WHERE id > $1 ORDER BY id` },
    ofRun: { name: 'signals_of_run', text: `${select} WHERE run_id = $1 AND id > $2 ORDER BY id` },
    last: { name: 'last_signal', text: `SELECT coalesce(max(id), 0) AS id FROM ${signals}` },
  }
}
