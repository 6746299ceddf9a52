/** Streams that are open at once: of all watchers together, and of one principal at one address. */
export const MOST_STREAMS = 200
export const MOST_STREAMS_EACH = 50

/** Room for streams, so that whoever opens them without end keeps nobody else from an answer. */
export class Places {
  readonly #each = new Map<string, number>()
  #taken = 0

  get taken(): number {
    return this.#taken
  }

  /** How the place is given back, or why there is none. */
  take(who: string): { ok: true; give_back: () => void } | { ok: false; message: string } {
    const theirs = this.#each.get(who) ?? 0
    if (theirs >= MOST_STREAMS_EACH) return { ok: false, message: full(`You have ${theirs} streams open`) }
    if (this.#taken >= MOST_STREAMS) return { ok: false, message: full(`${this.#taken} streams are open`) }
    this.#each.set(who, theirs + 1)
    this.#taken += 1
    let given_back = false
    const give_back = () => {
      if (given_back) return
      given_back = true
      this.#taken -= 1
      const left = (this.#each.get(who) ?? 1) - 1
      if (left === 0) this.#each.delete(who)
      else this.#each.set(who, left)
    }
    return { ok: true, give_back }
  }
}

function full(open: string): string {
  return `${open}, and there is room for no more: close windows that nobody looks at, then try again.`
}
