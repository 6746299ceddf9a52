import { setImmediate } from 'node:timers/promises'
import { type Entry, entriesOf } from '../entries.js'
import { assertSound, storeClosed } from '../refusals.js'
import type { Append, AppendResult, Blob } from '../store.js'
import { bound, type Client, type Query } from './connections.js'
import { isFault } from './failures.js'
import { Group, keyOf, type Verdict } from './group.js'
import { notification } from './notify.js'
import type { ProjectionTables } from './projections.js'
import { NOW, type Tables } from './schema.js'
import type { Made, Transactions } from './transactions.js'

type Job = {
  batch: Append
  entries: readonly Entry[]
  resolve: (result: AppendResult) => void
  reject: (error: unknown) => void
}

/**
 * A blob that is larger is stored before its append is asked for: others would wait for as long as the network takes, and
 * the server ends a transaction on which nothing comes for 10 s. Where the append is refused then, it stays, and harms
 * nobody.
 */
const LARGE = 1024 * 1024

/** So many appends share a transaction at most: its statements must stay of a size that both sides handle easily. */
const MOST = 500

/**
 * Group commit: everything that was asked for in one turn of the event loop, or while the last transaction was under
 * way, shares one transaction. It takes two round trips, however many appends there are: one that locks and reads, one
 * that writes and commits.
 *
 * The row of a run is locked first, and held up to the commit. So positions have no gaps and are in the order of the
 * commits, and nobody can see one before those below it.
 */
export class Appends {
  #queue: Job[] = []
  #working = false
  #last: Promise<unknown> = Promise.resolve()
  /** Of each agent, appends with something large. */
  readonly #carried = new Map<string, Promise<unknown>>()
  #closed = false
  readonly #statements

  constructor(
    readonly transactions: Transactions,
    readonly projections: ProjectionTables,
    readonly parts: {
      tables: Tables
      channel: string
      sender: string
      committed: (run_ids: readonly string[]) => void
    },
  ) {
    this.#statements = prepare(parts.tables)
  }

  async append(batch: Append): Promise<AppendResult> {
    assertSound(batch)
    if (this.#closed) throw storeClosed()
    const entries = entriesOf(batch)
    const large = (batch.blobs ?? []).filter(({ bytes }) => bytes.length > LARGE)
    const asked = () => this.#ask(batch, entries)
    return large.length === 0 ? asked() : this.#carry(batch, () => this.#storeLarge(large).then(asked))
  }

  /** What is large is waited for by its own agent alone. */
  async #carry(batch: Append, append: () => Promise<AppendResult>): Promise<AppendResult> {
    const key = keyOf(batch)
    const result = append()
    const before = this.#carried.get(key)
    const carried = Promise.allSettled([before, result])
    this.#carried.set(key, carried)
    try {
      return await result
    } finally {
      if (this.#carried.get(key) === carried) this.#carried.delete(key)
    }
  }

  #ask(batch: Append, entries: readonly Entry[]): Promise<AppendResult> {
    const result = new Promise<AppendResult>((resolve, reject) => {
      this.#queue.push({ batch, entries, resolve, reject })
    })
    const before = this.#last
    this.#last = result.then(
      () => before,
      () => before,
    )
    if (!this.#working) void this.#work()
    return result
  }

