import type { AgentRow, ControlRecord, NewEvent, PutResult, Records, RunRow, StoredEvent } from '../domain/index.js'

/** Bytes that are stored once and named by their SHA-256 digest in hex. */
export type Blob = { digest: string; bytes: Uint8Array }

export type Append = {
  run_id: string
  agent_id: string
  /** Of the lease under which the writer believes to own the agent. */
  epoch: number
  /** The sequence number of the last event the writer knows; 0 for a new stream. */
  expected_seq: number
  events: readonly NewEvent[]
  /** Stored in the same transaction. One that is there already is left alone. */
  blobs?: readonly Blob[]
  /** Creates the stream and takes its lease (epoch 1) in the same transaction. Only with expected_seq 0. */
  claim?: { owner: string; ttl_ms: number }
}

export type AppendResult =
  | { ok: true; events: StoredEvent[] }
  /**
   * conflict: another writer got there first, or closed the run before its agent had begun. fenced: the lease is
   * somebody else's now.
   */
  | { ok: false; code: 'conflict' | 'fenced'; message: string }

/** The right to write an agent's stream. An append under an old epoch is refused. */
export type Lease = { run_id: string; agent_id: string; owner: string; epoch: number; expires_at: number }

/** A word from outside to whoever runs a run: cancel it, answer its question. `at`: when the store took it. */
export type Signal = { id: number; run_id: string; kind: string; data: unknown; by: string; at: number }

export type { ControlRecord, PutResult }

/**
 * `after`: a position. `after_seq`: an event of the agent's stream, which is found at once; a position is looked for from
 * the beginning of the stream.
 */
export type EventQuery = { run_id: string; after?: number; limit?: number } & (
  | { agent_id?: string; after_seq?: never }
  | { agent_id: string; after_seq: number }
)

/** `before`: those that come after this run in the list. There are none after a run that is not in the store. */
export type RunQuery = {
  session_id?: string
  status?: RunRow['status']
  id_prefix?: string
  before?: string
  limit?: number
}

/** What is wrong with a stored stream, and where. */
export type Tampering = { agent_id: string; seq: number; position: number; message: string }

/**
 * The log and the control-plane records. `append` is the only way to write history: all or nothing, in order, and it
 * answers when the events are durable. The tables `runs` and `sub_agents` are projections, written in the same
 * transaction.
 */
export interface Store extends Records {
  /** Rejects when the disk fails and on a batch that only a bug can make; nothing of it is stored then either. */
  append(batch: Append): Promise<AppendResult>
  /** Events of a run in the order the store took them, of one agent where it is named. */
  read(query: EventQuery): Promise<StoredEvent[]>
  /** Events of a run as they come, from this process or another, until the signal or the run's end (run.closed). */
  follow(query: { run_id: string; after?: number; signal?: AbortSignal }): AsyncIterable<StoredEvent>
  blob(digest: string): Promise<Uint8Array | null>

  /** Newest first. */
  runs(query?: RunQuery): Promise<RunRow[]>
  run(run_id: string): Promise<RunRow | null>
  /** In the order in which they were created. `states`: only those that are in one of them. */
  agents(run_id: string, states?: readonly AgentRow['state'][]): Promise<AgentRow[]>
  /** One of them, null: there is no such. */
  agent(run_id: string, agent_id: string): Promise<AgentRow | null>
  /** Recomputes `runs` and `sub_agents` from the events. */
  rebuildProjections(): Promise<void>
  /** Checks the digest chain of every stream of a run. null: untouched. */
  verify(run_id: string): Promise<Tampering | null>

  lease(run_id: string, agent_id: string): Promise<Lease | null>
  /** Takes the lease if its epoch is still the one that was seen. null: somebody else was faster. */
  acquire(request: {
    run_id: string
    agent_id: string
    owner: string
    ttl_ms: number
    seen_epoch: number
  }): Promise<Lease | null>
  /** false: the lease is somebody else's now, or was let go. */
  renew(lease: Lease, ttl_ms: number): Promise<boolean>
  /** Lets go of it, so that the next owner need not wait for the end of its time. */
  release(lease: Lease): Promise<void>

  /** It is kept until its run is closed; of one that is, it is not kept, and has the id 0. Ids only grow. */
  signal(signal: Omit<Signal, 'id' | 'at'>): Promise<Signal>
  /** Signals with an id above `after`, of one run or of all. */
  signals(query: { run_id?: string; after: number }): Promise<Signal[]>
  /** The highest id of those that there are; 0: there is none. */
  lastSignal(): Promise<number>

  /** Checks the digest chain of the control log. null: untouched. */
  verifyControl(): Promise<{ position: number; message: string } | null>

  close(): Promise<void>
}
