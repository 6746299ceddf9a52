import type { AgentRow, NewControlEvent, StoredEvent } from '../../domain/index.js'
import { controlDrafts } from '../control-log.js'
import { follow } from '../follow.js'
import { storeClosed } from '../refusals.js'
import type { Append, AppendResult, EventQuery, Lease, RunQuery, Signal, Store } from '../store.js'
import { Appends, type Group, newGroup } from './append.js'
import { ControlLog } from './control-log.js'
import type { Database } from './database.js'
import { Following } from './follow.js'
import { Leases } from './leases.js'
import { ProjectionTables } from './projections.js'
import { Reader } from './read.js'
import { Records } from './records.js'
import { Signals } from './signals.js'
import { Writer } from './writer.js'

export class SqliteStore implements Store {
  readonly #reading: Database
  readonly #writing: Database
  readonly #reader: Reader
  readonly #writer: Writer<Group>
  readonly #tables: ProjectionTables
  readonly #appends: Appends
  readonly #following: Following
  readonly #leases: Leases
  readonly #signals: Signals
  readonly #records: Records
  readonly #control: ControlLog
  #closed: Promise<void> | null = null

  constructor(reading: Database, writing: Database, clock: { now(): number }) {
    this.#reading = reading
    this.#writing = writing
    this.#reader = new Reader(reading)
    this.#tables = new ProjectionTables(writing)
    this.#appends = new Appends(writing, this.#tables, clock)
    this.#following = new Following(this.#reader)
    this.#leases = new Leases(reading, writing, clock)
    this.#signals = new Signals(reading, writing, clock)
    this.#records = new Records(reading, writing, clock)
    this.#control = new ControlLog(reading, writing)
    this.#writer = new Writer(writing, newGroup, (group) => {
      this.#appends.committed(group)
      for (const run_id of group.runs.keys()) this.#following.appended(run_id)
    })
  }

  append(batch: Append): Promise<AppendResult> {
    return this.#appends.append(this.#writer, batch)
  }

  async read(query: EventQuery) {
    return this.#open().events(query)
  }

  follow(query: { run_id: string; after?: number; signal?: AbortSignal }): AsyncIterable<StoredEvent> {
    return follow(this.#following, query)
  }

  async blob(digest: string) {
    return this.#open().blob(digest)
  }

  async runs(query: RunQuery = {}) {
    return this.#open().runs(query)
  }

  async run(run_id: string) {
    return this.#open().run(run_id)
  }

  async agents(run_id: string, states?: readonly AgentRow['state'][]) {
    return this.#open().agents(run_id, states)
  }

  async agent(run_id: string, agent_id: string) {
    return this.#open().agent(run_id, agent_id)
  }

  rebuildProjections() {
    return this.#writer.write(() => this.#tables.rebuild())
  }

  async verify(run_id: string) {
    return this.#open().verify(run_id)
  }

  async lease(run_id: string, agent_id: string) {
    this.#open()
    return this.#leases.find(run_id, agent_id)
  }

  acquire(request: Parameters<Store['acquire']>[0]) {
    return this.#writer.write(() => this.#leases.acquire(request))
  }

  renew(lease: Lease, ttl_ms: number) {
    return this.#writer.write(() => this.#leases.renew(lease, ttl_ms))
  }

  release(lease: Lease) {
    return this.#writer.write(() => this.#leases.release(lease))
  }

  signal(signal: Omit<Signal, 'id' | 'at'>) {
    return this.#writer.write(() => this.#signals.add(signal))
  }

  async signals(query: { run_id?: string; after: number }) {
    this.#open()
    return this.#signals.list(query)
  }

  async lastSignal() {
    this.#open()
    return this.#signals.last()
  }

  async record(type: string, id: string) {
    this.#open()
    return this.#records.find(type, id)
  }

  async records(type: string) {
    this.#open()
    return this.#records.list(type)
  }

  async recordHistory(type: string, id: string) {
    this.#open()
    return this.#records.history(type, id)
  }

  putRecord(record: Parameters<Store['putRecord']>[0]) {
    return this.#writer.write(() => this.#records.put(record))
  }

  deleteRecord(record: Parameters<Store['deleteRecord']>[0]) {
    return this.#writer.write(() => this.#records.delete(record))
  }

  async appendControl(events: readonly NewControlEvent[]) {
    const drafts = controlDrafts(events)
    return this.#writer.write(() => this.#control.append(drafts))
  }

  async readControl(query: Parameters<Store['readControl']>[0] = {}) {
    this.#open()
    return this.#control.read(query)
  }

  async verifyControl() {
    this.#open()
    return this.#control.verify()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#following.close()
    await this.#writer.close()
    // libsql lets go of the files only when its statements are collected, so it tidies up too late to be useful.
    try {
      this.#writing.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // Nothing is lost: what is not in the database file is in the journal beside it, and the next to open reads both.
    }
    this.#reading.close()
    this.#writing.close()
  }

  #open(): Reader {
    if (this.#closed) throw storeClosed()
    return this.#reader
  }
}
