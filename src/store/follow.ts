import type { StoredEvent } from '../domain/index.js'

/** What following needs from a store. Answers that are there at once are not waited for. */
export interface Followed {
  /** So many events a page has, unless it is the last for now. */
  readonly page_size: number
  /** The next events after a position; empty at the end. */
  page(run_id: string, after: number): StoredEvent[] | Promise<StoredEvent[]>
  /** Nothing more will come: the run is closed, or the store. */
  over(run_id: string): boolean | Promise<boolean>
  /** Calls back whenever there may be something new; answers with how to stop that. */
  watch(run_id: string, wake: () => void): () => void
}

export type FollowQuery = { run_id: string; after?: number; signal?: AbortSignal }

export function follow(log: Followed, query: FollowQuery): AsyncIterable<StoredEvent> {
  return {
    [Symbol.asyncIterator]() {
      const stop = new Stop(query.signal)
      const events = generate(log, query, stop)
      return {
        next: () => events.next(),
        // A generator takes a `return` only when its pending `next` is answered, so that has to be woken up first.
        return: () => {
          stop.now()
          return events.return()
        },
      }
    },
  }
}

async function* generate(log: Followed, query: FollowQuery, stop: Stop): AsyncGenerator<StoredEvent, void, void> {
  const { run_id } = query
  let position = query.after ?? 0
  let over = false
  query.signal?.addEventListener('abort', stop.now, { once: true })
  // Watched before it is looked at, and all the time: what comes while a page is on its way or is being read must not be
  // missed, and where nothing came nobody looks again.
  const unwatch = log.watch(run_id, stop.wake)
  try {
    while (!stop.stopped) {
      stop.sleep()
      const page = await stop.orAnswered(log.page(run_id, position))
      if (page === undefined) return
      for (const event of page) {
        position = event.position
        yield event
        if (event.type === 'run.closed' || stop.stopped) return
      }
      if (page.length >= log.page_size) continue
      if (page.length === 0) {
        // Another process may close the run between the two looks, so that the end counts only with an empty page after it.
        if (over) return
        over = (await stop.orAnswered(log.over(run_id))) === true
      }
      if (!over) await stop.orWoken()
    }
  } finally {
    unwatch()
    query.signal?.removeEventListener('abort', stop.now)
  }
}

/** The ways in which a consumer ends it: its signal, or leaving the loop. */
class Stop {
  #left = false
  #woken = false
  #goOn: () => void = () => {}
  #leave: () => void = () => {}

  constructor(readonly signal: AbortSignal | undefined) {}

  get stopped(): boolean {
    return this.#left || this.signal?.aborted === true
  }

  readonly now = (): void => {
    this.#left = true
    this.#leave()
    this.#goOn()
  }

  /** There may be something new. */
  readonly wake = (): void => {
    this.#woken = true
    this.#goOn()
  }

  /** From now on: `orWoken` goes on when it was woken since. */
  sleep(): void {
    this.#woken = false
  }

  /** undefined: whoever follows has left. A store that is slow to answer does not keep them. */
  orAnswered<T>(answer: T | Promise<T>): T | Promise<T | undefined> {
    if (!(answer instanceof Promise)) return answer
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve(undefined)
      answer.then(resolve, reject)
      if (this.stopped) this.#leave()
    })
  }

  async orWoken(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#goOn = resolve
      if (this.#woken || this.stopped) resolve()
    })
  }
}
