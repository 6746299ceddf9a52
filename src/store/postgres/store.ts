import { randomUUID } from 'node:crypto'
import type { AgentRow, NewControlEvent, StoredEvent } from '../../domain/index.js'
import { controlDrafts } from '../control-log.js'
import { follow } from '../follow.js'
import { storeClosed } from '../refusals.js'
import type { Append, AppendResult, EventQuery, Lease, RunQuery, Signal, Store } from '../store.js'
import { Appends } from './append.js'
import type { ServerClock } from './clock.js'
import type { Client, Connections } from './connections.js'
import { ControlLog } from './control-log.js'
import { Following } from './follow.js'
import { Leases } from './leases.js'
import { Listener } from './listen.js'
import { channelOf } from './notify.js'
import { ProjectionTables } from './projections.js'
import { Reader } from './read.js'
import { rebuild } from './rebuild.js'
import { Records } from './records.js'
import { tablesOf } from './schema.js'
import { Signals } from './signals.js'
import { Transactions } from './transactions.js'
import { Writes } from './writes.js'

export class PostgresStore implements Store {
  readonly #connections: Connections
  readonly #reader: Reader
  readonly #projections: ProjectionTables
  readonly #appends: Appends
  readonly #writes: Writes
  readonly #listener: Listener
  readonly #following: Following
  readonly #leases: Leases
  readonly #signals: Signals
  readonly #records: Records
  readonly #control: ControlLog
  #closed: Promise<void> | null = null

  constructor(connections: Connections, connect: () => Client, clock: ServerClock) {
    const { schema } = connections.settings
    const tables = tablesOf(schema)
    const channel = channelOf(schema)
    const id = randomUUID()
    // Two writers, so that a lease or a signal does not wait for the appends that come after it.
    const appending = new Transactions(connections, `${id} appends`, tables)
    const writing = new Transactions(connections, `${id} writes`, tables)
    this.#connections = connections
    this.#reader = new Reader(connections, tables)
    this.#projections = new ProjectionTables(tables)
    this.#listener = new Listener(connections, connect, channel, id)
    this.#following = new Following(this.#reader, this.#listener)
    const committed = (run_ids: readonly string[]) => this.#following.told(run_ids)
    this.#appends = new Appends(appending, this.#projections, { tables, channel, sender: id, committed })
    this.#writes = new Writes(this.#appends)
    this.#leases = new Leases(connections, writing, { tables, clock })
    this.#signals = new Signals(connections, writing, { tables, clock })
    this.#records = new Records(connections, writing, { tables, clock: clock.clock })
    this.#control = new ControlLog(connections, writing, tables)
  }

  append(batch: Append): Promise<AppendResult> {
    return this.#appends.append(batch)
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
    return this.#writes.inOrder(() =>
      rebuild(this.#connections, this.#projections, tablesOf(this.#connections.settings.schema)),
    )
  }

  async verify(run_id: string) {
    return this.#open().verify(run_id)
  }

  async lease(run_id: string, agent_id: string) {
    this.#open()
    return this.#leases.find(run_id, agent_id)
  }

  acquire(request: Parameters<Store['acquire']>[0]) {
    return this.#writes.inOrderOf(request, () => this.#leases.acquire(request))
  }

  renew(lease: Lease, ttl_ms: number) {
    // A lease that was let go, or taken by another, is not renewed in whatever order the two come.
    return this.#writes.atOnce(() => this.#leases.renew(lease, ttl_ms))
  }

  release(lease: Lease) {
    return this.#writes.inOrderOf(lease, () => this.#leases.release(lease))
  }

  signal(signal: Omit<Signal, 'id' | 'at'>) {
    return this.#writes.inOrder(() => this.#signals.add(signal))
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
    return this.#writes.inOrder(() => this.#records.put(record))
  }

  deleteRecord(record: Parameters<Store['deleteRecord']>[0]) {
    return this.#writes.inOrder(() => this.#records.delete(record))
  }

  async appendControl(events: readonly NewControlEvent[]) {
    const drafts = controlDrafts(events)
    return this.#writes.inOrder(() => this.#control.append(drafts))
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
    this.#connections.closing()
    this.#following.close()
    await Promise.all([this.#appends.close(), this.#writes.close(), this.#listener.close()])
    await this.#connections.close()
  }

  #open(): Reader {
    if (this.#closed) throw storeClosed()
    return this.#reader
  }
}
