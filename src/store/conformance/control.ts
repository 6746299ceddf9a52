import { describe, expect, it } from 'vitest'
import type { Lease, Store } from '../store.js'
import { agentFinished, begin, closed, taken } from './fixtures.js'
import type { Open } from './open.js'

export function controlSuite(open: Open): void {
  leaseSuite(open)
  signalSuite(open)
  recordSuite(open)
}

function leaseSuite(open: Open): void {
  describe('leases', () => {
    const agent = { run_id: 'run', agent_id: 'root' }

    it('open a stream with epoch 1 for the first who asks', async () => {
      const { store } = await open()
      expect(await store.lease('run', 'root')).toBeNull()
      expect(await store.acquire({ ...agent, owner: 'a', ttl_ms: 1000, seen_epoch: 3 })).toBeNull()
      const requests = ['a', 'b'].map((owner) => store.acquire({ ...agent, owner, ttl_ms: 1000, seen_epoch: 0 }))
      const [lease, late] = await Promise.all(requests)
      expect(lease).toMatchObject({ ...agent, owner: 'a', epoch: 1 })
      expect(late).toBeNull()
      expect(await store.lease('run', 'root')).toEqual(lease)
    })

    it('go to whoever saw the latest epoch, once', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const requests = ['a', 'b'].map((owner) => store.acquire({ ...agent, owner, ttl_ms: 1000, seen_epoch: 1 }))
      expect((await Promise.all(requests)).map((lease) => lease?.owner)).toEqual(['a', undefined])
      expect(await store.lease('run', 'root')).toMatchObject({ owner: 'a', epoch: 2 })
    })

    it('are renewed and released by their owner only', async () => {
      const { store } = await open()
      const first = (await store.acquire({ ...agent, owner: 'a', ttl_ms: 1000, seen_epoch: 0 })) as Lease
      expect(await store.renew(first, 60_000)).toBe(true)
      const renewed = (await store.lease('run', 'root')) as Lease
      expect(renewed.expires_at).toBeGreaterThan(first.expires_at + 50_000)
      const second = (await store.acquire({ ...agent, owner: 'b', ttl_ms: 1000, seen_epoch: 1 })) as Lease
      expect(await store.renew(first, 60_000)).toBe(false)
      expect(await store.renew({ ...second, owner: 'a' }, 60_000)).toBe(false)
      await store.release(first)
      expect(await store.lease('run', 'root')).toEqual(second)
      await store.release(second)
      expect(await store.lease('run', 'root')).toEqual({ ...second, expires_at: 0 })
      // A renewal that was under way when it was let go of comes too late.
      expect(await store.renew(second, 60_000)).toBe(false)
      expect(await store.lease('run', 'root')).toEqual({ ...second, expires_at: 0 })
    })
  })
}

function signalSuite(open: Open): void {
  describe('signals', () => {
    it('are read in order, of one run or of all, after the last one that was seen', async () => {
      const { store } = await open()
      const send = (run_id: string, data: unknown) => store.signal({ run_id, kind: 'answer', data, by: 'anna' })
      const [one, two, three] = await Promise.all([send('r1', { ok: true }), send('r2', null), send('r1', [1, 'x'])])
      expect(one).toMatchObject({ run_id: 'r1', kind: 'answer', data: { ok: true }, by: 'anna' })
      expect(await store.signals({ after: 0 })).toEqual([one, two, three])
      expect(await store.signals({ run_id: 'r1', after: 0 })).toEqual([one, three])
      expect(await store.signals({ run_id: 'r1', after: one.id })).toEqual([three])
      expect(await store.signals({ after: three.id })).toEqual([])
      expect(await store.lastSignal()).toBe(three.id)
    })

    it('are gone when their run is closed, and their ids are not used again', async () => {
      const { store } = await open()
      expect(await store.lastSignal()).toBe(0)
      const send = (run_id: string) => store.signal({ run_id, kind: 'answer', data: null, by: 'anna' })
      await begin(store, 'run')
      const other = await send('other')
      const last = await send('run')
      const root = { run_id: 'run', agent_id: 'root', epoch: 1 }
      await taken(store, { ...root, expected_seq: 2, events: [agentFinished('done')] })
      expect(await store.signals({ after: 0 })).toEqual([other, last])
      await taken(store, { ...root, expected_seq: 3, events: [closed()] })
      expect(await store.signals({ after: 0 })).toEqual([other])
      expect(await store.signals({ run_id: 'run', after: 0 })).toEqual([])
      expect((await send('other')).id).toBeGreaterThan(last.id)
    })
  })
}

function recordSuite(open: Open): void {
  describe('records', () => {
    const key = { type: 'pin', id: 'user:anna' }
    const put = (store: Store, value: unknown, expected_version: number) =>
      store.putRecord({ ...key, value, by: 'anna', expected_version })
    const remove = (store: Store, expected_version: number) =>
      store.deleteRecord({ ...key, by: 'bert', expected_version })

    it('are changed only by those who saw the current version', async () => {
      const { store } = await open()
      expect(await store.record('pin', 'user:anna')).toBeNull()
      expect(await put(store, { profile: 'a' }, 1)).toEqual({ ok: false, code: 'version_mismatch', current: 0 })
      const results = await Promise.all([put(store, { profile: 'a' }, 0), put(store, { profile: 'b' }, 0)])
      expect(results).toMatchObject([
        { ok: true, record: { ...key, version: 1, value: { profile: 'a' }, by: 'anna' } },
        { ok: false, code: 'version_mismatch', current: 1 },
      ])
      expect(await put(store, { profile: 'c' }, 1)).toMatchObject({ ok: true, record: { version: 2 } })
      expect(await remove(store, 1)).toEqual({ ok: false, code: 'version_mismatch', current: 2 })
      expect(await store.record('pin', 'user:anna')).toMatchObject({ version: 2, value: { profile: 'c' } })
    })

    it('keep their history through a deletion and go on counting after it', async () => {
      const { store } = await open()
      await put(store, 'a', 0)
      expect(await remove(store, 1)).toMatchObject({ ok: true, record: { version: 2, value: null, by: 'bert' } })
      expect(await store.record('pin', 'user:anna')).toBeNull()
      expect(await remove(store, 0)).toEqual({ ok: false, code: 'version_mismatch', current: 0 })
      expect(await put(store, 'b', 2)).toEqual({ ok: false, code: 'version_mismatch', current: 0 })
      expect(await put(store, 'b', 0)).toMatchObject({ ok: true, record: { version: 3 } })
      expect((await store.recordHistory('pin', 'user:anna')).map(({ version, value }) => [version, value])).toEqual([
        [1, 'a'],
        [2, null],
        [3, 'b'],
      ])
    })

    it('are listed by type, in the order of their ids', async () => {
      const { store } = await open()
      for (const id of ['b', 'a', 'c']) await store.putRecord({ ...key, id, value: id, by: 'x', expected_version: 0 })
      await store.putRecord({ type: 'agent', id: 'd', value: 'd', by: 'x', expected_version: 0 })
      await store.deleteRecord({ ...key, id: 'c', by: 'x', expected_version: 1 })
      expect((await store.records('pin')).map(({ id }) => id)).toEqual(['a', 'b'])
      expect(await store.records('nothing')).toEqual([])
      expect(await store.recordHistory('pin', 'z')).toEqual([])
    })
  })
}
