import type { StoredEvent } from '../domain/index.js'

/** What following needs from a store. Answers that are there at once are not waited for. */
export interface Followed {
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
  let position = query.after ?? 0
  let over = false
  query.signal?.addEventListener('abort', stop.now, { once: true })
  try {
    while (!stop.stopped) {
      const page = await nextPage(log, query.run_id, position, over, stop)
      if (page === null) return
      if (page === 'over') over = true
      else {
        for (const event of page) {
          position = event.position
          yield event
          if (event.type === 'run.closed' || stop.stopped) return
        }
      }
    }
  } finally {
    query.signal?.removeEventListener('abort', stop.now)
  }
}

/**
 * The events after a position, as soon as there may be some; null: it ends here. Another process may close the run
 * between the two looks, so that the end counts only with an empty page after it.
 */
async function nextPage(
  log: Followed,
  run_id: string,
  position: number,
  over: boolean,
  stop: Stop,
): Promise<StoredEvent[] | 'over' | null> {
  // Watched before it is looked at: what comes while a page is on its way must not be missed.
  const unwatch = log.watch(run_id, stop.watched())
  try {
    const page = await stop.orAnswered(log.page(run_id, position))
    if (page === undefined) return null
    if (page.length > 0) return page
    if (over) return null
    if (await stop.orAnswered(log.over(run_id))) return 'over'
    await stop.orWoken()
    return page
  } finally {
    unwatch()
  }
}

/** The ways in which a consumer ends it: its signal, or leaving the loop. */
class Stop {
  #left = false
  #woken = false
  #wake: () => void = () => {}
  #leave: () => void = () => {}

  constructor(readonly signal: AbortSignal | undefined) {}

  get stopped(): boolean {
    return this.#left || this.signal?.aborted === true
  }

  readonly now = (): void => {
    this.#left = true
    this.#leave()
    this.#wake()
  }

  /** What to call when there may be something new; `orWoken` goes on when it was called since. */
  watched(): () => void {
    this.#woken = false
    return () => {
      this.#woken = true
      this.#wake()
    }
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
      this.#wake = resolve
      if (this.#woken || this.stopped) resolve()
    })
  }
}