  async #storeLarge(large: readonly Blob[]): Promise<void> {
    const { insertBlob } = this.#statements
    for (const { digest, bytes } of large) {
      await this.transactions.connections.carry(insertBlob, bytes.length, digest, bytes)
    }
  }

  /**
   * When everything that was asked for so far is settled, but for what is large and on its way to the server. What is asked
   * for from now on is not waited for.
   */
  async settled(): Promise<void> {
    await this.#last
  }

  /** When what is large and was asked for by an agent so far is settled. null: there is none. */
  carried(agent: { run_id: string; agent_id: string }): Promise<unknown> | null {
    return this.#carried.get(keyOf(agent)) ?? null
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#carried.values())
    await this.settled()
  }

  async #work(): Promise<void> {
    this.#working = true
    await setImmediate()
    while (this.#queue.length > 0) await this.#commit(this.#queue.splice(0, MOST))
    this.#working = false
  }

  async #commit(jobs: readonly Job[]): Promise<void> {
    try {
      const verdicts = await this.transactions.run((client) => this.#attempt(client, jobs))
      const runs = new Set<string>()
      for (const [i, { batch, resolve, reject }] of jobs.entries()) {
        const verdict = verdicts[i] as Verdict
        if (verdict instanceof Error) reject(verdict)
        else resolve(verdict)
        if (!(verdict instanceof Error) && verdict.ok) runs.add(batch.run_id)
      }
      this.parts.committed([...runs])
    } catch (error) {
      // One that the database cannot take must not take the others along: each goes alone.
      if (jobs.length > 1 && isFault(error)) for (const job of jobs) await this.#commit([job])
      else for (const job of jobs) job.reject(error)
    }
  }

  async #attempt(client: Client, jobs: readonly Job[]): Promise<Made<Verdict[]>> {
    const group = await this.#find(client, jobs)
    const value = jobs.map(({ batch, entries }) => group.take(batch, entries))
    if (group.moved.length === 0) return { value, changed: false }
    const run_ids = group.changes.map(({ run_id }) => run_id)
    const { channel, sender } = this.parts
    const after = notification(channel, sender, run_ids)
    return { value, changed: true, statements: this.#writes(group), ...(after ? { after } : {}) }
  }

  /** Each statement sees what was committed before the locks of those ahead of it were had. */
  async #find(client: Client, jobs: readonly Job[]): Promise<Group> {
    const { lockRuns, lockStreams, agents } = this.#statements
    const run_ids = [...new Set(jobs.map(({ batch }) => batch.run_id))]
    const streams = distinct(jobs.map(({ batch }) => batch))
    const made = distinct(jobs.flatMap(({ batch, entries }) => madeBy(batch, entries)))
    const queries = [bound(lockRuns, run_ids), bound(lockStreams, ...streams)]
    if (made[0].length > 0) queries.push(bound(agents, ...made))
    const results = await Promise.all(queries.map((query) => client.query(query)))
    const [runsFound, streamsFound, agentsFound] = results.map(({ rows }) => rows)
    return new Group({ runs: runsFound ?? [], streams: streamsFound ?? [], agents: agentsFound ?? [] })
  }

  #writes(group: Group): Query[] {
    const { advance, claim, insertEvents, insertBlob, forgetSignals } = this.#statements
    const claimed = group.moved.filter(({ ttl_ms }) => ttl_ms !== null)
    const advanced = group.moved.filter(({ ttl_ms }) => ttl_ms === null)
    const { changes } = group
    const closed = changes.flatMap(({ run_id, run }) => (run.set.status === 'closed' ? [run_id] : []))
    const queries: Query[] = []
    if (claimed.length > 0) queries.push(bound(claim, JSON.stringify(claimed), claimed.length))
    if (advanced.length > 0) {
      const of = advanced.map(({ run_id }) => run_id)
      queries.push(bound(advance, JSON.stringify(advanced), advanced.length, of))
    }
    if (changes.length > 0) queries.push(...this.projections.statements(changes))
    if (group.events.length > 0) queries.push(bound(insertEvents, JSON.stringify(group.events)))
    if (closed.length > 0) queries.push(bound(forgetSignals, closed))
    // In one order for all, for the reason that insert_runs has.
    const blobs = [...group.blobs].filter(([, bytes]) => bytes.length <= LARGE).sort(([a], [b]) => (a < b ? -1 : 1))
    queries.push(...blobs.map(([digest, bytes]) => bound(insertBlob, digest, bytes)))
    return queries
  }
}

