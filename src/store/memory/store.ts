import type { AgentRow, NewControlEvent, RunRow, StoredEvent } from '../../domain/index.js'
import { controlDrafts } from '../control-log.js'
import { type Followed, follow } from '../follow.js'
import { storeClosed } from '../refusals.js'
import type { Append, AppendResult, EventQuery, Lease, RunQuery, Signal, Store } from '../store.js'
import { Watchers } from '../watchers.js'
import { MemoryControlLog } from './control-log.js'
import { MemoryLog } from './log.js'
import { MemoryRecords } from './records.js'

export class MemoryStore implements Store {
  readonly #log: MemoryLog
  readonly #records: MemoryRecords
  readonly #control = new MemoryControlLog()
  #signals: (Omit<Signal, 'data'> & { data: string })[] = []
  #lastSignal = 0
  readonly #watchers = new Watchers()
  readonly #followed: Followed
  #closed = false

  constructor(readonly clock: { now(): number }) {
    this.#log = new MemoryLog(clock)
    this.#records = new MemoryRecords(clock)
    this.#followed = {
      page_size: Number.POSITIVE_INFINITY,
      page: (run_id, after) => (this.#closed ? [] : this.#log.events({ run_id, after })),
      over: (run_id) => this.#closed || this.#log.row(run_id)?.status === 'closed',
      watch: (run_id, wake) => this.#watchers.add(run_id, wake),
    }
  }

  async append(batch: Append): Promise<AppendResult> {
    this.#open()
    const result = this.#log.append(batch)
    if (!result.ok) return result
    const { run_id } = batch
    if (batch.events.some(({ type }) => type === 'run.closed')) {
      this.#signals = this.#signals.filter((signal) => signal.run_id !== run_id)
    }
    this.#watchers.wake(run_id)
    return result
  }

  async read(query: EventQuery) {
    this.#open()
    return this.#log.events(query)
  }

  follow(query: { run_id: string; after?: number; signal?: AbortSignal }): AsyncIterable<StoredEvent> {
    return follow(this.#followed, query)
  }

  async blob(digest: string) {
    this.#open()
    return this.#log.blob(digest)
  }

  async runs({ session_id, status, id_prefix = '', before, limit }: RunQuery = {}) {
    this.#open()
    const last = before === undefined ? null : this.#log.row(before)
    if (before !== undefined && !last) return []
    return this.#log
      .rows()
      .filter((row) => session_id === undefined || row.session_id === session_id)
      .filter((row) => status === undefined || row.status === status)
      .filter((row) => row.run_id.startsWith(id_prefix))
      .filter((row) => last === null || newestFirst(last, row) < 0)
      .sort(newestFirst)
      .slice(0, limit)
  }

  async run(run_id: string) {
    this.#open()
    return this.#log.row(run_id)
  }

  async agents(run_id: string, states?: readonly AgentRow['state'][]) {
    this.#open()
    return this.#log.agents(run_id, states)
  }

  async agent(run_id: string, agent_id: string) {
    this.#open()
    return this.#log.agent(run_id, agent_id)
  }

  async rebuildProjections() {
    this.#open()
    this.#log.rebuild()
  }

  async verify(run_id: string) {
    this.#open()
    return this.#log.verify(run_id)
  }

  async lease(run_id: string, agent_id: string): Promise<Lease | null> {
    this.#open()
    const stream = this.#log.stream(run_id, agent_id)
    if (!stream) return null
    const { owner, epoch, expires_at } = stream
    return { run_id, agent_id, owner, epoch, expires_at }
  }

  async acquire({ run_id, agent_id, owner, ttl_ms, seen_epoch }: Parameters<Store['acquire']>[0]) {
    this.#open()
    if ((this.#log.stream(run_id, agent_id)?.epoch ?? 0) !== seen_epoch) return null
    const lease = { run_id, agent_id, owner, epoch: seen_epoch + 1, expires_at: this.clock.now() + ttl_ms }
    this.#log.lend(lease)
    return lease
  }

  async renew(lease: Lease, ttl_ms: number) {
    return this.#expire(lease, this.clock.now() + ttl_ms)
  }

  async release(lease: Lease) {
    this.#expire(lease, 0)
  }

  async signal({ run_id, kind, data, by }: Omit<Signal, 'id' | 'at'>): Promise<Signal> {
    this.#open()
    const text = JSON.stringify(data ?? null)
    const closed = this.#log.row(run_id)?.status === 'closed'
    if (!closed) this.#lastSignal += 1
    const signal = { id: closed ? 0 : this.#lastSignal, run_id, kind, data: text, by, at: this.clock.now() }
    if (!closed) this.#signals.push(signal)
    return { ...signal, data: JSON.parse(text) }
  }

  async signals({ run_id, after }: { run_id?: string; after: number }) {
    this.#open()
    return this.#signals
      .filter((signal) => signal.id > after && (run_id === undefined || signal.run_id === run_id))
      .map((signal): Signal => ({ ...signal, data: JSON.parse(signal.data) }))
  }

  async lastSignal() {
    this.#open()
    return this.#signals.at(-1)?.id ?? 0
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

  async putRecord(record: Parameters<Store['putRecord']>[0]) {
    this.#open()
    return this.#records.put(record)
  }

  async deleteRecord(record: Parameters<Store['deleteRecord']>[0]) {
    this.#open()
    return this.#records.delete(record)
  }

  async appendControl(events: readonly NewControlEvent[]) {
    this.#open()
    return this.#control.append(controlDrafts(events))
  }

  async readControl(query: Parameters<Store['readControl']>[0] = {}) {
    this.#open()
    return this.#control.read(query)
  }

  async verifyControl() {
    this.#open()
    return this.#control.verify()
  }

  async close() {
    this.#closed = true
    this.#watchers.wakeAll()
  }

  #expire({ run_id, agent_id, owner, epoch }: Lease, expires_at: number): boolean {
    this.#open()
    const stream = this.#log.stream(run_id, agent_id)
    if (stream?.owner !== owner || stream.epoch !== epoch || stream.expires_at === 0) return false
    stream.expires_at = expires_at
    return true
  }

  #open(): void {
    if (this.#closed) throw storeClosed()
  }
}

function newestFirst(a: RunRow, b: RunRow): number {
  return b.created_at - a.created_at || (a.run_id === b.run_id ? 0 : a.run_id < b.run_id ? 1 : -1)
}
