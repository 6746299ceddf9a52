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
 * COMMIT is answered, nobody can tell from that whether it was done. So each transaction leaves its number in the
 * writer's row of `writers`; the next connection reads it there, and waits for the lock on it while the server is still
 * busy with what the old one had sent.
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
        const begun = client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
        // What is sent behind it fails as well, and tells.
        begun.catch(() => {})
        if (open && (await this.#isCommitted(client))) {
          await client.query('ROLLBACK')
          return open.value
        }
        open = null
        const { value, changed, statements = [], after } = await work(client)
        await begun
        if (!changed) {
          await client.query('ROLLBACK')
          return value
        }
        open = { value }
        const mark = bound(this.#statements.mark, this.writer, this.#number)
        const outcome = await commit(client, [...statements, mark], after)
        if (outcome.ok) return value
        if (!outcome.open) open = null
        throw outcome.error
      })
    return this.connections.patiently(attempt, 'write')
  }

  async #isCommitted(client: Client): Promise<boolean> {
    const { rows } = await client.query(bound(this.#statements.last, this.writer))
    return rows[0]?.last === this.#number
  }
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
    last: { name: 'last_of_writer', text: `SELECT last FROM ${writers} WHERE writer = $1 FOR UPDATE` },
    mark: {
      name: 'mark_writer',
      text: `INSERT INTO ${writers} (writer, last, at) VALUES ($1, $2, now())
        ON CONFLICT (writer) DO UPDATE SET last = excluded.last, at = excluded.at`,
    },
  }
}
