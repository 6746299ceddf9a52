import type { Lease, Store } from '../store.js'
import type { ServerClock } from './clock.js'
import { bound, type Connections } from './connections.js'
import { NOW, type Tables } from './schema.js'
import type { Made, Transactions } from './transactions.js'

type Request = Parameters<Store['acquire']>[0]
type Row = { epoch: number; expires_at: number; now: number }

/** The part of `streams` that says who may write. Each change is one conditional statement. */
export class Leases {
  readonly #statements

  constructor(
    readonly connections: Connections,
    readonly transactions: Transactions,
    readonly parts: { tables: Tables; clock: ServerClock },
  ) {
    this.#statements = prepare(parts.tables)
  }

  async find(run_id: string, agent_id: string): Promise<Lease | null> {
    const row = await this.connections.first<Row & { owner: string }>(this.#statements.find, run_id, agent_id)
    return row ? { run_id, agent_id, owner: row.owner, epoch: row.epoch, expires_at: this.#time(row) } : null
  }

  acquire({ run_id, agent_id, owner, ttl_ms, seen_epoch }: Request): Promise<Lease | null> {
    const { create, take } = this.#statements
    const query =
      seen_epoch === 0
        ? bound(create, run_id, agent_id, owner, ttl_ms)
        : bound(take, run_id, agent_id, owner, ttl_ms, seen_epoch)
    return this.transactions.run(async (client): Promise<Made<Lease | null>> => {
      const { rows } = await client.query<Row>(query)
      const [row] = rows
      if (!row) return { value: null, changed: false }
      return { value: { run_id, agent_id, owner, epoch: row.epoch, expires_at: this.#time(row) }, changed: true }
    })
  }

  /** May be done twice: so it needs no transaction that knows whether it was done. */
  async renew({ run_id, agent_id, owner, epoch }: Lease, ttl_ms: number): Promise<boolean> {
    const [row] = await this.connections.change<Row>(this.#statements.renew, run_id, agent_id, owner, epoch, ttl_ms)
    if (row) this.parts.clock.heard(row.now)
    return row !== undefined
  }

  async release({ run_id, agent_id, owner, epoch }: Lease): Promise<void> {
    await this.connections.change(this.#statements.release, run_id, agent_id, owner, epoch)
  }

  #time({ expires_at, now }: Row): number {
    this.parts.clock.heard(now)
    return this.parts.clock.ours(expires_at)
  }
}

function prepare({ streams }: Tables) {
  const row = `epoch, expires_at, ${NOW} AS now`
  const owned = 'run_id = $1 AND agent_id = $2 AND owner = $3 AND epoch = $4'
  return {
    find: { name: 'lease', text: `SELECT owner, ${row} FROM ${streams} WHERE run_id = $1 AND agent_id = $2` },
    create: {
      name: 'create_lease',
      text: `INSERT INTO ${streams} (run_id, agent_id, seq, digest, epoch, owner, expires_at)
        VALUES ($1, $2, 0, '', 1, $3, ${NOW} + $4::bigint) ON CONFLICT DO NOTHING RETURNING ${row}`,
    },
    take: {
      name: 'take_lease',
      text: `UPDATE ${streams} SET epoch = epoch + 1, owner = $3, expires_at = ${NOW} + $4::bigint
        WHERE run_id = $1 AND agent_id = $2 AND epoch = $5 RETURNING ${row}`,
    },
    renew: {
      name: 'renew_lease',
      text: `UPDATE ${streams} SET expires_at = ${NOW} + $5::bigint WHERE ${owned} AND expires_at > 0 RETURNING ${row}`,
    },
    release: { name: 'release_lease', text: `UPDATE ${streams} SET expires_at = 0 WHERE ${owned}` },
  }
}
