/** Somebody's place in a line. */
export type Place<T> = { readonly value: T; line: Line<T> | null; before: Place<T> | null; after: Place<T> | null }

/** A line in which people stand one behind the other, and which anybody may leave. Every operation takes the same time. */
export class Line<T> {
  #first: Place<T> | null = null
  #last: Place<T> | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  join(value: T): Place<T> {
    const place: Place<T> = { value, line: this, before: this.#last, after: null }
    if (this.#last) this.#last.after = place
    else this.#first = place
    this.#last = place
    this.#length += 1
    return place
  }

  /** The first of the line, who leaves it. */
  shift(): T | undefined {
    const first = this.#first
    if (first) this.leave(first)
    return first?.value
  }

  /** Does nothing for one who has left already. */
  leave(place: Place<T>): void {
    if (place.line !== this) return
    if (place.before) place.before.after = place.after
    else this.#first = place.after
    if (place.after) place.after.before = place.before
    else this.#last = place.before
    place.line = null
    this.#length -= 1
  }
}
