import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  agentFinished,
  begin,
  beginChild,
  called,
  claim,
  closed,
  created,
  started,
} from '../../src/store/conformance/fixtures.js'
import { type Append, blobDigest, type Lease, type Store } from '../../src/store/index.js'
import { ownPostgres } from '../support/postgres.js'
import { besides, endLastWait, holding, schemas, urlStore, waitingForLocks, withParameter } from './postgres.js'
import { type WireProxy, wireProxy } from './wire-proxy.js'

const place = schemas()

const next = (expected_seq: number, more: Partial<Append> = {}): Append => {
  const events = [called(`c${expected_seq}`), called(`d${expected_seq}`)]
  return { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq, events, ...more }
}

async function isWhole(store: Store, events: number): Promise<void> {
  const log = await store.read({ run_id: 'run' })
  expect(log.map(({ position }) => position)).toEqual(Array.from({ length: events }, (_, i) => i + 1))
  expect(await store.verify('run')).toBeNull()
}

/** What those that failed were told, each reason once. */
async function reasonsOf(work: readonly Promise<unknown>[]): Promise<string[]> {
  const errors = (await Promise.allSettled(work)).map((result) => (result.status === 'rejected' ? result.reason : null))
  return [...new Set(errors)].map((error) => (error as Error).message)
}

describe('a COMMIT that got no answer', () => {
  for (const what of ['lost', 'unanswered'] as const) {
    it(`is not guessed about (${what}): each append is stored once, and answered with its positions`, async () => {
      const url = await place()
      const proxy = await wireProxy(url)
      const store = await urlStore(proxy.url)
      await begin(store, 'run')
      await beginChild(store, 'run', 'child')
      const cut = proxy.cutAtCommit(what)
      const results = await Promise.all([
        store.append(next(2)),
        store.append(next(4)),
        store.append(next(7)),
        store.append(next(1, { agent_id: 'child' })),
        cut,
      ])
      const outcomes = results.slice(0, 4).map((result) => result && (result.ok ? result.events : result.code))
      const log = await (await urlStore(url)).read({ run_id: 'run', after: 3 })
      expect(outcomes).toEqual([log.slice(0, 2), log.slice(2, 4), 'conflict', log.slice(4, 6)])
      await isWhole(store, 9)
      expect(await store.append(next(6))).toMatchObject({ ok: true, events: [{ position: 10 }, { position: 11 }] })
    })

    it(`is not guessed about (${what}) where it makes a run`, async () => {
      const proxy = await wireProxy(await place())
      const store = await urlStore(proxy.url)
      const cut = proxy.cutAtCommit(what)
      const events = [created(), started()]
      const [result] = await Promise.all([store.append(next(0, { events, claim })), cut])
      expect(result).toMatchObject({ ok: true, events: [{ position: 1 }, { position: 2 }] })
      await isWhole(store, 2)
    })

    it(`is not guessed about (${what}) where a lease is taken, a record put, a signal given`, async () => {
      const proxy = await wireProxy(await place())
      const store = await urlStore(proxy.url)
      const agent = { run_id: 'run', agent_id: 'root' }
      const during = async <T>(work: () => Promise<T>): Promise<T> => {
        const cut = proxy.cutAtCommit(what)
        const result = await work()
        await cut
        return result
      }
      const lease = await during(() => store.acquire({ ...agent, owner: 'a', ttl_ms: 1000, seen_epoch: 0 }))
      expect(lease).toEqual(await store.lease('run', 'root'))
      expect(lease).toMatchObject({ owner: 'a', epoch: 1 })
      const put = { type: 'pin', id: 'x', value: 1, by: 'anna', expected_version: 0 }
      expect(await during(() => store.putRecord(put))).toMatchObject({ ok: true, record: { version: 1 } })
      expect(await store.recordHistory('pin', 'x')).toHaveLength(1)
      const signal = await during(() => store.signal({ run_id: 'run', kind: 'cancel', data: null, by: 'anna' }))
      expect(await store.signals({ after: 0 })).toEqual([signal])
    })
  }

  it('waits for a server that is still busy with it', async () => {
    const url = await place()
    const proxy = await wireProxy(url)
    const store = await urlStore(proxy.url)
    await begin(store, 'run')
    // What the server has got goes on when nobody is there to be answered: it sleeps before it commits.
    await besides(
      url,
      `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END'`,
      'CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.seq = 3) EXECUTE FUNCTION slow()',
    )
    const cut = proxy.cutAtCommit('unanswered')
    const [result] = await Promise.all([store.append(next(2)), cut])
    expect(result).toMatchObject({ ok: true, events: [{ position: 3 }, { position: 4 }] })
    await isWhole(store, 4)
  })

  /** The connection breaks while the server has not come to the COMMIT yet: it waits for a lock on `events`. */
  async function heldUp<T>(url: string, proxy: WireProxy, work: () => Promise<T>): Promise<T> {
    const letGo = await holding(url, 'LOCK TABLE events IN SHARE MODE')
    const cut = proxy.cutAtCommit('unanswered')
    const done = work()
    await cut
    // The old connection for the table, the new one for the old.
    await waitingForLocks(url, 2)
    await endLastWait(url)
    await waitingForLocks(url, 2)
    await letGo()
    return done
  }

  it('waits for a server that is held up before it, however often', async () => {
    const url = await place()
    const proxy = await wireProxy(url)
    const store = await urlStore(proxy.url)
    await begin(store, 'run')
    for (const seq of [2, 4]) {
      const events = [{ position: seq + 1 }, { position: seq + 2 }]
      expect(await heldUp(url, proxy, () => store.append(next(seq)))).toMatchObject({ ok: true, events })
    }
    await isWhole(store, 6)
  })

  it('waits for a server that is held up before it where it is the first of its writer', async () => {
    const url = await place()
    const proxy = await wireProxy(url)
    const store = await urlStore(proxy.url)
    const events = [created(), started()]
    const result = await heldUp(url, proxy, () => store.append(next(0, { events, claim })))
    expect(result).toMatchObject({ ok: true, events: [{ position: 1 }, { position: 2 }] })
    await isWhole(store, 2)
  })
})

