import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Delta } from '../../runtime/index.js'
import type { Database } from './database.js'

/** PostgreSQL takes no more than 8000 bytes at a time. */
const LONGEST = 7000
/** So many characters go together: each may need six bytes. */
const PIECE = 1000
/** What waits for a slow database. What is more than that is dropped. */
const MOST_WAITING = 10_000
const CONNECT_MS = 10_000
/** Who only listens says nothing, and would not notice that the server is gone without a word. */
const KEEP_ALIVE_MS = 10_000
const AGAIN_MS = 500

/** Not durable, so that nobody waits for the disk: a transaction that notifies holds up all others that do. */
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"

type Said = { channel: string; json: string }
type Hear = (delta: Delta) => void

/**
 * What agents say while they say it, from the worker that has them to whoever watches their run. Nothing of it is kept,
 * and some may get lost: the log has it all when it is said.
 */
export class Words {
  #client: Promise<pg.Client> | null = null
  readonly #hearers = new Map<string, Set<Hear>>()
  #waiting: Said[] = []
  #sending: Promise<void> | null = null
  #returning: Promise<void> | null = null
  #closed = false

  constructor(private readonly database: Database) {}

  /** For whoever says something in a run. */
  speaker(run_id: string): Hear {
    const channel = this.#channel(run_id)
    // In time for the first word.
    void this.#connected().catch(() => {})
    return (delta) => {
      for (let from = 0; from < delta.text.length; from += PIECE) {
        if (this.#closed || this.#waiting.length >= MOST_WAITING) return
        this.#waiting.push({ channel, json: JSON.stringify({ ...delta, text: delta.text.slice(from, from + PIECE) }) })
      }
      this.#sending ??= this.#send().finally(() => {
        this.#sending = null
      })
    }
  }

  /** Answers with how to stop that. */
  async listen(run_id: string, hear: Hear): Promise<() => void> {
    const channel = this.#channel(run_id)
    const hearers = this.#hearers.get(channel) ?? new Set()
    this.#hearers.set(channel, hearers.add(hear))
    const stop = () => {
      hearers.delete(hear)
      if (hearers.size > 0 || this.#hearers.get(channel) !== hearers) return
      this.#hearers.delete(channel)
      void this.#query(`UNLISTEN ${channel}`).catch(() => {})
    }
    // Whoever cannot be told meanwhile is told by the log.
    await this.#query(`LISTEN ${channel}`).catch(() => {})
    return stop
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#waiting = []
    const client = await this.#client?.catch(() => null)
    await client?.end().catch(() => {})
  }

  async #send(): Promise<void> {
    try {
      for (let next = this.#next(); next; next = this.#next()) await this.#query(NOTIFY, [next.channel, next.payload])
    } catch {
      this.#waiting = []
    }
  }

  /** As much as goes at once of what waits for one channel. */
  #next(): { channel: string; payload: string } | null {
    const [first] = this.#waiting
    if (!first) return null
    let bytes = 0
    const end = this.#waiting.findIndex(({ channel, json }, i) => {
      bytes += Buffer.byteLength(json) + 1
      return channel !== first.channel || (i > 0 && bytes > LONGEST)
    })
    const taken = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
    return { channel: first.channel, payload: `[${taken.map(({ json }) => json).join()}]` }
  }

  async #query(text: string, values: string[] = []): Promise<void> {
    await (await this.#connected()).query(text, values)
  }

  #connected(): Promise<pg.Client> {
    if (this.#client) return this.#client
    const connected = this.#connect(() => lost())
    // Of one that is lost is heard more than once, and another may be there by then.
    const lost = () => {
      if (this.#client !== connected) return
      this.#client = null
      this.#returning ??= this.#return().finally(() => {
        this.#returning = null
      })
    }
    connected.catch(lost)
    this.#client = connected
    return connected
  }

  /** The database forgets who listens when their connection is lost. */
  async #return(): Promise<void> {
    while (this.#hearers.size > 0 && !this.#closed) {
      const is_back = await this.#connected().then(
        () => true,
        () => false,
      )
      if (is_back) return
      await setTimeout(AGAIN_MS, undefined, { ref: false })
    }
  }

  async #connect(lost: () => void): Promise<pg.Client> {
    const { default: pg } = await import('pg')
    const client = new pg.Client({
      connectionString: this.database.url,
      application_name: 'retinue',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    })
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ channel, payload }) => {
      const said = JSON.parse(payload ?? '[]') as Delta[]
      for (const hear of this.#hearers.get(channel) ?? []) for (const delta of said) hear(delta)
    })
    await client.connect()
    try {
      for (const channel of this.#hearers.keys()) await client.query(`LISTEN ${channel}`)
    } catch (error) {
      void client.end().catch(() => {})
      throw error
    }
    return client
  }

  /** A name without anything in it that would have to be escaped, and not too long for one. */
  #channel(run_id: string): string {
    const digest = createHash('sha256').update(`${this.database.schema} ${run_id}`).digest('hex')
    return `retinue_words_${digest.slice(0, 32)}`
  }
}
