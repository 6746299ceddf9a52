import type { Lease, Store } from '../store.js'
import { all, type Database } from './database.js'

type Request = Parameters<Store['acquire']>[0]

/** The part of `streams` that says who may write. Each change is one conditional statement. */
export class Leases {
  readonly #statements

  constructor(
    reading: Database,
    writing: Database,
    readonly clock: { now(): number },
  ) {
    this.#statements = prepare(reading, writing)
  }

  find(run_id: string, agent_id: string): Lease | null {
    return all<Lease>(this.#statements.find, run_id, agent_id)[0] ?? null
  }

  acquire({ run_id, agent_id, owner, ttl_ms, seen_epoch }: Request): Lease | null {
    const lease = { run_id, agent_id, owner, epoch: seen_epoch + 1, expires_at: this.clock.now() + ttl_ms }
    const { changes } =
      seen_epoch === 0
        ? this.#statements.create.run([run_id, agent_id, owner, lease.expires_at])
        : this.#statements.take.run([owner, lease.expires_at, run_id, agent_id, seen_epoch])
    return changes === 1 ? lease : null
  }

  renew(lease: Lease, ttl_ms: number): boolean {
    return this.#expire(lease, this.clock.now() + ttl_ms)
  }

  release(lease: Lease): void {
    this.#expire(lease, 0)
  }

  #expire({ run_id, agent_id, owner, epoch }: Lease, expires_at: number): boolean {
    return this.#statements.expire.run([expires_at, run_id, agent_id, owner, epoch]).changes === 1
  }
}

function prepare(reading: Database, writing: Database) {
  return {
    find: reading.prepare(
      'SELECT run_id, agent_id, owner, epoch, expires_at FROM streams WHERE run_id = ? AND agent_id = ?',
    ),
    create: writing.prepare(
      `INSERT INTO streams (run_id, agent_id, seq, digest, epoch, owner, expires_at)
       VALUES (?, ?, 0, '', 1, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    take: writing.prepare(
      'UPDATE streams SET epoch = epoch + 1, owner = ?, expires_at = ? WHERE run_id = ? AND agent_id = ? AND epoch = ?',
    ),
    expire: writing.prepare(
      'UPDATE streams SET expires_at = ? WHERE run_id = ? AND agent_id = ? AND owner = ? AND epoch = ? AND expires_at > 0',
    ),
  }
}
