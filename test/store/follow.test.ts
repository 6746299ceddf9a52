import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { begin, called, taken } from '../../src/store/conformance/fixtures.js'
import { testFolder, testStore } from './sqlite.js'

describe('following a file', () => {
  it('does not wait for a poll to see what this process appends', async () => {
    const store = await testStore(join(await testFolder(), 'retinue.db'))
    await begin(store, 'run')
    const rounds = 60
    const before = performance.now()
    for await (const { seq } of store.follow({ run_id: 'run', after: 1 })) {
      if (seq === rounds) break
      setImmediate(() =>
        taken(store, { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq: seq, events: [called('c')] }),
      )
    }
    // A poll every 50 ms would make it three seconds.
    expect(performance.now() - before).toBeLessThan(1500)
  })

  it('leaves no timer behind when a follower has left', async () => {
    const store = await testStore(join(await testFolder(), 'retinue.db'))
    await begin(store, 'run')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const events = store.follow({ run_id: 'run', after: 2 })[Symbol.asyncIterator]()
    const waiting = events.next()
    expect(vi.getTimerCount()).toBe(1)
    await events.return?.()
    expect(await waiting).toMatchObject({ done: true })
    expect(vi.getTimerCount()).toBe(0)
    for await (const event of store.follow({ run_id: 'run' })) if (event.position === 2) break
    expect(vi.getTimerCount()).toBe(0)
    const signal = new AbortController()
    const aborted = store.follow({ run_id: 'run', after: 2, signal: signal.signal })[Symbol.asyncIterator]().next()
    expect(vi.getTimerCount()).toBe(1)
    signal.abort()
    await aborted
    expect(vi.getTimerCount()).toBe(0)
  })
})
