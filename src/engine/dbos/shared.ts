import { setImmediate } from 'node:timers/promises'

/** Those who ask for the same in one turn of the event loop share an answer, which is asked for after all of them. */
export class Shared<T> {
  readonly #asked = new Map<string, Promise<T>>()

  constructor(private readonly ask: (key: string) => Promise<T>) {}

  get(key: string): Promise<T> {
    const known = this.#asked.get(key)
    if (known) return known
    const answer = setImmediate().then(() => {
      this.#asked.delete(key)
      return this.ask(key)
    })
    this.#asked.set(key, answer)
    return answer
  }
}