describe('a database that goes away', () => {
  it('is waited for by appends, leases and reads', async () => {
    const url = await place()
    const proxy = await wireProxy(url)
    const store = await urlStore(proxy.url)
    await begin(store, 'run')
    const lease = (await store.lease('run', 'root')) as Lease
    proxy.block(true)
    const waiting = Promise.all([
      store.append(next(2)),
      store.renew(lease, 60_000),
      store.read({ run_id: 'run', after: 1, limit: 1 }),
    ])
    // Long enough for each to have failed once.
    await expect(urlStore(proxy.url)).rejects.toThrow('No PostgreSQL server answers')
    proxy.block(false)
    expect(await waiting).toMatchObject([{ ok: true }, true, [{ position: 2 }]])
    await isWhole(store, 4)
  })

  it('is not waited for longer than the URL says', async () => {
    const proxy = await wireProxy(await place())
    const store = await urlStore(withParameter(proxy.url, 'patience', '0'))
    await begin(store, 'run')
    proxy.block(true)
    const failed = await Promise.allSettled([store.append(next(2)), store.read({ run_id: 'run' })])
    const away = /^The database at 127\.0\.0\.1:\d+ has not answered for \d+ s \(.+\)\. See that it runs/
    for (const result of failed) expect(result).toMatchObject({ reason: { message: expect.stringMatching(away) } })
    proxy.block(false)
    await isWhole(store, 2)
    expect(await store.append(next(2))).toMatchObject({ ok: true })
  })

  it('is waited for as long after something large has been on its way for longer', async () => {
    const url = await place()
    const proxy = await wireProxy(url)
    const store = await urlStore(withParameter(proxy.url, 'patience', '1'))
    await begin(store, 'run')
    const bytes = new Uint8Array(2 * 1024 * 1024).fill(7)
    const blob = { digest: blobDigest(bytes), bytes }
    const letGo = await holding(url, `INSERT INTO blobs (digest, bytes) VALUES ('${blob.digest}', '')`)
    const stored = store.append(next(2, { blobs: [blob] }))
    await waitingForLocks(url, 1)
    // Longer than the URL says that one waits.
    await setTimeout(1500)
    proxy.cut()
    await letGo()
    expect(await stored).toMatchObject({ ok: true })
    await isWhole(store, 4)
  })

  it('is waited for once by appends that came together, however many', async () => {
    const proxy = await wireProxy(await place())
    const store = await urlStore(withParameter(proxy.url, 'patience', '0'))
    await begin(store, 'run')
    proxy.block(true)
    // One that is given the others' reason has not waited on its own.
    expect(await reasonsOf([store.append(next(2)), store.append(next(4)), store.append(next(6))])).toEqual([
      expect.stringContaining('has not answered for'),
    ])
    proxy.block(false)
    await isWhole(store, 2)
  })

  it('is asked once by appends that came together where its disk is full', async () => {
    const url = await place()
    const store = await urlStore(url)
    await begin(store, 'run')
    await besides(
      url,
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$`,
      'CREATE TRIGGER no_room BEFORE INSERT ON events EXECUTE FUNCTION no_room()',
    )
    expect(await reasonsOf([store.append(next(2)), store.append(next(4)), store.append(next(6))])).toEqual([
      expect.stringMatching(/^The disk of the database at .+ is full, so nothing was stored\./),
    ])
  })

  it('takes nothing with it when it ends the connections of everybody', async () => {
    const url = await place()
    const store = await urlStore(withParameter(url, 'application_name', 'to-be-ended'))
    await begin(store, 'run')
    const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'to-be-ended'`
    const kills: Promise<unknown[]>[] = []
    for (let seq = 2; seq < 400; seq += 2) {
      if (seq % 50 === 2) kills.push(besides(url, kill))
      expect(await store.append(next(seq))).toMatchObject({ ok: true })
    }
    expect((await Promise.all(kills)).flat().length).toBeGreaterThan(1)
    await isWhole(store, 400)
  })

  it('is followed on when it is back, also by those who missed the notification', async () => {
    const url = await place()
    const proxy = await wireProxy(url)
    const [reading, writing] = [await urlStore(proxy.url), await urlStore(url)]
    await begin(writing, 'run')
    const events = reading.follow({ run_id: 'run' })[Symbol.asyncIterator]()
    expect(await events.next()).toMatchObject({ value: { position: 1 } })
    expect(await events.next()).toMatchObject({ value: { position: 2 } })
    const third = events.next()
    proxy.block(true)
    await writing.append(next(2))
    proxy.block(false)
    expect(await third).toMatchObject({ value: { position: 3 } })
    await events.return?.()
  })

  it('restarts, orderly or not, while it is worked with', async () => {
    const server = await ownPostgres()
    const url = await server.database()
    const store = await urlStore(url)
    await begin(store, 'run')
    const agents = ['a', 'b', 'c']
    let restarted = false
    const work = agents.map(async (agent_id) => {
      await beginChild(store, 'run', agent_id)
      let seq = 1
      for (; !restarted; seq += 2) expect(await store.append(next(seq, { agent_id }))).toMatchObject({ ok: true })
      return seq
    })
    const follower = (async () => {
      const seen: number[] = []
      for await (const { position } of store.follow({ run_id: 'run' })) seen.push(position)
      return seen
    })()
    for (const mode of ['fast', 'immediate'] as const) {
      await server.stop(mode)
      await server.start()
      await store.append(next(2, { agent_id: 'nobody' }))
    }
    restarted = true
    const lengths = await Promise.all(work)
    const total = 2 + lengths.reduce((sum, seq) => sum + seq, 0)
    await isWhole(store, total)
    await store.append(next(2, { events: [agentFinished('done'), closed()] }))
    expect(await follower).toEqual(Array.from({ length: total + 2 }, (_, i) => i + 1))
  })

  it('is left at once by a store that is closed', async () => {
    const proxy = await wireProxy(await place())
    const store = await urlStore(proxy.url)
    await begin(store, 'run')
    proxy.block(true)
    const read = store.read({ run_id: 'run' })
    const began = performance.now()
    const closing = store.close()
    await expect(read).rejects.toThrow('The store is closed.')
    await closing
    expect(performance.now() - began).toBeLessThan(4000)
  })
})
