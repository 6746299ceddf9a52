import type { RunRow, StoredEvent } from '../../domain/index.js'
import { addToAgents, addToRun, newRunDelta } from '../deltas.js'
import { chainEntries, type Entry, storedEvent } from '../entries.js'
import { agentExists, beginsAgent, noRun, refusal, runExists, runIsClosed } from '../refusals.js'
import type { EventRow } from '../rows.js'
import type { Append, AppendResult } from '../store.js'
import type { RunChange } from './projections.js'

type StreamRow = {
  run_id: string
  agent_id: string
  seq: number
  digest: string
  epoch: number
  owner: string
}

/** What the transaction of a group has found and locked. */
type Found = {
  runs: readonly Pick<RunRow, 'run_id' | 'last_position' | 'status'>[]
  streams: readonly StreamRow[]
  agents: readonly { run_id: string; agent_id: string }[]
}

/** A stream as the group leaves it, and where it must be for that. */
type Moved = StreamRow & { expected_seq: number; ttl_ms: number | null }

/** The result of an append, or what only a bug makes. */
export type Verdict = AppendResult | Error

export function keyOf({ run_id, agent_id }: { run_id: string; agent_id: string }): string {
  return `${run_id}\n${agent_id}`
}

/**
 * The appends that share a transaction: which of them are taken, at which positions, and what has to be written for
 * that. It is all decided on rows that are locked, before anything is written, so that none takes another along.
 */
export class Group {
  readonly #last: Map<string, number>
  readonly #closed: Set<string>
  readonly #streams: Map<string, StreamRow>
  readonly #agents: Set<string>
  readonly #moved = new Map<string, Moved>()
  readonly #runs = new Map<string, RunChange>()
  readonly events: EventRow[] = []
  readonly blobs = new Map<string, Uint8Array>()

  constructor({ runs, streams, agents }: Found) {
    this.#last = new Map(runs.map(({ run_id, last_position }) => [run_id, last_position]))
    this.#closed = new Set(runs.flatMap(({ run_id, status }) => (status === 'closed' ? [run_id] : [])))
    this.#streams = new Map(streams.map((stream) => [keyOf(stream), stream]))
    this.#agents = new Set(agents.map(keyOf))
  }

  get moved(): Moved[] {
    return [...this.#moved.values()]
  }

  get changes(): RunChange[] {
    return [...this.#runs.values()]
  }

  take(batch: Append, entries: readonly Entry[]): Verdict {
    const { run_id, expected_seq, claim } = batch
    const creates = Boolean(entries[0]?.projection.run)
    if (creates && this.#last.has(run_id)) return runExists(batch)
    if (this.#closed.has(run_id) && beginsAgent(batch)) return runIsClosed(batch)
    const stream = this.#streams.get(keyOf(batch))
    const fits = claim ? !stream : stream?.epoch === batch.epoch && stream.seq === expected_seq
    if (!fits) return refusal(batch, stream)
    if (entries.length > 0 && !creates && !this.#last.has(run_id)) return noRun(run_id)
    const again = this.#existing(run_id, entries)
    if (again !== undefined) return agentExists(run_id, again)
    this.#move(batch, entries, stream)
    for (const { digest, bytes } of batch.blobs ?? []) if (!this.blobs.has(digest)) this.blobs.set(digest, bytes)
    return { ok: true, events: this.#place(batch, entries) }
  }

  #existing(run_id: string, entries: readonly Entry[]): string | undefined {
    const made = entries.flatMap(({ projection }) => (projection.agent ? [projection.agent_id] : []))
    return made.find((agent_id) => this.#agents.has(keyOf({ run_id, agent_id })))
  }

  #move(batch: Append, entries: readonly Entry[], stream: StreamRow | undefined): void {
    const { run_id, agent_id, expected_seq, claim } = batch
    const digest = chainEntries(stream?.digest ?? '', batch, entries)
    const { epoch, owner } = stream ?? { epoch: 1, owner: claim?.owner ?? '' }
    const now = { run_id, agent_id, seq: expected_seq + entries.length, digest, epoch, owner }
    const key = keyOf(batch)
    const before = this.#moved.get(key) ?? { expected_seq, ttl_ms: claim?.ttl_ms ?? null }
    this.#moved.set(key, { ...now, expected_seq: before.expected_seq, ttl_ms: before.ttl_ms })
    this.#streams.set(key, now)
  }

  #place(batch: Append, entries: readonly Entry[]): StoredEvent[] {
    if (entries.length === 0) return []
    const { run_id, agent_id } = batch
    const change = this.#change(run_id)
    let position = this.#last.get(run_id) ?? 0
    const events = entries.map((entry, i) => {
      const { event, text: data, projection, digest } = entry
      position += 1
      addToRun(change.run, projection, event.at)
      addToAgents(change.agents, projection, event.at)
      if (projection.agent) {
        change.created_at.set(projection.agent_id, position)
        this.#agents.add(keyOf({ run_id, agent_id: projection.agent_id }))
      }
      const seq = batch.expected_seq + i + 1
      const { type, version, at } = event
      this.events.push({ run_id, position, agent_id, seq, type, version, at, data, digest })
      return storedEvent(batch, entry, seq, position)
    })
    this.#last.set(run_id, position)
    if (change.run.set.status === 'closed') this.#closed.add(run_id)
    return events
  }

  #change(run_id: string): RunChange {
    const known = this.#runs.get(run_id)
    if (known) return known
    const change = { run_id, run: newRunDelta(), agents: new Map(), created_at: new Map() }
    this.#runs.set(run_id, change)
    return change
  }
}
