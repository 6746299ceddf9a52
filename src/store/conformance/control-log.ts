import { describe, expect, it } from 'vitest'
import type { NewControlEvent } from '../../domain/index.js'
import { controlDigest } from '../digest.js'
import type { Store } from '../store.js'
import { AT, begin, commanded } from './fixtures.js'
import type { Open } from './open.js'

export function controlLogSuite(open: Open): void {
  describe('the control log', () => {
    const positions = async (store: Store, query?: Parameters<Store['readControl']>[0]) =>
      (await store.readControl(query)).map(({ position }) => position)

    it('is empty at first, and whole', async () => {
      const { store } = await open()
      expect(await store.readControl()).toEqual([])
      expect(await store.appendControl([])).toEqual([])
      expect(await store.verifyControl()).toBeNull()
    })

    it('has the events in the order in which they were given, chained from first to last', async () => {
      const { store } = await open()
      const [one, two, three] = [commanded('one', AT + 2), commanded('two', AT), commanded('three', AT + 1)]
      const [first, second] = await Promise.all([store.appendControl([one]), store.appendControl([two, three])])
      const a = controlDigest('', one, JSON.stringify(one.data))
      const b = controlDigest(a, two, JSON.stringify(two.data))
      const c = controlDigest(b, three, JSON.stringify(three.data))
      const stored = [
        { ...one, position: 1, digest: a },
        { ...two, position: 2, digest: b },
        { ...three, position: 3, digest: c },
      ]
      expect([...first, ...second]).toEqual(stored)
      expect(await store.readControl()).toEqual(stored)
      expect(await store.verifyControl()).toBeNull()
    })

    it('is read after a position, and from its end', async () => {
      const { store } = await open()
      await store.appendControl(['1', '2', '3', '4', '5'].map((given) => commanded(given)))
      expect(await positions(store, {})).toEqual([1, 2, 3, 4, 5])
      expect(await positions(store, { after: 2 })).toEqual([3, 4, 5])
      expect(await positions(store, { last: 2 })).toEqual([4, 5])
      expect(await positions(store, { last: 9 })).toEqual([1, 2, 3, 4, 5])
      expect(await positions(store, { after: 4, last: 3 })).toEqual([5])
      expect(await positions(store, { last: 0 })).toEqual([])
      expect(await positions(store, { last: -1 })).toEqual([])
      expect(await positions(store, { after: 5 })).toEqual([])
    })

    it('keeps what was handed over, whatever becomes of it afterwards', async () => {
      const { store } = await open()
      const given = commanded('@writer --user')
      const appended = store.appendControl([given])
      given.data.arguments = '@writer --global'
      const [event] = await appended
      expect(event?.data.arguments).toBe('@writer --user')
      if (event) event.data.principal = 'nobody'
      expect(await store.readControl()).toMatchObject([{ data: { arguments: '@writer --user', principal: 'anna' } }])
    })

    it('has requests and results of commands', async () => {
      const { store } = await open()
      const { outcome, message, ...asked } = commanded('@writer').data
      const given = [
        { ...commanded('x'), type: 'control.command_requested', data: { ...asked, request_id: 'q1' } },
        { ...commanded('x'), data: { ...asked, request_id: 'q1', outcome, message } },
      ] as const
      await store.appendControl(given)
      expect(await store.readControl()).toMatchObject(given)
      const nameless = { ...given[0], data: asked } as unknown as NewControlEvent
      await expect(store.appendControl([nameless])).rejects.toThrow('not known to the control log')
    })

    it('takes all of a batch or nothing, and nothing that it could not read again', async () => {
      const { store } = await open()
      const wrong = [
        { ...commanded('x'), version: 2 },
        { ...commanded('x'), type: 'control.invented' },
        { ...commanded('x'), data: { command: 'agents pin' } },
      ] as unknown as NewControlEvent[]
      for (const event of wrong) {
        await expect(store.appendControl([commanded('a'), event])).rejects.toThrow('not known to the control log')
      }
      expect(await store.readControl()).toEqual([])
      expect(await store.appendControl([commanded('b')])).toMatchObject([{ position: 1 }])
    })

    it('stands beside the logs of runs', async () => {
      const { store } = await open()
      await Promise.all([begin(store, 'run'), store.appendControl([commanded('a')])])
      expect(await positions(store)).toEqual([1])
      expect((await store.read({ run_id: 'run' })).map(({ position }) => position)).toEqual([1, 2])
      expect([await store.verify('run'), await store.verifyControl()]).toEqual([null, null])
    })

    it('is there again when the store is opened anew, and goes on', async (context) => {
      const { store, reopen } = await open()
      if (!reopen) return context.skip('this store does not outlive its process')
      const before = await store.appendControl([commanded('a'), commanded('b')])
      await store.close()
      const again = await reopen()
      expect(await again.readControl()).toEqual(before)
      expect(await again.appendControl([commanded('c')])).toMatchObject([{ position: 3 }])
      expect(await again.verifyControl()).toBeNull()
    })

    it('is one log for everybody who has it open', async (context) => {
      const { store, reopen } = await open()
      if (!reopen) return context.skip('this store has no second opening')
      const other = await reopen()
      const rounds = Array.from({ length: 20 }, (_, i) => `${i}`)
      await Promise.all(rounds.flatMap((i) => [store, other].map((each) => each.appendControl([commanded(i)]))))
      expect(await positions(store)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
      expect(await other.verifyControl()).toBeNull()
    })

    it('is closed with the store', async () => {
      const { store } = await open()
      await store.close()
      await expect(store.appendControl([commanded('a')])).rejects.toThrow('The store is closed.')
      await expect(store.readControl()).rejects.toThrow('The store is closed.')
      await expect(store.verifyControl()).rejects.toThrow('The store is closed.')
    })
  })
}
