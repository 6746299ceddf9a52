/**
 * Calls many when a signal aborts, with one listener per signal: Node warns of more than ten on one signal, and takes
 * longer for each that is added.
 */
export class Aborts {
  readonly #listening = new Map<AbortSignal, { calls: Set<() => void>; listener: () => void }>()

  /** Answers with how to stop it. */
  on(signal: AbortSignal, call: () => void): () => void {
    const { calls } = this.#listening.get(signal) ?? this.#listen(signal)
    calls.add(call)
    return () => {
      if (!calls.delete(call)) return
      if (calls.size === 0) this.#stop(signal)
    }
  }

  #listen(signal: AbortSignal) {
    const calls = new Set<() => void>()
    const listener = () => {
      for (const call of calls) call()
    }
    const entry = { calls, listener }
    this.#listening.set(signal, entry)
    signal.addEventListener('abort', listener)
    return entry
  }

  #stop(signal: AbortSignal): void {
    const entry = this.#listening.get(signal)
    if (entry) signal.removeEventListener('abort', entry.listener)
    this.#listening.delete(signal)
  }
}
