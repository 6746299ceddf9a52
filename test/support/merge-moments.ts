import type { StoredEvent } from '../../src/index.js'

/** What a scenario waits for: events of a log as they come. */
export type Moments = {
  /** Adds an event of the log. */
  saw: (event: StoredEvent) => void
  /** Something that happened and is in no log. */
  happened: (what: string) => void
  /** Resolves once it has happened; see `onceSchema` for what can be named. */
  once: (what: string) => Promise<void>
}

export function createMoments(): Moments {
  const events: StoredEvent[] = []
  const past = new Set<string>()
  let waiting: { what: string; resolve: () => void }[] = []

  const isPast = (what: string) => past.has(what) || events.some((event) => fits(event, what))
  const wake = () => {
    const now = waiting.filter(({ what }) => isPast(what))
    waiting = waiting.filter((one) => !now.includes(one))
    for (const { resolve } of now) resolve()
  }
  return {
    saw: (event) => {
      events.push(event)
      wake()
    },
    happened: (what) => {
      past.add(what)
      wake()
    },
    once: (what) =>
      new Promise((resolve) => {
        waiting.push({ what, resolve })
        wake()
      }),
  }
}

function fits(event: StoredEvent, what: string): boolean {
  const [agent, type, ...values] = what.split(' ')
  if (event.agent_id !== agent || event.type !== type) return false
  return values.every((value) => Object.values(event.data).includes(value))
}
