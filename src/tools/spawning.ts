import type { Delegator, Spawned } from './delegation.js'

/** Creates one of several sub-agents. */
export type Spawn = (index: number) => Promise<Spawned>

type Around = { delegator: Delegator; signal: AbortSignal }

/**
 * A task for which there is too little, because of what is set aside for sub-agents that are still open, waits until
 * one of them is closed. Those that come after it wait behind it: small tasks do not take what a large one waits for.
 */
export function inOrder(spawn: Spawn, around: Around): Spawn {
  let queued = 0
  let last: Promise<unknown> = Promise.resolve()
  return async (index) => {
    if (queued === 0) {
      const made = await spawn(index)
      if (made.ok || !made.short) return made
    }
    queued += 1
    const mine = last.then(() => whenItFits(() => spawn(index), around))
    last = mine
    return mine.finally(() => {
      queued -= 1
    })
  }
}

async function whenItFits(spawn: () => Promise<Spawned>, { delegator, signal }: Around): Promise<Spawned> {
  const standing = () =>
    delegator
      .jobs()
      .map(({ closed, waits }) => (closed ? 'closed' : waits ? 'waits' : 'works'))
      .join()
  for (;;) {
    const before = standing()
    const made = await spawn()
    if (made.ok || !made.short || signal.aborted) return made
    // One that was closed or has done its work meanwhile may have given back what was missing.
    if (standing() !== before) continue
    // Those that wait for others may wait for this one.
    if (delegator.jobs().every(({ closed, waits }) => closed || waits)) return made
    await delegator.plans.next([])
  }
}
