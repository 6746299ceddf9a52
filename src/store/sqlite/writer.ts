import { setImmediate, setTimeout } from 'node:timers'
import { storeClosed } from '../refusals.js'
import { type Database, isBusy, rollback } from './database.js'

/** One write among those that share a transaction. */
export interface Job<Group> {
  /** Checks and claims. It may run again in a new transaction when another job of the group failed. */
  apply(group: Group): void
  /** After every job of the group was applied. */
  finish(group: Group): void
  /** The transaction is durable. */
  resolve(): void
  /** Nothing of this job was stored. */
  reject(error: unknown): void
}

/** How long another process may hold the lock before the waiting writes fail. */
const PATIENCE_MS = 5000

const RETRY_MS = 1

/**
 * Group commit: everything that was asked for in one turn of the event loop shares one BEGIN IMMEDIATE ... COMMIT. A
 * turn rather than a microtask, because answers of many models that arrived during the last commit are all seen in
 * one turn; for a lone writer the difference is a microsecond.
 *
 * The lock is polled here and not by SQLite: its busy handler would stop the event loop, and its long naps let one
 * busy process starve another.
 */
export class Writer<Group> {
  #queue: Job<Group>[] = []
  #scheduled = false
  #closed = false
  #busySince: number | null = null
  // Prepared, because `exec` would parse them anew each time.
  readonly #begin
  readonly #commit

  constructor(
    readonly database: Database,
    readonly newGroup: () => Group,
    readonly committed: (group: Group) => void,
  ) {
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
  }

  enqueue(job: Job<Group>): void {
    if (this.#closed) {
      job.reject(storeClosed())
      return
    }
    this.#queue.push(job)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#flush)
  }

  /** Any other write, in its place among the appends. */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T
      this.enqueue({
        apply() {
          result = work()
        },
        finish() {},
        resolve: () => resolve(result),
        reject,
      })
    })
  }

  /** Takes nothing more; answers when what was taken is settled. */
  async close(): Promise<void> {
    const last = this.write(() => {})
    this.#closed = true
    await last.catch(() => {})
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    let jobs = this.#queue
    this.#queue = []
    while (jobs.length > 0) {
      try {
        this.#begin.run([])
      } catch (error) {
        if (!isBusy(error)) rejectAll(jobs, error)
        else if (this.#patient()) this.#again(jobs)
        else rejectAll(jobs, locked(error))
        return
      }
      this.#busySince = null
      const failed = this.#attempt(jobs)
      if (!failed) return
      jobs = jobs.filter((job) => job !== failed)
    }
  }

  /** Answers with the job that made it fail, rolled back and rejected; null when all are settled. */
  #attempt(jobs: readonly Job<Group>[]): Job<Group> | null {
    const group = this.newGroup()
    for (const step of ['apply', 'finish'] as const) {
      for (const job of jobs) {
        try {
          job[step](group)
        } catch (error) {
          rollback(this.database)
          job.reject(error)
          return job
        }
      }
    }
    try {
      this.#commit.run([])
    } catch (error) {
      rollback(this.database)
      rejectAll(jobs, error)
      return null
    }
    this.committed(group)
    for (const job of jobs) job.resolve()
    return null
  }

  #patient(): boolean {
    this.#busySince ??= performance.now()
    if (performance.now() - this.#busySince < PATIENCE_MS) return true
    this.#busySince = null
    return false
  }

  #again(jobs: Job<Group>[]): void {
    this.#queue = [...jobs, ...this.#queue]
    this.#scheduled = true
    setTimeout(this.#flush, RETRY_MS)
  }
}

function rejectAll<Group>(jobs: readonly Job<Group>[], error: unknown): void {
  for (const job of jobs) job.reject(error)
}

function locked(cause: unknown): Error {
  const message = `Another process has kept the database locked for ${PATIENCE_MS / 1000} s. End it, or try again later.`
  return new Error(message, { cause })
}
