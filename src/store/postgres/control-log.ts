import type { ControlEvent } from '../../domain/index.js'
import {
  ControlCheck,
  type ControlDraft,
  type ControlHead,
  type ControlRow,
  controlEventOf,
  controlRows,
} from '../control-log.js'
import type { Store } from '../store.js'
import { bound, type Connections } from './connections.js'
import { inOneSnapshot } from './read.js'
import type { Tables } from './schema.js'
import type { Made, Transactions } from './transactions.js'

const PAGE = 500

/** The tables `control_log` and `control_head`. The row of the head is held up to the commit, as that of a run is. */
export class ControlLog {
  readonly #statements

  constructor(
    readonly connections: Connections,
    readonly transactions: Transactions,
    tables: Tables,
  ) {
    this.#statements = prepare(tables)
  }

  async append(drafts: readonly ControlDraft[]): Promise<ControlEvent[]> {
    if (drafts.length === 0) return []
    const { lockHead, insert, move } = this.#statements
    return this.transactions.run(async (client): Promise<Made<ControlEvent[]>> => {
      const { rows: heads } = await client.query<ControlHead>(bound(lockHead))
      const [head] = heads
      // A head that somebody took away is not made up for: every row after it would look sound.
      if (!head)
        throw new Error('The control log has no head, so nothing can be appended to it. Restore it from a backup.')
      const rows = controlRows(head, drafts)
      const { position, digest } = rows.at(-1) as ControlRow
      const statements = [bound(insert, JSON.stringify(rows)), bound(move, position, digest)]
      return { value: rows.map(controlEventOf), changed: true, statements }
    })
  }

  async read({ after = 0, last }: NonNullable<Parameters<Store['readControl']>[0]>): Promise<ControlEvent[]> {
    const { connections } = this
    const rows =
      last === undefined
        ? await connections.all<ControlRow>(this.#statements.after, after, null)
        : (await connections.all<ControlRow>(this.#statements.last, after, Math.max(0, last))).reverse()
    return rows.map(controlEventOf)
  }

  verify() {
    return inOneSnapshot(this.connections, async (client) => {
      const check = new ControlCheck()
      // Before the first position that a row should have, so that one which was put there is seen too.
      for (let seen = Number.MIN_SAFE_INTEGER; ; ) {
        const { rows } = await client.query<ControlRow>(bound(this.#statements.after, seen, PAGE))
        for (const row of rows) {
          const found = check.row(row)
          if (found) return found
        }
        const last = rows.at(-1)
        if (!last) break
        seen = last.position
      }
      const { rows: heads } = await client.query<ControlHead>(bound(this.#statements.head))
      return check.end(heads[0] ?? null)
    })
  }
}

function prepare({ control_log, control_head }: Tables) {
  const columns = 'position, type, version, at, data, digest'
  const rows = 'd(position bigint, type text, version integer, at bigint, data text, digest text)'
  const head = `SELECT position, digest FROM ${control_head}`
  return {
    head: { name: 'control_head', text: head },
    lockHead: { name: 'lock_control_head', text: `${head} FOR UPDATE` },
    insert: {
      name: 'insert_control',
      text: `INSERT INTO ${control_log} (${columns})
        SELECT ${columns.replace(/\w+/g, 'd.$&')} FROM json_to_recordset($1::json) AS ${rows}`,
    },
    move: { name: 'move_control_head', text: `UPDATE ${control_head} SET position = $1, digest = $2` },
    after: {
      name: 'control_after',
      text: `SELECT ${columns} FROM ${control_log} WHERE position > $1 ORDER BY position LIMIT $2`,
    },
    last: {
      name: 'last_control',
      text: `SELECT ${columns} FROM ${control_log} WHERE position > $1 ORDER BY position DESC LIMIT $2`,
    },
  }
}
