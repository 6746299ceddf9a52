import { Aborts } from './aborts.js'
import { type Group, Turns, type Waiter } from './turns.js'

/** The right to be at work. */
export type Slot = {
  /** Gives it back for good. A second time does nothing. */
  release(): void
  /**
   * Gives it back while it waits, and has one again before it returns or throws. Of several rests at once only the last
   * to end has one again, because before that the owner still waits. After a release, also one during the rest, none
   * is taken.
   */
  rest<T>(wait: () => Promise<T>): Promise<T>
  /** Lets those of its group go first that come back and have none. Has it again when it resolves. */
  giveWay(): Promise<void>
}

/** `again`: it was at work before, and comes back. */
type SlotOptions = { group_limit?: number; signal?: AbortSignal; again?: boolean }

/** A limit on how many agents work at once, fair between groups: the sub-agents of different parents. */
export class Slots {
  readonly #turns: Turns
  readonly #aborts = new Aborts()

  constructor(limit: number) {
    this.#turns = new Turns(limit)
  }

  get working(): number {
    return this.#turns.working
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  /** null: the signal aborted before there was one. The signal is not heard any more once there is. */
  acquire(group: string, { group_limit, signal, again = false }: SlotOptions = {}): Promise<Slot | null> {
    if (signal?.aborted) return Promise.resolve(null)
    return new Promise((resolve) => {
      const joined = this.#turns.enter(group, group_limit)
      let deaf = () => {}
      const go = () => {
        deaf()
        resolve(new HeldSlot(this.#turns, joined))
      }
      const waiter: Waiter = { group: joined, go, place: null }
      const leave = () => {
        deaf()
        this.#turns.leave(waiter)
        this.#turns.exit(joined)
        resolve(null)
      }
      if (signal) deaf = this.#aborts.on(signal, leave)
      if (again) this.#turns.comeBack(waiter)
      else this.#turns.arrive(waiter)
    })
  }
}

class HeldSlot implements Slot {
  #where: 'at_work' | 'away' | 'returning' | 'gone' = 'at_work'
  #rests = 0
  #stopReturning = () => {}

  constructor(
    private readonly turns: Turns,
    private readonly group: Group,
  ) {}

  release(): void {
    if (this.#where === 'gone') return
    this.#stepOut()
    this.#where = 'gone'
    this.turns.exit(this.group)
  }

  async rest<T>(wait: () => Promise<T>): Promise<T> {
    this.#rests += 1
    this.#stepOut()
    try {
      return await wait()
    } finally {
      this.#rests -= 1
      if (this.#rests === 0 && this.#where === 'away') await this.#comeBack()
    }
  }

  async giveWay(): Promise<void> {
    if (this.group.returning.length > 0) await this.rest(async () => {})
  }

  #stepOut(): void {
    const { turns, group } = this
    if (this.#where === 'returning') this.#stopReturning()
    if (this.#where !== 'at_work') return
    this.#where = 'away'
    turns.free(group)
  }

  #comeBack(): Promise<void> {
    const { turns, group } = this
    this.#where = 'returning'
    return new Promise((resolve) => {
      const go = () => {
        this.#where = 'at_work'
        resolve()
      }
      const waiter: Waiter = { group, go, place: null }
      this.#stopReturning = () => {
        this.#where = 'away'
        turns.leave(waiter)
        resolve()
      }
      turns.comeBack(waiter)
    })
  }
}
