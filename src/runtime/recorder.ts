import {
  type AgentEvent,
  type AgentMemory,
  type EventData,
  type EventType,
  type NewEvent,
  NOTHING_TO_REDACT,
  OpenQuestions,
  type Redactor,
  reduce,
} from '../domain/index.js'
import type { Clock } from '../host/index.js'
import { type Blob, blobDigest, type Lease, type Store } from '../store/index.js'

/** This process has no more to do with the agent: its lease is somebody else's, or it was told to let go. */
export class AbandonedError extends Error {
  override name = 'AbandonedError'
}

/**
 * Writes one agent's stream and keeps its state in step. `record` changes the state at once and holds the event
 * back; `commit` makes everything recorded so far durable. An effect must be preceded by a commit: that is all there
 * is to "intent, effect, result", and it lets the result of one effect share a commit with the intent of the next.
 * Before something that only reads, `commitSoon` is enough. Secrets are taken out of everything on the way in, so that
 * state, log, requests and replay agree.
 */
export class Recorder {
  #pending: NewEvent[] = []
  #blobs: Blob[] = []
  readonly #kept = new Set<string>()
  #flight: Promise<void> | null = null
  #soon = false
  /** What ended the writing. Events were lost with it, so nothing may be written after them. */
  #failure: unknown = null
  #durableSeq: number
  /** What it asks a person, as whoever reads its log sees it. */
  readonly questions = new OpenQuestions()
  /** Called when all that was recorded is durable, before anything is done on the strength of that. */
  onDurable: () => void = () => {}

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly lease: Lease,
    public memory: AgentMemory,
    private readonly redactor: Redactor = NOTHING_TO_REDACT,
  ) {
    this.#durableSeq = memory.seq
  }

  record<T extends EventType>(type: T, data: EventData<T>): void {
    const event = { type, version: 1, at: this.clock.now(), data: this.redactor.redactAll(data) } as NewEvent
    const { run_id, agent_id } = this.lease
    const placed: AgentEvent = { ...event, run_id, agent_id, seq: this.memory.seq + 1 }
    this.memory = reduce(this.memory, placed) as AgentMemory
    this.questions.add(placed)
    this.#pending.push(event)
  }

  /** As it would be written down. */
  cleaned<T>(value: T): T {
    return this.redactor.redactAll(value)
  }

  /** Stored with the next commit, under the digest of what is stored. */
  keep(text: string): { digest: string; bytes: number } {
    const bytes = Buffer.from(this.redactor.redact(text))
    const digest = blobDigest(bytes)
    this.#blobs.push({ digest, bytes })
    return { digest, bytes: bytes.length }
  }

  /** The same for bytes that were redacted before; those that many agents share are written once. */
  keepBlob(blob: Blob): void {
    if (this.#kept.has(blob.digest)) return
    this.#kept.add(blob.digest)
    this.#blobs.push(blob)
  }

  /** Commits in the next turn of the event loop, unless somebody did before; what goes wrong is the next commit's. */
  commitSoon(): void {
    if (this.#soon) return
    this.#soon = true
    setImmediate(() => {
      this.#soon = false
      this.commit().catch(() => {})
    })
  }

  /** Whether there is something that is not durable yet. */
  get has_more(): boolean {
    return this.#flight !== null || this.#pending.length > 0
  }

  /** Nothing more is written: what is not durable by now never happened. */
  stop(why: string): void {
    this.#failure ??= new AbandonedError(why)
  }

  /** Rejects where this process has let go of the agent meanwhile: what was to follow is an effect, and not its own any more. */
  async commit(): Promise<void> {
    await this.#flush()
    this.onDurable()
    // Nothing follows on the result.
    if (this.#failure && this.memory.result === null) throw this.#failure
  }

  async #flush(): Promise<void> {
    if (this.#failure) throw this.#failure
    while (this.#flight || this.#pending.length > 0) {
      if (this.#failure) throw this.#failure
      this.#flight ??= this.#append()
        .catch((error) => {
          this.#failure = error
          throw error
        })
        .finally(() => {
          this.#flight = null
        })
      await this.#flight
    }
  }

  /** That nobody else has taken the agent up. Asked for before anything that would undo what that one has done. */
  async confirm(): Promise<void> {
    await this.commit()
    const { run_id, agent_id, epoch } = this.lease
    const held = await this.store.lease(run_id, agent_id)
    if (held?.epoch === epoch) return
    this.#failure ??= new AbandonedError('somebody else has taken it up')
    throw this.#failure
  }

  async #append(): Promise<void> {
    const events = this.#pending
    const blobs = this.#blobs
    this.#pending = []
    this.#blobs = []
    const { run_id, agent_id, epoch } = this.lease
    const written = await this.store.append({ run_id, agent_id, epoch, expected_seq: this.#durableSeq, events, blobs })
    if (!written.ok) throw new AbandonedError(written.message)
    this.#durableSeq += events.length
  }
}
