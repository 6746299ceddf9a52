import type { StoredEvent } from '../domain/index.js'

/** What following needs from a store. */
export interface Followed {
  /** The next events after a position; empty at the end. */
  page(run_id: string, after: number): StoredEvent[]
  /** Nothing more will come: the run is closed, or the store. */
  over(run_id: string): boolean
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
  try {
    while (!stop.stopped) {
      const page = log.page(run_id, position)
      for (const event of page) {
        position = event.position
        yield event
        if (event.type === 'run.closed' || stop.stopped) return
      }
      if (page.length > 0) continue
      if (over) return
      // Another process may close the run between the two looks, so that the end counts only with an empty page after it.
      over = log.over(run_id)
      if (!over) await stop.orWoken((wake) => log.watch(run_id, wake))
    }
  } finally {
    query.signal?.removeEventListener('abort', stop.now)
  }
}

/** The ways in which a consumer ends it: its signal, or leaving the loop. */
class Stop {
  #left = false
  #wake: () => void = () => {}

  constructor(readonly signal: AbortSignal | undefined) {}

  get stopped(): boolean {
    return this.#left || this.signal?.aborted === true
  }

  readonly now = (): void => {
    this.#left = true
    this.#wake()
  }

  async orWoken(watch: (wake: () => void) => () => void): Promise<void> {
    let unwatch = () => {}
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      unwatch = watch(resolve)
    })
    unwatch()
  }
}
