/** Those who wait for something to happen. */
export class Waiting {
  readonly #wakes = new Set<() => void>()

  wake(): void {
    const woken = [...this.#wakes]
    this.#wakes.clear()
    for (const wake of woken) wake()
  }

  /** Until the next wake, or until the signal. */
  next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#wakes.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}
