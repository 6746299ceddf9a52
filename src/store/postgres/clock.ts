/** Below this a difference may come from the way to the server and back. */
const NOTICED_MS = 1000

/**
 * The server's clock, by which the times of leases and signals are stored: the clocks of the machines that share it may differ. What
 * is read is converted to the clock of this machine, so that whoever compares it with that needs to know nothing of the
 * other. The difference is measured on opening and whenever the server says its time; it stays the same as long as the
 * clocks do, so that a lease is always shown with the same time.
 */
export class ServerClock {
  #ahead_ms = 0

  constructor(readonly clock: { now(): number }) {}

  /** The server has said what its time is. */
  heard(now: number): void {
    const ahead_ms = this.clock.now() - now
    if (Math.abs(ahead_ms - this.#ahead_ms) > NOTICED_MS) this.#ahead_ms = ahead_ms
  }

  /** A time of the server by this machine's clock. 0 is no time: it stands for a lease that was let go. */
  ours(at: number): number {
    return at === 0 ? 0 : at + this.#ahead_ms
  }
}
