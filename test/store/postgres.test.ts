import { describe, expect, it, onTestFinished } from 'vitest'
import { agentFinished, begin, beginChild, called, claim, closed, taken } from '../../src/store/conformance/fixtures.js'
import { blobDigest, type Lease, openPostgresStore, type Store } from '../../src/store/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { besides, holding, schemas, urlStore, waitingForLocks } from './postgres.js'

const place = schemas()
const root = { run_id: 'run', agent_id: 'root', epoch: 1 }

describe('several stores on one database', () => {
  it('never show a position before those below it', async () => {
    const url = await place()
    const stores = await Promise.all([1, 2, 3].map(() => urlStore(url)))
    const [reading, ...writing] = stores as [Store, ...Store[]]
    await begin(reading, 'run')
    let done = false
    const writers = writing.flatMap((store, i) =>
      ['a', 'b', 'c'].map(async (name) => {
        const agent_id = `${name}${i}`
        await beginChild(store, 'run', agent_id)
        for (let seq = 1; seq <= 30; seq++) {
          await taken(store, { ...root, agent_id, expected_seq: seq, events: [called('c')] })
        }
      }),
    )
    const all = Promise.all(writers).then(() => {
      done = true
    })
    let after = 2
    let looks = 0
    while (!done) {
      const page = await reading.read({ run_id: 'run', after })
      expect(page.map(({ position }) => position)).toEqual(page.map((_, i) => after + i + 1))
      after += page.length
      looks += 1
    }
    await all
    expect(looks).toBeGreaterThan(5)
    expect(await reading.run('run')).toMatchObject({ last_position: 2 + 6 * 31 })
    expect(await reading.verify('run')).toBeNull()
  })

  it('make and write the same runs without locking each other up', async () => {
    const url = await place()
    const [one, two] = [await urlStore(url), await urlStore(url)]
    const ids = Array.from({ length: 30 }, (_, i) => `run-${i}`)
    const make = (store: Store, run_ids: string[], agent_id: string) =>
      Promise.allSettled(run_ids.map((run_id) => begin(store, run_id, agent_id)))
    const made = await Promise.all([make(one, ids, 'one'), make(two, ids.toReversed(), 'two')])
    const wins = made.map((results) => results.filter(({ status }) => status === 'fulfilled').length)
    expect((wins[0] ?? 0) + (wins[1] ?? 0)).toBe(30)
    for (const result of made.flat()) {
      if (result.status === 'rejected') expect(String(result.reason)).toContain('exists already')
    }
    const children = (store: Store, run_ids: string[], agent_id: string) =>
      Promise.all(run_ids.map((run_id) => beginChild(store, run_id, agent_id)))
    for (let round = 0; round < 5; round++) {
      await Promise.all([children(one, ids, `a${round}`), children(two, ids.toReversed(), `b${round}`)])
    }
    for (const run_id of ids) expect(await one.run(run_id)).toMatchObject({ last_position: 12, agents: 11 })
  })

  it('let one of many claim a stream, in whatever process', async () => {
    const url = await place()
    const stores = await Promise.all([1, 2, 3].map(() => urlStore(url)))
    await begin(stores[0] as Store, 'run')
    const results = await Promise.all(
      stores.map((store) => store.append({ ...root, agent_id: 'x', expected_seq: 0, events: [called('c')], claim })),
    )
    expect(results.map((result) => (result.ok ? 'ok' : result.code)).sort()).toEqual(['conflict', 'conflict', 'ok'])
  })

  it('let one of two have a stream, where one claims it with events and the other takes its lease', async () => {
    const url = await place()
    const [one, two] = [await urlStore(url), await urlStore(url)]
    await begin(one, 'run')
    // Both have a connection by now, so that they are equally fast.
    expect(await two.runs()).toHaveLength(1)
    for (let round = 0; round < 40; round++) {
      const agent = { run_id: 'run', agent_id: `a${round}` }
      const [claimed, taken] = await Promise.all([
        one.append({ ...agent, epoch: 1, expected_seq: 0, events: [called('c')], claim }),
        two.acquire({ ...agent, owner: 'two', ttl_ms: 1000, seen_epoch: 0 }),
      ])
      expect(claimed.ok).toBe(taken === null)
    }
    expect(await one.verify('run')).toBeNull()
  })

  it('hear of each other at once', async () => {
    const url = await place()
    const [reading, writing] = [await urlStore(url), await urlStore(url)]
    await begin(writing, 'run')
    const seen: number[] = []
    const began = performance.now()
    for await (const { position } of reading.follow({ run_id: 'run' })) {
      seen.push(position)
      // After it waits, which is when a notification is needed.
      if (position >= 2 && position < 12) {
        setImmediate(() => void taken(writing, { ...root, expected_seq: position, events: [called('c')] }))
      }
      if (position === 12) break
    }
    expect(seen).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    // Ten times: with the slow look alone it would be twenty seconds.
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  it('give signals ids in the order in which they can be seen, and none to a run that is closed', async () => {
    const url = await place()
    const stores = await Promise.all([1, 2, 3].map(() => urlStore(url)))
    const reading = await urlStore(url)
    await begin(reading, 'run')
    let done = false
    const sending = Promise.all(
      stores.flatMap((store) =>
        Array.from({ length: 20 }, () => store.signal({ run_id: 'other', kind: 'x', data: null, by: 'b' })),
      ),
    ).then(() => {
      done = true
    })
    const heard: number[] = []
    const listen = async () => {
      heard.push(...(await reading.signals({ after: heard.at(-1) ?? 0 })).map(({ id }) => id))
    }
    while (!done) await listen()
    await sending
    await listen()
    expect(heard).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
    const [closing, ...others] = stores as [Store, ...Store[]]
    const runs = Array.from({ length: 30 }, (_, i) => `run-${i}`)
    await Promise.all(runs.map((run_id) => begin(closing, run_id)))
    const events = [agentFinished('done'), closed()]
    for (const run_id of runs) {
      await Promise.all([
        ...others.map((store) => store.signal({ run_id, kind: 'x', data: null, by: 'b' })),
        taken(closing, { ...root, run_id, expected_seq: 2, events }),
      ])
    }
    expect(await reading.signals({ after: 60 })).toEqual([])
  })

  /** The second is on a machine whose clock is ahead. */
  async function anHourApart() {
    const url = await place()
    const store = await urlStore(url)
    const hour = 3_600_000
    const opened = await openPostgresStore({ url, clock: { now: () => Date.now() + hour } })
    if (!opened.ok) throw new Error(opened.message)
    const ahead = opened.store
    onTestFinished(() => ahead.close())
    return { store, ahead, hour }
  }

  it('see leases by their own clocks, however far these are apart', async () => {
    const { store, ahead, hour } = await anHourApart()
    await begin(ahead, 'run')
    const left = async (of: Store, now: number) => ((await of.lease('run', 'root'))?.expires_at ?? 0) - now
    const about = (ms: number) => expect(Math.abs(ms - claim.ttl_ms)).toBeLessThan(5000)
    about(await left(store, Date.now()))
    about(await left(ahead, Date.now() + hour))
    const taken = await store.acquire({ ...root, owner: 'b', ttl_ms: claim.ttl_ms, seen_epoch: 1 })
    expect(taken).toEqual(await store.lease('run', 'root'))
    about(await left(ahead, Date.now() + hour))
    if (taken) await store.release(taken)
    expect(await ahead.lease('run', 'root')).toMatchObject({ expires_at: 0 })
  })

  it('see the times of signals by their own clocks, too', async () => {
    const { store, ahead, hour } = await anHourApart()
    await begin(store, 'run')
    const about = (at: number, now: number) => expect(Math.abs(at - now)).toBeLessThan(5000)
    for (const by of [store, ahead]) await by.signal({ run_id: 'run', kind: 'x', data: null, by: 'b' })
    for (const { at } of await store.signals({ after: 0 })) about(at, Date.now())
    for (const { at } of await ahead.signals({ after: 0 })) about(at, Date.now() + hour)
  })
})

describe('writes beside appends that are held up', () => {
  const held = (url: string, run_id: string) => holding(url, `SELECT 1 FROM runs WHERE run_id = '${run_id}' FOR UPDATE`)
  const append = (store: Store, run_id: string) =>
    taken(store, { ...root, run_id, expected_seq: 2, events: [called('c')] })

  async function runs(store: Store, ...run_ids: string[]): Promise<Lease[]> {
    for (const run_id of run_ids) await begin(store, run_id)
    return Promise.all(run_ids.map(async (run_id) => (await store.lease(run_id, 'root')) as Lease))
  }

  it('renew a lease without waiting for them, nor for what waits for them', async () => {
    const url = await place()
    const store = await urlStore(url)
    const [one] = (await runs(store, 'one', 'two')) as [Lease]
    const letGo = await held(url, 'two')
    const events = append(store, 'two')
    const order: string[] = []
    const signalled = store.signal({ run_id: 'one', kind: 'x', data: null, by: 'b' }).then(() => order.push('signal'))
    await waitingForLocks(url, 1)
    const renewed = store.renew(one, 60_000).finally(() => order.push('renew'))
    expect(await renewed).toBe(true)
    await letGo()
    await Promise.all([signalled, events])
    expect(order).toEqual(['renew', 'signal'])
  })

  it('wait for those that were asked for before, and not for those that came later', async () => {
    const url = await place()
    const store = await urlStore(url)
    const [one] = (await runs(store, 'one', 'two')) as [Lease]
    const [letGo, letGoOfLater] = [await held(url, 'one'), await held(url, 'two')]
    const order: string[] = []
    const before = append(store, 'one').finally(() => order.push('before'))
    await waitingForLocks(url, 1)
    const released = store.release(one).finally(() => order.push('release'))
    const later = append(store, 'two').finally(() => order.push('later'))
    await letGo()
    await released
    await letGoOfLater()
    await Promise.all([before, later])
    expect(order).toEqual(['before', 'release', 'later'])
    expect(await store.lease('one', 'root')).toMatchObject({ expires_at: 0 })
  })

  it('go on while much that is large is on its way to the server, but for what is of the same agents', async () => {
    const url = await place()
    const store = await urlStore(`${url}&pool_size=2`)
    const [one, two] = (await runs(store, 'one', 'two', 'three')) as [Lease, Lease]
    await beginChild(store, 'one', 'a1')
    const bytes = new Uint8Array(2 * 1024 * 1024).fill(7)
    const blob = { digest: blobDigest(bytes), bytes }
    const letGo = await holding(url, `INSERT INTO blobs (digest, bytes) VALUES ('${blob.digest}', '')`)
    const order: string[] = []
    const carrying = (run_id: string) => {
      const batch = { ...root, run_id, expected_seq: 2, events: [called('c')], blobs: [blob] }
      return store.append(batch).finally(() => order.push(run_id))
    }
    const large = ['one', 'three'].map(carrying)
    await waitingForLocks(url, 1)
    const released = store.release(one).finally(() => order.push('released'))
    const small = { ...root, run_id: 'one', agent_id: 'a1', expected_seq: 1, events: [called('c')] }
    expect(await store.append(small)).toMatchObject({ ok: true })
    expect(await store.signal({ run_id: 'one', kind: 'x', data: null, by: 'b' })).toMatchObject({ kind: 'x' })
    await store.release(two)
    const taken = { run_id: 'two', agent_id: 'root', owner: 'b', ttl_ms: 60_000, seen_epoch: 1 }
    expect(await store.acquire(taken)).toMatchObject({ epoch: 2 })
    expect(order).toEqual([])
    await letGo()
    expect(await Promise.all(large)).toMatchObject([{ ok: true }, { ok: true }])
    await released
    expect(order.filter((name) => name !== 'three')).toEqual(['one', 'released'])
    expect(blobDigest((await store.blob(blob.digest)) ?? '')).toBe(blob.digest)
  })

  it('settle before the store is closed', async () => {
    const url = await place()
    const store = await urlStore(url)
    const [one] = (await runs(store, 'one')) as [Lease]
    const letGo = await holding(url, 'SELECT 1 FROM streams FOR UPDATE')
    const order: string[] = []
    const renewed = store.renew(one, 60_000).finally(() => order.push('renew'))
    await waitingForLocks(url, 1)
    const closing = store.close().then(() => order.push('close'))
    await expect(store.renew(one, 60_000)).rejects.toThrow('The store is closed.')
    await letGo()
    expect(await renewed).toBe(true)
    await closing
    expect(order).toEqual(['renew', 'close'])
  })
})

describe('what the database does not take', () => {
  it('takes nobody along who came at the same moment', async () => {
    const store = await urlStore(await place())
    await begin(store, 'run')
    const results = await Promise.allSettled([
      beginChild(store, 'run', 'a'),
      beginChild(store, 'run', 'no\0text'),
      beginChild(store, 'run', 'b'),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await store.agents('run')).map(({ agent_id }) => agent_id)).toEqual(['root', 'a', 'b'])
    expect(await store.verify('run')).toBeNull()
  })

  it('is told when the disk is full, and nothing of it is stored', async () => {
    const url = await place()
    const store = await urlStore(url)
    await begin(store, 'run')
    await besides(
      url,
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
      'CREATE TRIGGER full_disk BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION full_disk()',
    )
    const { host } = new URL(url)
    await expect(beginChild(store, 'run', 'a')).rejects.toThrow(
      `The disk of the database at ${host} is full, so nothing was stored. Make room on it, then try again.`,
    )
    await besides(url, 'DROP TRIGGER full_disk ON events')
    expect(await store.lease('run', 'a')).toBeNull()
    expect(await beginChild(store, 'run', 'a')).toMatchObject([{ position: 3 }])
  })

  it('is told when it takes no writes', async () => {
    const url = await (await sharedPostgres()).database()
    await (await urlStore(url)).close()
    const { host, pathname } = new URL(url)
    const name = pathname.slice(1)
    await besides(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    const opened = await openPostgresStore({ url, clock: { now: () => Date.now() } })
    expect(opened).toMatchObject({ ok: false, code: 'refused' })
    await besides(url, 'SET default_transaction_read_only = off', `ALTER DATABASE ${name} RESET ALL`)
    const store = await urlStore(url)
    await besides(
      url,
      `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue' AND datname = '${name}'`,
    )
    await expect(begin(store, 'run')).rejects.toThrow(
      `The database ${name} at ${host} takes no writes: it is a standby, or was made read-only.`,
    )
    expect(await store.runs()).toEqual([])
  })
})

describe('what somebody changed in the database', () => {
  const wrong: Record<string, [string, object]> = {
    'a payload': ["UPDATE events SET data = '{}' WHERE position = 3", { position: 3, seq: 3 }],
    'an event that is gone': ['DELETE FROM events WHERE position = 2', { position: 3 }],
    'a cut end': ['DELETE FROM events WHERE position = 3', { seq: 3 }],
    'a head': [
      "UPDATE streams SET digest = 'x'",
      { seq: 3, message: 'the head of the stream does not fit its last event, 3' },
    ],
  }
  for (const [what, [statement, found]] of Object.entries(wrong)) {
    it(`is found: ${what}`, async () => {
      const url = await place()
      const store = await urlStore(url)
      await begin(store, 'run')
      await taken(store, { ...root, expected_seq: 2, events: [called('c')] })
      expect(await store.verify('run')).toBeNull()
      await besides(url, statement)
      expect(await store.verify('run')).toMatchObject(found)
    })
  }

  it('is a number that cannot be one of ours', async () => {
    const url = await place()
    const store = await urlStore(url)
    await begin(store, 'run')
    await besides(url, 'UPDATE runs SET agents = 9007199254740993')
    await expect(store.run('run')).rejects.toThrow('9007199254740993, which is out of range')
  })
})
