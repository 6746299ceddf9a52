/** A place among the agents that work at once, as the engine gives it. */
export type Slot = {
  /** For good. One that rests does not get its place back then. */
  release(): void
  /** Gives the place back while it waits, and takes one again before it returns. Several waits may overlap. */
  rest<T>(wait: () => Promise<T>): Promise<T>
}

export const NO_SLOT: Slot = { release: () => {}, rest: (wait) => wait() }
