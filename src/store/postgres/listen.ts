import type { Client, Connections } from './connections.js'
import { notified } from './notify.js'

type Heard = { told: (run_ids: readonly string[] | null) => void; listening: () => void }

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000

/** A connection of its own that hears of appends, from the first who asks up to the end; made anew when it breaks. */
export class Listener {
  #heard: Heard | null = null
  #client: Client | null = null
  #closed = false

  constructor(
    readonly connections: Connections,
    readonly connect: () => Client,
    readonly channel: string,
    /** Who this is: what it sends itself is known here already. */
    readonly sender: string,
  ) {}

  listen(heard: Heard): void {
    if (this.#heard || this.#closed) return
    this.#heard = heard
    void this.#keep(heard)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#client?.end().catch(() => {})
  }

  async #keep(heard: Heard): Promise<void> {
    let pause = FIRST_PAUSE_MS
    while (!this.#closed) {
      // Whoever follows does not depend on it: they look from time to time, and are told there what is wrong.
      const listened = await this.#listen(heard).catch(() => false)
      pause = listened ? FIRST_PAUSE_MS : Math.min(2 * pause, LONGEST_PAUSE_MS)
      if (!this.#closed) await this.connections.pause(pause)
    }
  }

  /** Up to the end of the connection; false: it did not come that far. */
  async #listen({ told, listening }: Heard): Promise<boolean> {
    const client = this.connect()
    this.#client = client
    const ended = new Promise<void>((resolve) => {
      client.on('end', resolve)
      client.on('error', () => resolve())
    })
    client.on('notification', ({ payload = '' }) => {
      const { sender, run_ids } = notified(payload)
      if (sender !== this.sender) told(run_ids)
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${this.channel}`)
      listening()
      await ended
      return true
    } finally {
      await client.end().catch(() => {})
    }
  }
}
