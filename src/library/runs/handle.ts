import type { StoredEvent } from '../../domain/index.js'
import type { AgentLoop } from '../../runtime/index.js'
import type { Retinue, Run, RunResult } from '../api.js'

/** A run that is under way, here or elsewhere. */
export type UnderWay = Pick<AgentLoop, 'cancel' | 'abandon'>

/** Told when there is something that can be cancelled. */
export type Started = (run: UnderWay) => void

/** A run that this process works on. It starts at once; what goes wrong before there is an outcome rejects `result`. */
export class RunHandle implements Run {
  #loop: UnderWay | null = null
  #cancelled: string | null = null
  #left: string | null = null
  readonly #result: Promise<RunResult>

  constructor(
    private readonly of: Pick<Retinue, 'engine' | 'store'>,
    readonly run_id: string,
    signal: AbortSignal | undefined,
    start: (started: Started) => Promise<RunResult>,
  ) {
    const onAbort = () => this.cancel(String(signal?.reason ?? 'aborted'))
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    this.#result = start((loop) => {
      this.#loop = loop
      if (this.#cancelled !== null) loop.cancel('caller', this.#cancelled)
      if (this.#left !== null) loop.abandon(this.#left)
    }).finally(() => signal?.removeEventListener('abort', onAbort))
    // Whoever asks for the result gets the error; until then it must not bring the process down.
    this.#result.catch(() => {})
  }

  get engine() {
    return this.of.engine
  }

  result(): Promise<RunResult> {
    return this.#result
  }

  cancel(reason = 'cancelled by the caller'): void {
    this.#cancelled = reason
    this.#loop?.cancel('caller', reason)
  }

  leave(reason: string): void {
    this.#left = reason
    this.#loop?.abandon(reason)
  }

  async *[Symbol.asyncIterator](): AsyncIterator<StoredEvent> {
    const failed = new AbortController()
    this.#result.catch(() => failed.abort())
    yield* this.of.store.follow({ run_id: this.run_id, signal: failed.signal })
    await this.#result
  }
}
