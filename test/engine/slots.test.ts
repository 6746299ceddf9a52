import { describe, expect, it, onTestFinished } from 'vitest'
import { type Slot, Slots } from '../../src/engine/slots.js'

/** After everything that can go on by itself has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Asks for slots and notes who got one, in order. */
function queue(slots: Slots) {
  const order: string[] = []
  const held = new Map<string, Slot>()
  return {
    order,
    ask(name: string, options: Parameters<Slots['acquire']>[1] = {}, group = name[0] ?? ''): void {
      void slots.acquire(group, options).then((slot) => {
        order.push(slot ? name : `not ${name}`)
        if (slot) held.set(name, slot)
      })
    },
    slot(name: string): Slot {
      const slot = held.get(name)
      if (!slot) throw new Error(`${name} has no slot`)
      return slot
    },
    /** One after the other, until nobody is at work who has not been released. */
    async drain(): Promise<string[]> {
      await settled()
      for (let i = 0; i < order.length; i++) {
        held.get(order[i] ?? '')?.release()
        await settled()
      }
      return order
    },
  }
}

/** A wait that ends when it is told to. */
function bell() {
  let ring = () => {}
  let fail = (_: Error) => {}
  const rung = new Promise<void>((resolve, reject) => {
    ring = resolve
    fail = reject
  })
  return { wait: () => rung, ring: () => ring(), fail: (error: Error) => fail(error) }
}

