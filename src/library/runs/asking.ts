import type { Clock } from '../../host/index.js'
import type { Signal, Store } from '../../store/index.js'

/** How often it is looked whether what was asked for has come. */
const LOOK_MS = 200
/** Whoever works on a run may have changed since: then it is asked again. */
const AGAIN_MS = 5000

/**
 * Asks whoever works on a run for something, wherever that is, and waits for it. However many ask for the same at once,
 * the store has it once.
 */
export class Asking {
  readonly #asked = new Map<string, { at: number; waiting: number }>()

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    /** Has whoever it is said to worked on, where that would not hear it otherwise. */
    private readonly wake: (wanted: Omit<Signal, 'id' | 'at'>, about: string) => Promise<void>,
  ) {}

  /** `come`: what came of it; null: nothing so far. `about`: of what in the run. Rejects when the signal says so. */
  async until<T>(
    wanted: Omit<Signal, 'id' | 'at'>,
    signal: AbortSignal | undefined,
    come: () => Promise<T | null>,
    about = '',
  ): Promise<T> {
    const key = `${wanted.run_id} ${wanted.kind} ${about}`
    const asked = this.#asked.get(key) ?? { at: Number.NEGATIVE_INFINITY, waiting: 0 }
    this.#asked.set(key, asked)
    asked.waiting += 1
    try {
      for (;;) {
        const now = this.clock.now()
        if (now - asked.at >= AGAIN_MS) {
          asked.at = now
          await this.store.signal(wanted)
          await this.wake(wanted, about)
        }
        const came = await come()
        if (came !== null) return came
        signal?.throwIfAborted()
        await this.clock.sleep(LOOK_MS, signal)
      }
    } finally {
      asked.waiting -= 1
      if (asked.waiting === 0) this.#asked.delete(key)
    }
  }
}
