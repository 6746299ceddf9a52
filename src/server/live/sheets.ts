import { type StoredEvent, watched } from '../../index.js'

/** A message has no more events than this, and no more characters once it has one. */
export const MOST_EVENTS = 200
const MOST_CHARS = 256_000

/** So many characters of the events of a run are kept for all who watch it. */
const MOST_KEPT_CHARS = 4_000_000

/** Some events of a run that follow each other, as JSON. `last`: the position of the last of them. */
export type Batch = { json: string; last: number }

/** The events of one run as they are sent: written once for all who watch, as long as there is room for them. */
export class Sheets {
  readonly #kept = new Map<number, string>()
  #chars = 0

  add(event: StoredEvent): string {
    const known = this.#kept.get(event.position)
    if (known !== undefined) return known
    const json = JSON.stringify(watched(event))
    this.#kept.set(event.position, json)
    this.#chars += json.length
    for (const [position, oldest] of this.#kept) {
      if (this.#chars <= MOST_KEPT_CHARS || position === event.position) break
      this.#kept.delete(position)
      this.#chars -= oldest.length
    }
    return json
  }

  /** What is kept after a position; null: nothing is. */
  after(position: number): Batch | null {
    return this.#gather(position, (next) => this.#kept.get(next))
  }

  /** `events`: those that come after the position. */
  from(position: number, events: readonly StoredEvent[]): Batch | null {
    return this.#gather(position, (next) => {
      const event = events[next - position - 1]
      return event?.position === next ? this.add(event) : undefined
    })
  }

  /** Positions have no gaps. */
  #gather(position: number, sheet: (next: number) => string | undefined): Batch | null {
    const found: string[] = []
    let chars = 0
    while (found.length < MOST_EVENTS && chars < MOST_CHARS) {
      const json = sheet(position + found.length + 1)
      if (json === undefined) break
      found.push(json)
      chars += json.length
    }
    return found.length === 0 ? null : { json: `[${found.join(',')}]`, last: position + found.length }
  }
}