describe('slots', () => {
  it('let no more work at once than there are, in the order in which they came', async () => {
    const slots = new Slots(2)
    const line = queue(slots)
    for (const name of ['a1', 'a2', 'a3', 'a4']) line.ask(name)
    await settled()
    expect([line.order, slots.working, slots.waiting]).toEqual([['a1', 'a2'], 2, 2])
    line.slot('a2').release()
    line.slot('a2').release()
    await settled()
    expect([line.order, slots.working, slots.waiting]).toEqual([['a1', 'a2', 'a3'], 2, 1])
    await line.drain()
    expect([line.order, slots.working, slots.waiting]).toEqual([['a1', 'a2', 'a3', 'a4'], 0, 0])
  })

  it('go round the groups, however many wait in one', async () => {
    const line = queue(new Slots(1))
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) line.ask(name)
    expect(await line.drain()).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it('let a group that comes late have the next turn after those before it had theirs', async () => {
    const line = queue(new Slots(1))
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) line.ask(name)
    await settled()
    line.ask('c1')
    expect(await line.drain()).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  })

  it('let no more of a group work than it may, and others go past it meanwhile', async () => {
    const slots = new Slots(4)
    const line = queue(slots)
    for (const name of ['a1', 'a2', 'a3', 'a4']) line.ask(name, { group_limit: 2 })
    for (const name of ['b1', 'b2', 'b3']) line.ask(name)
    await settled()
    expect([line.order, slots.waiting]).toEqual([['a1', 'a2', 'b1', 'b2'], 3])
    line.slot('b1').release()
    await settled()
    expect(line.order.slice(4)).toEqual(['b3'])
    line.slot('b2').release()
    await settled()
    expect([slots.working, slots.waiting]).toEqual([3, 2])
    line.slot('a2').release()
    await settled()
    expect(line.order.slice(5)).toEqual(['a3'])
  })

  it('take the limit of a group that was said last', async () => {
    const slots = new Slots(9)
    const line = queue(slots)
    for (const name of ['a1', 'a2', 'a3']) line.ask(name, { group_limit: 1 })
    await settled()
    expect(line.order).toEqual(['a1'])
    line.ask('a4', { group_limit: 3 })
    await settled()
    expect(line.order).toEqual(['a1', 'a2', 'a3'])
  })

  it('forget a group, and what it may, with the last who belongs to it', async () => {
    const slots = new Slots(9)
    const line = queue(slots)
    const controller = new AbortController()
    const { signal } = controller
    line.ask('a1', { group_limit: 1 })
    line.ask('a2', { signal })
    await settled()
    const children = bell()
    const rested = line.slot('a1').rest(children.wait)
    await settled()
    line.slot('a2').release()
    for (const name of ['a3', 'a4']) line.ask(name, { signal })
    await settled()
    // One who rests still belongs to it.
    expect([line.order, slots.waiting]).toEqual([['a1', 'a2', 'a3'], 1])
    controller.abort()
    line.slot('a3').release()
    children.ring()
    await rested
    line.slot('a1').release()
    for (const name of ['a5', 'a6']) line.ask(name)
    await settled()
    expect(line.order.slice(3)).toEqual(['not a4', 'a5', 'a6'])
  })

  it('count one who is released twice once', async () => {
    const slots = new Slots(9)
    const line = queue(slots)
    for (const name of ['a1', 'a2']) line.ask(name, { group_limit: 2 })
    await settled()
    line.slot('a1').release()
    line.slot('a1').release()
    for (const name of ['a3', 'a4']) line.ask(name, { group_limit: 2 })
    await settled()
    expect([line.order, slots.working, slots.waiting]).toEqual([['a1', 'a2', 'a3'], 2, 1])
  })

  it('keep no place for a group whose last left the line', async () => {
    const line = queue(new Slots(2))
    const controller = new AbortController()
    line.ask('a1')
    line.ask('b1')
    line.ask('b2', { signal: controller.signal })
    line.ask('c1')
    controller.abort()
    line.ask('b3')
    await settled()
    line.slot('a1').release()
    await settled()
    expect(line.order).toEqual(['a1', 'b1', 'not b2', 'c1'])
  })

  it('are somebody else’s while their owner rests, and have its result for it', async () => {
    const slots = new Slots(1)
    const line = queue(slots)
    line.ask('a1')
    line.ask('b1')
    await settled()
    const children = bell()
    const rested = line.slot('a1').rest(async () => {
      await children.wait()
      return 'done'
    })
    await settled()
    expect(line.order).toEqual(['a1', 'b1'])
    children.ring()
    await settled()
    expect([slots.working, slots.waiting]).toEqual([1, 1])
    line.slot('b1').release()
    expect(await rested).toBe('done')
    expect([slots.working, slots.waiting]).toEqual([1, 0])
  })

  it('are had again also when what was waited for failed', async () => {
    const slots = new Slots(1)
    const line = queue(slots)
    line.ask('a1')
    line.ask('b1')
    await settled()
    const children = bell()
    const rested = line.slot('a1').rest(children.wait)
    const failed = expect(rested.finally(() => line.order.push('a1 again'))).rejects.toThrow('broken')
    children.fail(new Error('broken'))
    await settled()
    expect(line.order).toEqual(['a1', 'b1'])
    line.slot('b1').release()
    await failed
    expect([line.order, slots.working]).toEqual([['a1', 'b1', 'a1 again'], 1])
  })

  it('go to those who come back first, in their order, and to the others then', async () => {
    const slots = new Slots(3)
    const line = queue(slots)
    for (const name of ['a1', 'b1', 'c1']) line.ask(name)
    await settled()
    const bells = new Map(['a1', 'b1', 'c1'].map((name) => [name, bell()]))
    for (const [name, { wait }] of bells) {
      const slot = line.slot(name)
      void slot.rest(wait).then(() => {
        line.order.push(`${name} again`)
        slot.release()
      })
    }
    for (const name of ['d1', 'd2', 'd3', 'd4']) line.ask(name)
    await settled()
    expect(line.order).toEqual(['a1', 'b1', 'c1', 'd1', 'd2', 'd3'])
    for (const name of ['c1', 'a1', 'b1']) {
      bells.get(name)?.ring()
      await settled()
    }
    line.slot('d2').release()
    await settled()
    expect(line.order.slice(6)).toEqual(['c1 again', 'a1 again', 'b1 again', 'd4'])
  })

  it('are not given to one who comes back to a full group, and go past it meanwhile', async () => {
    const slots = new Slots(2)
    const line = queue(slots)
    line.ask('a1', { group_limit: 1 })
    line.ask('a2', { group_limit: 1 })
    line.ask('b1')
    await settled()
    const children = bell()
    void line
      .slot('a1')
      .rest(children.wait)
      .then(() => line.order.push('a1 again'))
    await settled()
    line.ask('b2')
    children.ring()
    await settled()
    expect([line.order, slots.working, slots.waiting]).toEqual([['a1', 'b1', 'a2'], 2, 2])
    line.slot('b1').release()
    await settled()
    expect([line.order.slice(3), slots.waiting]).toEqual([['b2'], 1])
    line.ask('a3')
    line.slot('a2').release()
    await settled()
    expect([line.order.slice(4), slots.waiting]).toEqual([['a1 again'], 1])
    line.slot('a1').release()
    await settled()
    expect(line.order.slice(5)).toEqual(['a3'])
  })

  it('let a tree that is deeper than the limit come to its end', async () => {
    const slots = new Slots(1)
    const work = async (name: string, depth: number): Promise<number> => {
      const slot = await slots.acquire(name)
      if (!slot) throw new Error('nobody aborts')
      const below =
        depth === 0
          ? []
          : await slot.rest(() => Promise.all(['x', 'y', 'z'].map((child) => work(name + child, depth - 1))))
      expect(slots.working).toBe(1)
      slot.release()
      return below.reduce((sum, more) => sum + more, 1)
    }
    expect(await work('', 4)).toBe(121)
    expect([slots.working, slots.waiting]).toEqual([0, 0])
  })

  it('are had again after several rests at once when the last of them ends', async () => {
    const slots = new Slots(1)
    const line = queue(slots)
    line.ask('a1')
    line.ask('b1')
    await settled()
    const slot = line.slot('a1')
    const [first, second, third] = [bell(), bell(), bell()]
    const ended: string[] = []
    for (const [name, { wait }] of Object.entries({ first, second })) void slot.rest(wait).then(() => ended.push(name))
    first.ring()
    await settled()
    expect([ended, slots.waiting]).toEqual([['first'], 0])
    second.ring()
    await settled()
    expect([ended, slots.waiting]).toEqual([['first'], 1])
    // It waits to come back, and has to wait for something else now.
    void slot.rest(third.wait).then(() => ended.push('third'))
    await settled()
    expect([ended, slots.waiting]).toEqual([['first', 'second'], 0])
    line.slot('b1').release()
    await settled()
    expect(slots.working).toBe(0)
    third.ring()
    await settled()
    expect([ended, slots.working]).toEqual([['first', 'second', 'third'], 1])
  })

  it('are not taken back when they were released during the rest or on the way back', async () => {
    const slots = new Slots(1)
    const line = queue(slots)
    line.ask('a1')
    await settled()
    const resting = bell()
    const abandoned = line.slot('a1').rest(resting.wait)
    line.slot('a1').release()
    line.ask('a2')
    await settled()
    expect(line.order).toEqual(['a1', 'a2'])
    resting.ring()
    await abandoned
    expect([slots.working, slots.waiting]).toEqual([1, 0])

    const returning = bell()
    const given = line.slot('a2').rest(returning.wait)
    line.ask('b1')
    returning.ring()
    await settled()
    expect([slots.working, slots.waiting]).toEqual([1, 1])
    line.slot('a2').release()
    await given
    expect([slots.working, slots.waiting]).toEqual([1, 0])
    await line.slot('a2').rest(async () => {})
    line.slot('b1').release()
    expect([slots.working, slots.waiting]).toEqual([0, 0])
  })

  it('let those behind go on when one of a full group gives up on its way back', async () => {
    const slots = new Slots(3)
    const line = queue(slots)
    for (const name of ['a1', 'a2']) line.ask(name, { group_limit: 2 })
    await settled()
    const bells = [bell(), bell()]
    for (const [i, name] of ['a1', 'a2'].entries()) {
      const { wait } = bells[i] ?? bell()
      void line
        .slot(name)
        .rest(wait)
        .then(() => line.order.push(`${name} again`))
    }
    for (const name of ['b1', 'b2', 'b3']) line.ask(name)
    await settled()
    for (const { ring } of bells) ring()
    line.ask('a3')
    await settled()
    expect([line.order.slice(2), slots.waiting]).toEqual([['b1', 'b2', 'b3'], 3])
    for (const name of ['a1', 'b1', 'b2']) {
      line.slot(name).release()
      await settled()
    }
    expect([line.order.slice(5), slots.waiting]).toEqual([['a1 again', 'a2 again', 'a3'], 0])
  })

  it('are not waited for any more after an abort, and nothing is left of those who waited', async () => {
    const slots = new Slots(1)
    const line = queue(slots)
    const [one, other] = [new AbortController(), new AbortController()]
    line.ask('a1', { signal: one.signal })
    for (const name of ['b1', 'b2', 'c1']) line.ask(name, { signal: one.signal })
    line.ask('b3', { signal: other.signal })
    await settled()
    one.abort()
    await settled()
    expect([line.order, slots.working, slots.waiting]).toEqual([['a1', 'not b1', 'not b2', 'not c1'], 1, 1])
    line.ask('d1', { signal: one.signal })
    line.ask('e1')
    await settled()
    expect(line.order.slice(4)).toEqual(['not d1'])
    line.slot('a1').release()
    await settled()
    expect(line.order.slice(5)).toEqual(['b3'])
    other.abort()
    await settled()
    expect([slots.working, slots.waiting]).toEqual([1, 1])
    line.slot('b3').release()
    await settled()
    expect(line.order.slice(6)).toEqual(['e1'])
  })

  it('work with ten thousand who wait in a thousand groups under one signal, without a warning', async () => {
    const warnings: Error[] = []
    const warned = (warning: Error) => warnings.push(warning)
    process.on('warning', warned)
    onTestFinished(() => {
      process.off('warning', warned)
    })
    const slots = new Slots(50)
    const { signal } = new AbortController()
    const served: number[] = []
    let most = 0
    await Promise.all(
      Array.from({ length: 10_000 }, async (_, i) => {
        const slot = await slots.acquire(`group ${Math.floor(i / 10)}`, { group_limit: 5, signal })
        served.push(i)
        most = Math.max(most, slots.working)
        await settled()
        slot?.release()
      }),
    )
    await settled()
    expect([most, slots.working, slots.waiting, warnings]).toEqual([50, 0, 0, []])
    // Of the first ten groups five each were at work at once. Then each of the others has its turn.
    const groups = served.slice(50, 1040).map((i) => Math.floor(i / 10))
    expect(groups).toEqual(Array.from({ length: 990 }, (_, i) => i + 10))
    expect(new Set(served).size).toBe(10_000)
  })
})
