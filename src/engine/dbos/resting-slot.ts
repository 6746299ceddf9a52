import type { AgentLoop, Slot } from '../../runtime/index.js'

/** So long an agent waits here before it is let go of: what it waits for is often over sooner than it could come back. */
const REST_AFTER_MS = 150

/**
 * The place of an agent on a worker. Who waits for others keeps none: it is let go of, and whoever it waits for has it
 * taken up again, here or elsewhere.
 */
export class RestingSlot implements Slot {
  #rests = 0
  #timer: NodeJS.Timeout | null = null
  /** Whether it was let go of because it rests. */
  parked = false
  /** The last word that it can have heard by then. */
  heard = 0
  /** Its sub-agents of which it knows that they have ended, and which have to wait for others. */
  settled: readonly string[] = []
  /** How long it had left then. null: no time of its own passes while it rests. */
  time_left_ms: number | null = null

  constructor(
    private readonly loop: AgentLoop,
    private readonly lastWord: () => number,
    /** Whether those that it waits for are given to the workers, and what they said to it before is heard. */
    private readonly isSettled: () => boolean,
  ) {}

  release(): void {
    this.#stop()
  }

  async rest<T>(wait: () => Promise<T>): Promise<T> {
    this.#rests += 1
    this.#timer ??= setInterval(() => void this.#look(), REST_AFTER_MS)
    try {
      return await wait()
    } finally {
      this.#rests -= 1
      if (this.#rests === 0) this.#stop()
    }
  }

  async #look(): Promise<void> {
    if (!this.isSettled()) return
    const heard = this.lastWord()
    const { settled } = this.loop
    const { time_left_ms } = this.loop
    // What keeps it from being let go of is met by the loop itself.
    const parked = await this.loop.park('it rests').catch(() => false)
    if (!parked) return
    this.parked = true
    this.heard = heard
    this.settled = settled
    this.time_left_ms = time_left_ms
    this.#stop()
  }

  #stop(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }
}
