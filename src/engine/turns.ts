import { Line, type Place } from './line.js'

/** One who waits, and what is done when it is its turn. */
export type Waiter = { readonly group: Group; readonly go: () => void; place: Place<Waiter> | null }

export type Group = {
  readonly name: string
  /** How many of it may be at work. */
  limit: number
  /** Those at work, and those for whom room is set aside because they are next of their group to come back. */
  taken: number
  /** Everybody who belongs to it, resting ones included: it is forgotten when nobody does. */
  members: number
  readonly fresh: Line<Waiter>
  /** Those who come back while the group is full. */
  readonly returning: Line<Waiter>
  turn: Place<Group> | null
}

/**
 * Who is next. Those who come back go before those who were never at work, in the order in which they came back, or in
 * which there was room in their group again. Of the others, one of each group goes in turn.
 */
export class Turns {
  readonly #limit: number
  readonly #groups = new Map<string, Group>()
  /** Those who come back and have room in their group. */
  readonly #returning = new Line<Waiter>()
  /** Groups with somebody who was never at work and, when they joined the line, with room. */
  readonly #turns = new Line<Group>()
  #working = 0
  #waiting = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get working(): number {
    return this.#working
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Adds a member to a group. The limit that was said last is the one that counts. */
  enter(name: string, limit?: number): Group {
    const group = this.#groups.get(name) ?? newGroup(name)
    this.#groups.set(name, group)
    group.members += 1
    if (limit !== undefined) group.limit = limit
    return group
  }

  exit(group: Group): void {
    group.members -= 1
    if (group.members === 0) this.#groups.delete(group.name)
  }

  /** Waits for its first turn. */
  arrive(waiter: Waiter): void {
    this.#waiting += 1
    waiter.place = waiter.group.fresh.join(waiter)
    this.#admit(waiter.group)
    this.#next()
  }

  /** Waits to be let in again. */
  comeBack(waiter: Waiter): void {
    this.#waiting += 1
    waiter.place = waiter.group.returning.join(waiter)
    this.#admit(waiter.group)
    this.#next()
  }

  /** Waits no more. */
  leave({ group, place }: Waiter): void {
    const line = place?.line
    if (!place || !line) return
    line.leave(place)
    this.#waiting -= 1
    if (line === this.#returning) {
      group.taken -= 1
      this.#admit(group)
      this.#next()
    } else if (group.fresh.length === 0) this.#leaveTurns(group)
  }

  /** One of the group is no longer at work. */
  free(group: Group): void {
    this.#working -= 1
    group.taken -= 1
    this.#admit(group)
    this.#next()
  }

  /** Lines up what the group has room for. */
  #admit(group: Group): void {
    while (group.taken < group.limit) {
      const waiter = group.returning.shift()
      if (!waiter) break
      group.taken += 1
      waiter.place = this.#returning.join(waiter)
    }
    if (group.turn === null && group.fresh.length > 0 && group.taken < group.limit) group.turn = this.#turns.join(group)
  }

  #next(): void {
    while (this.#working < this.#limit) {
      const waiter = this.#returning.shift() ?? this.#nextFresh()
      if (!waiter) return
      this.#working += 1
      this.#waiting -= 1
      waiter.go()
    }
  }

  #nextFresh(): Waiter | null {
    for (;;) {
      const group = this.#turns.shift()
      if (!group) return null
      group.turn = null
      // A group that was filled by those who came back waits until it has room.
      const waiter = group.taken < group.limit ? group.fresh.shift() : undefined
      if (!waiter) continue
      group.taken += 1
      this.#admit(group)
      return waiter
    }
  }

  #leaveTurns(group: Group): void {
    if (group.turn) this.#turns.leave(group.turn)
    group.turn = null
  }
}

function newGroup(name: string): Group {
  const lines = { fresh: new Line<Waiter>(), returning: new Line<Waiter>() }
  return { name, limit: Number.POSITIVE_INFINITY, taken: 0, members: 0, ...lines, turn: null }
}
