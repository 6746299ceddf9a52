import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { storeClosed } from '../refusals.js'
import { DatabaseAway, explained, passes } from './failures.js'
import { numberTypes } from './numbers.js'
import type { Settings } from './settings.js'

/** Prepared once on each connection, under its name. */
export type Statement = { name: string; text: string }

export type Value = string | number | boolean | null | Uint8Array | readonly string[]
export type Query = Statement & { values: Value[] }

export function bound(statement: Statement, ...values: Value[]): Query {
  return { ...statement, values }
}

export type Client = pg.Client

/** Nothing waits for ever: for a statement, for a lock, or for a process that was stopped inside a transaction. */
const STATEMENT_MS = 30_000
export const LOCK_MS = 20_000
const IDLE_IN_TRANSACTION_MS = 10_000
/** For a server that is gone without a word: longer than the server itself lets a statement run. */
const ANSWER_MS = STATEMENT_MS + 5000

/** The slowest network on which something large still gets to the server: 32 KiB a second. */
const SLOWEST_BYTES_A_MS = 32

/** What is cut off as often as that does not get through, however long the patience. */
const MOST_CARRIED = 3

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 1000

/** A store that is being closed does not wait longer than this for the writes that it has taken. */
const CLOSING_MS = 5000

export function clientConfig(settings: Settings, types: typeof pg.types): pg.ClientConfig {
  return {
    // pg lets what the URL says stand before this.
    application_name: 'retinue',
    connectionString: settings.connection,
    connectionTimeoutMillis: settings.connect_timeout_ms,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements that do not depend on each other's answers share one round trip.
    pipeline: true,
    types: numberTypes(types),
  }
}

/** The connections of one store. While the database is away, whoever needs one waits. */
export class Connections {
  #closing: { by: number } | null = null
  /** Whoever reads stops waiting. */
  readonly #left = new AbortController()
  /** So does whoever writes. */
  readonly #closed = new AbortController()
  readonly #working = new Set<Promise<unknown>>()
  #carried: Promise<unknown> = Promise.resolve()

  constructor(
    readonly pool: pg.Pool,
    readonly settings: Settings,
  ) {
    // An idle connection that breaks is replaced by the next that is needed.
    pool.on('error', () => {})
    // Nor does one end the process that breaks in the moment between two who use it, when nobody else hears of it.
    pool.on('connect', (client) => client.on('error', () => {}))
    // Everybody who waits listens to these, and there may be many.
    setMaxListeners(0, this.#left.signal, this.#closed.signal)
  }

  all<Row>(statement: Statement, ...values: Value[]): Promise<Row[]> {
    return this.patiently(() => this.#rows<Row>(statement, values), 'read')
  }

  async first<Row>(statement: Statement, ...values: Value[]): Promise<Row | undefined> {
    return (await this.all<Row>(statement, ...values))[0]
  }

  /** One that changes something, and may be done twice. Answers with the rows that it returns. */
  change<Row>(statement: Statement, ...values: Value[]): Promise<Row[]> {
    return this.patiently(() => this.#rows<Row>(statement, values), 'write')
  }

  /** The same with so many bytes in it, in their time: the server counts from when it has heard of the statement. */
  carry(statement: Statement, bytes: number, ...values: Value[]): Promise<void> {
    const ms = ANSWER_MS + Math.ceil(bytes / SLOWEST_BYTES_A_MS)
    let credit = MOST_CARRIED
    const carried = (heard: () => void) => async (client: Client) => {
      const query = { ...statement, values, query_timeout: ms }
      await client.query(`SET statement_timeout = ${ms}`)
      credit -= 1
      if (credit >= 0) heard()
      await client.query(query)
      await client.query(`SET statement_timeout = ${STATEMENT_MS}`)
    }
    return this.patiently((heard) => this.#alone(() => this.with(carried(heard))), 'write')
  }

  /** However much is on its way, it takes one connection: the others are for leases, signals and what is small. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#carried.then(work)
    this.#carried = done.catch(() => {})
    return done
  }

  async #rows<Row>(statement: Statement, values: Value[]): Promise<Row[]> {
    const { rows } = await this.pool.query({ ...statement, values })
    return rows as Row[]
  }

  /** Work on one connection, which is not used again when the work fails: it may be anywhere. */
  async with<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.pool.connect()
    // Of a connection that breaks while it is used its statements tell.
    const heard = () => {}
    client.on('error', heard)
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      client.release(true)
      throw error
    } finally {
      client.off('error', heard)
    }
  }

  /**
   * Does it again for as long as the database is away, up to the patience that the URL grants. What takes long says when it
   * has heard of it: time on the way is no time that it was away.
   */
  async patiently<T>(work: (heard: () => void) => Promise<T>, kind: 'read' | 'write'): Promise<T> {
    const { patience_ms, place } = this.settings
    const left = kind === 'read' ? this.#left.signal : this.#closed.signal
    let silent_since = performance.now()
    let failing_since: number | null = null
    const heard = () => {
      silent_since = performance.now()
      failing_since = null
    }
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await this.#counted(work(heard))
      } catch (error) {
        if (!passes(error)) throw explained(error, place)
        const now = performance.now()
        if (left.aborted || (this.#closing && now >= this.#closing.by)) throw storeClosed(error)
        failing_since ??= now
        if (now - failing_since >= patience_ms) throw new DatabaseAway(place.server, now - silent_since, error)
      }
      await this.pause(pause, left)
    }
  }

  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#working.add(work)
    try {
      return await work
    } finally {
      this.#working.delete(work)
    }
  }

  /** Ends early when the store is closed. */
  async pause(ms: number, signal: AbortSignal = this.#left.signal): Promise<void> {
    // Not all at once, when many processes have lost the same server.
    const some = ms * (0.5 + Math.random() / 2)
    await setTimeout(some, undefined, { signal }).catch(() => {})
  }

  /** Nothing more is asked for. */
  closing(): void {
    this.#closing ??= { by: performance.now() + CLOSING_MS }
    this.#left.abort()
  }

  /** After the last write was settled. */
  async close(): Promise<void> {
    this.#closed.abort()
    // The pool forgets those who still wait for a connection. A server that is gone without a word ends nothing.
    const ended = Promise.allSettled(this.#working).then(() => this.pool.end())
    await Promise.race([ended, setTimeout(CLOSING_MS, undefined, { ref: false })])
  }
}