/** Each once, as one list of runs and one of agents. */
function distinct(pairs: readonly { run_id: string; agent_id: string }[]): [string[], string[]] {
  const each = [...new Map(pairs.map((pair) => [keyOf(pair), pair])).values()]
  return [each.map(({ run_id }) => run_id), each.map(({ agent_id }) => agent_id)]
}

/** The agents whose rows a batch makes. */
function madeBy({ run_id }: Append, entries: readonly Entry[]): { run_id: string; agent_id: string }[] {
  return entries.flatMap(({ projection }) => (projection.agent ? [{ run_id, agent_id: projection.agent_id }] : []))
}

function prepare({ runs, streams, sub_agents, events, blobs, signals, must }: Tables) {
  const pairs = 'unnest($1::text[], $2::text[]) AS wanted(run_id, agent_id)'
  const stream = 'run_id text, agent_id text, seq bigint, digest text, epoch bigint'
  const columns = 'run_id, position, agent_id, seq, type, version, at, data, digest'
  const rows = `json_to_recordset($1::json) AS d(run_id text, position bigint, agent_id text, seq bigint, type text,
    version integer, at bigint, data text, digest text)`
  return {
    // In the order of their ids, so that transactions with several runs wait for each other, but not in a circle.
    lockRuns: {
      name: 'lock_runs',
      text: `SELECT run_id, last_position, status FROM ${runs} WHERE run_id = ANY($1::text[])
        ORDER BY run_id FOR NO KEY UPDATE`,
    },
    lockStreams: {
      name: 'lock_streams',
      text: `SELECT s.run_id, s.agent_id, s.seq, s.digest, s.epoch, s.owner FROM ${streams} AS s
        JOIN ${pairs} ON s.run_id = wanted.run_id AND s.agent_id = wanted.agent_id
        ORDER BY s.run_id, s.agent_id FOR UPDATE OF s`,
    },
    agents: {
      name: 'find_agents',
      text: `SELECT a.run_id, a.agent_id FROM ${sub_agents} AS a
        JOIN ${pairs} ON a.run_id = wanted.run_id AND a.agent_id = wanted.agent_id`,
    },
    // The checks that decide: each stream is where the batch expects it, or the whole is done again. PostgreSQL takes the
    // rows in JSON for a hundred, and by them alone it would read the streams of all runs.
    advance: {
      name: 'advance_streams',
      text: `WITH moved AS (
          UPDATE ${streams} AS s SET seq = d.seq, digest = d.digest
          FROM json_to_recordset($1::json) AS d(${stream}, expected_seq bigint)
          WHERE s.run_id = d.run_id AND s.agent_id = d.agent_id AND s.epoch = d.epoch AND s.seq = d.expected_seq
            AND s.run_id = ANY($3::text[])
          RETURNING 1)
        SELECT ${must}((SELECT count(*) FROM moved) = $2::bigint)`,
    },
    claim: {
      name: 'claim_streams',
      text: `WITH made AS (
          INSERT INTO ${streams} (run_id, agent_id, seq, digest, epoch, owner, expires_at)
          SELECT d.run_id, d.agent_id, d.seq, d.digest, d.epoch, d.owner, ${NOW} + d.ttl_ms
          FROM json_to_recordset($1::json) AS d(${stream}, owner text, ttl_ms bigint) ORDER BY d.run_id, d.agent_id
          ON CONFLICT DO NOTHING RETURNING 1)
        SELECT ${must}((SELECT count(*) FROM made) = $2::bigint)`,
    },
    insertEvents: {
      name: 'insert_events',
      text: `INSERT INTO ${events} (${columns})
        SELECT ${columns.replace(/\w+/g, 'd.$&')} FROM ${rows}`,
    },
    insertBlob: {
      name: 'insert_blob',
      text: `INSERT INTO ${blobs} (digest, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
    },
    forgetSignals: { name: 'forget_signals', text: `DELETE FROM ${signals} WHERE run_id = ANY($1::text[])` },
  }
}
