/** Who waits for what comes next in which run. */
export class Watchers {
  readonly #runs = new Map<string, Set<() => void>>()

  get none(): boolean {
    return this.#runs.size === 0
  }

  add(run_id: string, wake: () => void): () => void {
    const waiting = this.#runs.get(run_id) ?? new Set()
    this.#runs.set(run_id, waiting.add(wake))
    return () => {
      waiting.delete(wake)
      if (waiting.size === 0 && this.#runs.get(run_id) === waiting) this.#runs.delete(run_id)
    }
  }

  wake(run_id: string): void {
    for (const wake of this.#runs.get(run_id) ?? []) wake()
  }

  wakeAll(): void {
    for (const run_id of this.#runs.keys()) this.wake(run_id)
  }
}
