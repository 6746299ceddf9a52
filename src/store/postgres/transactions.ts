import { bound, type Client, type Connections, type Query } from './connections.js'
import { leavesOpen } from './failures.js'
import type { Tables } from './schema.js'

/** What a transaction came to, before it is committed. */
export type Made<T> = {
  value: T
  /** false: there is nothing to commit. */
  changed: boolean
  /** Sent together with the COMMIT, so that they cost no round trip of their own. Nobody needs their answers. */
  statements?: readonly Query[]
  /** Sent right after the COMMIT. It is no part of the transaction, and nobody waits for it. */
  after?: Query
}

/**
 * Transactions of one writer, one after the other, each done exactly once. Where the connection breaks before the
 * COMMIT is answered, nobody can tell from that whether it was done. So each transaction begins by putting its number
 * into the writer's row of `writers`, and holds that row up to its end. The next connection does the same: it waits
 * while the server is still busy with what the old one had sent, then finds the number there or not. When that takes
 * longer than a statement may wait for a lock, it asks again.
 */
export class Transactions {
  #number = 0
  readonly #statements

  constructor(
    readonly connections: Connections,
    readonly writer: string,
    tables: Tables,
  ) {
    this.#statements = prepare(tables)
  }

  /** One at a time: the caller waits for each. `work` may be done again from the start. */
  run<T>(work: (client: Client) => Promise<Made<T>>): Promise<T> {
    this.#number += 1
    let open: { value: T } | null = null
    const attempt = () =>
      this.connections.with(async (client) => {
        const begun = this.#begin(client)
        if (open && !(await begun)) {
          await client.query('ROLLBACK')
          return open.value
        }
        open = null
        const { value, changed, statements = [], after } = await behind(begun, work(client))
        if (!changed) {
          await client.query('ROLLBACK')
          return value
        }
        open = { value }
        const outcome = await commit(client, statements, after)
        if (outcome.ok) return value
        if (!outcome.open) open = null
        throw outcome.error
      })
    return this.connections.patiently(attempt, 'write')
  }

  /** false: the transaction of this number was committed before. */
  async #begin(client: Client): Promise<boolean> {
    const mark = bound(this.#statements.mark, this.writer, this.#number)
    const [, { rowCount }] = await Promise.all([
      client.query('BEGIN ISOLATION LEVEL READ COMMITTED'),
      client.query(mark),
    ])
    return rowCount === 1
  }
}

/** What was sent behind the beginning fails with it; the reason is what the beginning failed with. */
async function behind<T>(begun: Promise<unknown>, work: Promise<T>): Promise<T> {
  const [begin, made] = await Promise.allSettled([begun, work])
  if (begin.status === 'rejected') throw begin.reason
  if (made.status === 'rejected') throw made.reason
  return made.value
}

type Outcome = { ok: true } | { ok: false; open: boolean; error: unknown }

async function commit(client: Client, statements: readonly Query[], after: Query | undefined): Promise<Outcome> {
  const sent = statements.map((statement) => client.query(statement))
  const committed = client.query('COMMIT')
  if (after) client.query(after).catch(() => {})
  const [[end], results] = await Promise.all([Promise.allSettled([committed]), Promise.allSettled(sent)])
  // After an error the server answers COMMIT with ROLLBACK, and everything behind the error with another one.
  const failed = results.find((result) => result.status === 'rejected')
  if (end.status === 'fulfilled') {
    if (end.value.command === 'COMMIT') return { ok: true }
    return { ok: false, open: false, error: failed?.reason ?? new Error('The transaction was rolled back.') }
  }
  return { ok: false, open: leavesOpen(end.reason), error: failed?.reason ?? end.reason }
}

function prepare({ writers }: Tables) {
  return {
    // Waits for whoever holds the row or is about to make it. It changes none that has the number already.
    mark: {
      name: 'mark_writer',
      text: `INSERT INTO ${writers} AS w (writer, last, at) VALUES ($1, $2, now())
        ON CONFLICT (writer) DO UPDATE SET last = excluded.last, at = excluded.at WHERE w.last < excluded.last`,
    },
  }
}
