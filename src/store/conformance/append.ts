import { describe, expect, it } from 'vitest'
import { blobDigest, eventDigest } from '../digest.js'
import type { Append, EventQuery } from '../store.js'
import {
  begin,
  beginChild,
  called,
  claim,
  closed,
  created,
  eventsOf,
  finished,
  started,
  subAgent,
  subAgentStarted,
  taken,
} from './fixtures.js'
import type { Open } from './open.js'

export function appendSuite(open: Open): void {
  describe('append', () => {
    const next = (expected_seq: number, more: Partial<Append> = {}): Append => {
      const events = [called(`c${expected_seq}`), finished(`c${expected_seq}`)]
      return { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq, events, ...more }
    }

    it('places events in the order they were given and reads them back as they are', async () => {
      const { store } = await open()
      const first = await begin(store, 'run')
      const second = await taken(store, next(2))
      expect([...first, ...second].map(({ type, seq, position }) => [type, seq, position])).toEqual([
        ['run.created', 1, 1],
        ['agent.started', 2, 2],
        ['tool.called', 3, 3],
        ['tool.finished', 4, 4],
      ])
      expect(await store.read({ run_id: 'run' })).toEqual([...first, ...second])
    })

    it('reads one agent, after a position or an event of its own, up to a limit', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await beginChild(store, 'run', 'child')
      await taken(store, next(2))
      await taken(store, next(1, { agent_id: 'child' }))
      const run_id = 'run'
      const positions = async (query: EventQuery) => (await store.read(query)).map((event) => event.position)
      expect(await positions({ run_id, agent_id: 'root' })).toEqual([1, 2, 4, 5])
      expect(await positions({ run_id, agent_id: 'child', after: 3 })).toEqual([6, 7])
      expect(await positions({ run_id, after: 2, limit: 3 })).toEqual([3, 4, 5])
      expect(await positions({ run_id, agent_id: 'root', after_seq: 1 })).toEqual([2, 4, 5])
      expect(await positions({ run_id, agent_id: 'root', after_seq: 1, limit: 2 })).toEqual([2, 4])
      expect(await positions({ run_id, agent_id: 'root', after_seq: 1, after: 4 })).toEqual([5])
      expect(await positions({ run_id, agent_id: 'child', after_seq: 3 })).toEqual([])
      expect(await positions({ run_id, agent_id: 'nobody' })).toEqual([])
      expect(await store.read({ run_id: 'elsewhere' })).toEqual([])
    })

    it('chains a digest over each stream', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await beginChild(store, 'run', 'child')
      await taken(store, next(2))
      for (const agent_id of ['root', 'child']) {
        let previous = ''
        for (const event of await store.read({ run_id: 'run', agent_id })) {
          previous = eventDigest(previous, event, event, JSON.stringify(event.data))
          expect(event.digest).toBe(previous)
        }
      }
      expect(await store.verify('run')).toBeNull()
    })

    it('numbers positions without gaps while many agents append at once', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const agents = Array.from({ length: 20 }, (_, i) => `agent-${i}`)
      const seen = await Promise.all(
        agents.map(async (agent_id, i) => {
          const events = await beginChild(store, 'run', agent_id)
          for (let round = 0; round < 5; round++) {
            const batch = Array.from({ length: 1 + ((i + round) % 3) }, (_, n) => called(`${round}-${n}`))
            events.push(...(await taken(store, next(events.length, { agent_id, events: batch }))))
          }
          return events
        }),
      )
      const log = await store.read({ run_id: 'run' })
      expect(log.map((event) => event.position)).toEqual(log.map((_, i) => i + 1))
      for (const events of seen) {
        expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1))
        expect(log.filter((event) => event.agent_id === events[0]?.agent_id)).toEqual(events)
      }
      expect((await store.run('run'))?.last_position).toBe(log.length)
      expect(await store.verify('run')).toBeNull()
    })

    it('refuses a writer that is behind or ahead as a conflict', async () => {
      const { store } = await open()
      await begin(store, 'run')
      for (const expected_seq of [0, 1, 3]) {
        expect(await store.append(next(expected_seq))).toMatchObject({ ok: false, code: 'conflict' })
      }
      expect(await store.read({ run_id: 'run' })).toHaveLength(2)
    })

    it('takes exactly one of two writers that expect the same', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const results = await Promise.all([store.append(next(2)), store.append(next(2))])
      expect(results.map((result) => (result.ok ? 'ok' : result.code))).toEqual(['ok', 'conflict'])
      expect(await store.read({ run_id: 'run' })).toHaveLength(4)
    })

    it('takes appends to one stream that do not wait for each other, in order', async () => {
      const { store } = await open()
      const results = await Promise.all([
        store.append(next(0, { events: [created(), started()], claim })),
        store.append(next(2)),
        store.append(next(4)),
      ])
      expect(results.flatMap(eventsOf)).toEqual(await store.read({ run_id: 'run' }))
      expect(await store.verify('run')).toBeNull()
    })

    it('fences the old owner after a takeover', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const seen_epoch = 1
      await store.acquire({ run_id: 'run', agent_id: 'root', owner: 'other', ttl_ms: 1000, seen_epoch })
      expect(await store.append(next(2))).toMatchObject({ ok: false, code: 'fenced' })
      expect(await store.append(next(7))).toMatchObject({ ok: false, code: 'fenced' })
      expect(await store.append(next(2, { epoch: 2 }))).toMatchObject({ ok: true })
    })

    it('fences a writer that never had a lease', async () => {
      const { store } = await open()
      await begin(store, 'run')
      expect(await store.append(next(0, { agent_id: 'child' }))).toMatchObject({ ok: false, code: 'fenced' })
    })

    it('claims a new stream with the lease of epoch 1, once', async () => {
      const { store } = await open()
      await begin(store, 'run')
      expect(await store.lease('run', 'root')).toMatchObject({ owner: 'me', epoch: 1 })
      const again = next(0, { claim: { owner: 'other', ttl_ms: 1000 } })
      expect(await store.append(again)).toMatchObject({ ok: false, code: 'conflict' })
      expect(await store.lease('run', 'root')).toMatchObject({ owner: 'me', epoch: 1 })
    })

    it('throws out what no history could take', async () => {
      const { store } = await open()
      const twice = next(0, { events: [created(), started(), created()], claim })
      await expect(store.append(twice)).rejects.toThrow('run.created can only be the first event')
      await expect(store.append(next(0, { events: [created(), started(), started()], claim }))).rejects.toThrow(
        'already',
      )
      await expect(store.append(next(2, { claim }))).rejects.toThrow('expected_seq 0')
      expect(await store.runs()).toEqual([])
    })

    it('refuses to create a run that exists', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const other = next(0, { agent_id: 'other', events: [created(), started()], claim })
      expect(await store.append(other)).toMatchObject({ ok: false, code: 'conflict' })
      expect(await store.lease('run', 'other')).toBeNull()
    })

    it('refuses an agent that begins in a closed run, also where its place was taken before', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await beginChild(store, 'run', 'early')
      const place = { run_id: 'run', agent_id: 'a2', owner: 'other', ttl_ms: 1000, seen_epoch: 0 }
      await store.acquire(place)
      const late = (number: number, more: Partial<Append>) =>
        next(0, { agent_id: `a${number}`, events: [subAgentStarted(subAgent(number))], ...more })
      const refused = (number: number) => ({
        ok: false,
        code: 'conflict',
        message: `Run run is closed, so agent a${number} cannot begin in it any more.`,
      })
      // One that comes with the end, then those that come after it.
      const [, with_it] = await Promise.all([
        store.append(next(2, { events: [closed()] })),
        store.append(late(1, { claim })),
      ])
      expect([with_it, await store.append(late(1, { claim })), await store.append(late(2, {}))]).toEqual([
        refused(1),
        refused(1),
        refused(2),
      ])
      expect(await store.lease('run', 'a1')).toBeNull()
      // What began in time goes on.
      expect(await store.append(next(1, { agent_id: 'early' }))).toMatchObject({ ok: true })
      expect(await store.read({ run_id: 'run' })).toHaveLength(6)
      expect(await store.verify('run')).toBeNull()
    })

    it('stores nothing of a batch it does not take', async () => {
      const { store } = await open()
      const bytes = new TextEncoder().encode('roof')
      const blobs = [{ digest: blobDigest(bytes), bytes }]
      const homeless = next(0, { claim, blobs, events: [started()] })
      await expect(store.append(homeless)).rejects.toThrow('Run run does not exist')
      expect(await store.lease('run', 'root')).toBeNull()
      await begin(store, 'run')
      await expect(store.append(next(2, { blobs, events: [called('c'), started()] }))).rejects.toThrow('exists already')
      expect(await store.append(next(1, { blobs }))).toMatchObject({ ok: false })
      expect(await store.blob(blobDigest(bytes))).toBeNull()
      expect(await store.read({ run_id: 'run' })).toHaveLength(2)
      expect((await store.run('run'))?.tool_calls).toBe(0)
      expect(await store.append(next(2))).toMatchObject({ ok: true })
    })

    it('keeps the appends of one moment apart: what is refused or fails takes nobody along', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await Promise.all(['a', 'b', 'c'].map((agent_id) => beginChild(store, 'run', agent_id)))
      const results = await Promise.allSettled([
        store.append(next(1, { agent_id: 'a' })),
        store.append(next(9, { agent_id: 'b' })),
        store.append(next(0, { run_id: 'nowhere', agent_id: 'x', claim })),
        store.append(next(1, { agent_id: 'b', epoch: 4 })),
        store.append(next(1, { agent_id: 'c', events: [called('c'), started()] })),
        store.append(next(1, { agent_id: 'c' })),
      ])
      const outcomes = results.map((result) => {
        if (result.status === 'rejected') return 'failed'
        return result.value.ok ? result.value.events.map((event) => event.position) : result.value.code
      })
      expect(outcomes).toEqual([[6, 7], 'conflict', 'failed', 'fenced', 'failed', [8, 9]])
      expect(await store.verify('run')).toBeNull()
      expect(await store.run('nowhere')).toBeNull()
    })

    it('stores events as they were when they were handed over', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const event = called('before')
      const appended = store.append(next(2, { events: [event] }))
      Object.assign(event.data, { call_id: 'after' })
      await appended
      expect((await store.read({ run_id: 'run', after: 2 }))[0]?.data).toMatchObject({ call_id: 'before' })
    })

    it('keeps every text, NUL and half a surrogate pair included', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const content = 'a\0b \ud83d c 🏠 \u2028 "\\'
      await taken(store, next(2, { events: [called('c'), finished('c', content)] }))
      expect((await store.read({ run_id: 'run', after: 3 }))[0]?.data).toMatchObject({ content })
      expect(await store.verify('run')).toBeNull()
    })

    it('has a large blob as it was given', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const bytes = Uint8Array.from({ length: 9 * 1024 * 1024 + 3 }, (_, i) => (i * 7) % 251)
      const digest = blobDigest(bytes)
      await taken(store, next(2, { blobs: [{ digest, bytes }] }))
      expect(blobDigest((await store.blob(digest)) ?? '')).toBe(digest)
    })

    it('stores a blob once, with the events or without any', async () => {
      const { store } = await open()
      const bytes = Uint8Array.from([0, 1, 2, 254, 255])
      const digest = blobDigest(bytes)
      await begin(store, 'run')
      await taken(store, next(2, { events: [], blobs: [{ digest, bytes }] }))
      await taken(store, next(2, { blobs: [{ digest, bytes: Uint8Array.from([9]) }] }))
      expect(await store.blob(digest)).toEqual(bytes)
      expect(await store.blob(blobDigest('unknown'))).toBeNull()
      expect((await store.run('run'))?.last_position).toBe(4)
    })

    it('refuses everything once it is closed, after settling what it had taken', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const last = store.append(next(2))
      await store.close()
      await store.close()
      expect(await last).toMatchObject({ ok: true })
      await expect(store.append(next(4))).rejects.toThrow('closed')
      await expect(store.read({ run_id: 'run' })).rejects.toThrow('closed')
    })
  })
}
