import type { StoredEvent } from '../../domain/index.js'
import { type AgentDeltas, addToAgents, addToRun, newRunDelta, type RunDelta } from '../deltas.js'
import { chainEntries, type Entry, entriesOf, storedEvent } from '../entries.js'
import { assertSound, beginsAgent, refusal, runExists, runIsClosed } from '../refusals.js'
import type { Append, AppendResult } from '../store.js'
import { type Database, first } from './database.js'
import type { ProjectionTables } from './projections.js'
import type { Job, Writer } from './writer.js'

type Head = { seq: number; digest: string }

/** What the appends of one transaction have in common: each run's row is written once for all of them. */
export type Group = { runs: Map<string, { delta: RunDelta; last_position: number | null }>; heads: Map<string, Head> }

export function newGroup(): Group {
  return { runs: new Map(), heads: new Map() }
}

/** Digests at the heads of streams that were written lately. */
const HEADS_KEPT = 10_000

export class Appends {
  readonly #streams
  readonly #heads = new Map<string, Head>()

  constructor(
    database: Database,
    readonly tables: ProjectionTables,
    readonly clock: { now(): number },
  ) {
    this.#streams = prepare(database)
  }

  append(writer: Writer<Group>, batch: Append): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      assertSound(batch)
      writer.enqueue(new AppendJob(this, batch, resolve, reject))
    })
  }

  committed(group: Group): void {
    if (this.#heads.size + group.heads.size > HEADS_KEPT) this.#heads.clear()
    for (const [key, head] of group.heads) this.#heads.set(key, head)
  }

  /** The digest that the batch's first event is chained to; undefined when the stream is not where the batch expects. */
  previous(key: string, batch: Append): string | undefined {
    if (batch.expected_seq === 0) return ''
    const known = this.#heads.get(key)
    if (known?.seq === batch.expected_seq) return known.digest
    const head = first<Head>(this.#streams.head, batch.run_id, batch.agent_id)
    return head?.seq === batch.expected_seq ? head.digest : undefined
  }

  /** The one check that decides: true when the stream was where the batch expected it, and is moved on. */
  advance(batch: Append, seq: number, digest: string): boolean {
    const { run_id, agent_id, epoch, expected_seq, claim } = batch
    const { changes } = claim
      ? this.#streams.claim.run([run_id, agent_id, seq, digest, claim.owner, this.clock.now() + claim.ttl_ms])
      : this.#streams.advance.run([seq, digest, run_id, agent_id, epoch, expected_seq])
    return changes === 1
  }

  refusal(batch: Append): AppendResult {
    return refusal(batch, first(this.#streams.head, batch.run_id, batch.agent_id))
  }

  /** Answers with the run's last position after the events. */
  writeRun(run_id: string, delta: RunDelta): number {
    if (delta.set.status === 'closed') this.#streams.forgetSignals.run([run_id])
    return this.tables.writeRun(run_id, delta)
  }

  insert(values: (string | number)[]): void {
    this.#streams.insert.run(values)
  }

  insertBlobs(batch: Append): void {
    for (const { digest, bytes } of batch.blobs ?? []) this.#streams.blob.run([digest, bytes])
  }
}

class AppendJob implements Job<Group> {
  readonly #entries: Entry[]
  #result: AppendResult | null = null

  constructor(
    readonly appends: Appends,
    readonly batch: Append,
    readonly settle: (result: AppendResult) => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.#entries = entriesOf(batch)
  }

  apply(group: Group): void {
    const { batch, appends } = this
    this.#result = null
    if (this.#entries[0]?.projection.run && this.#runExists(group)) {
      this.#result = runExists(batch)
      return
    }
    if (beginsAgent(batch) && this.#runIsClosed(group)) {
      this.#result = runIsClosed(batch)
      return
    }
    const key = `${batch.run_id}\n${batch.agent_id}`
    const previous = appends.previous(key, batch)
    const digest = previous === undefined ? undefined : chainEntries(previous, batch, this.#entries)
    const seq = batch.expected_seq + this.#entries.length
    if (digest === undefined || !appends.advance(batch, seq, digest)) {
      this.#result = appends.refusal(batch)
      return
    }
    group.heads.set(key, { seq, digest })
    if (this.#entries.length > 0) this.#addToRun(group)
  }

  finish(group: Group): void {
    if (this.#result) return
    const { batch, appends } = this
    const run = group.runs.get(batch.run_id)
    const events: StoredEvent[] = []
    if (run && this.#entries.length > 0) {
      run.last_position ??= appends.writeRun(batch.run_id, run.delta) - run.delta.events
      for (const entry of this.#entries) {
        run.last_position += 1
        events.push(this.#insert(entry, batch.expected_seq + events.length + 1, run.last_position))
      }
      this.#writeAgents()
    }
    appends.insertBlobs(batch)
    this.#result = { ok: true, events }
  }

  resolve(): void {
    if (this.#result) this.settle(this.#result)
  }

  #runExists(group: Group): boolean {
    const { run_id } = this.batch
    return group.runs.has(run_id) || this.appends.tables.hasRun(run_id)
  }

  /** By what was committed, or by one ahead of this in its group. */
  #runIsClosed(group: Group): boolean {
    const { run_id } = this.batch
    return group.runs.get(run_id)?.delta.set.status === 'closed' || this.appends.tables.isClosed(run_id)
  }

  #addToRun(group: Group): void {
    let run = group.runs.get(this.batch.run_id)
    if (!run) {
      run = { delta: newRunDelta(), last_position: null }
      group.runs.set(this.batch.run_id, run)
    }
    for (const { event, projection } of this.#entries) addToRun(run.delta, projection, event.at)
  }

  #insert(entry: Entry, seq: number, position: number): StoredEvent {
    const { run_id, agent_id } = this.batch
    const { type, version, at } = entry.event
    this.appends.insert([run_id, position, agent_id, seq, type, version, at, entry.text, entry.digest])
    return storedEvent(this.batch, entry, seq, position)
  }

  #writeAgents(): void {
    const deltas: AgentDeltas = new Map()
    for (const { event, projection } of this.#entries) addToAgents(deltas, projection, event.at)
    const { appends, batch } = this
    for (const [agent_id, delta] of deltas) appends.tables.writeAgent({ run_id: batch.run_id, agent_id }, delta)
  }
}

function prepare(database: Database) {
  return {
    head: database.prepare('SELECT seq, digest, epoch, owner FROM streams WHERE run_id = ? AND agent_id = ?'),
    advance: database.prepare(
      'UPDATE streams SET seq = ?, digest = ? WHERE run_id = ? AND agent_id = ? AND epoch = ? AND seq = ?',
    ),
    claim: database.prepare(
      `INSERT INTO streams (run_id, agent_id, seq, digest, epoch, owner, expires_at)
       VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    insert: database.prepare(
      `INSERT INTO events (run_id, position, agent_id, seq, type, version, at, data, digest)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    forgetSignals: database.prepare('DELETE FROM signals WHERE run_id = ?'),
    blob: database.prepare('INSERT INTO blobs (digest, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING'),
  }
}
