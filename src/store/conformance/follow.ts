import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../domain/index.js'
import type { Store } from '../store.js'
import { agentFinished, begin, beginChild, called, closed, taken } from './fixtures.js'
import type { Open } from './open.js'

export function followSuite(open: Open): void {
  describe('follow', () => {
    it('gives what is there, then what comes, and ends with the run', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const seen: StoredEvent[] = []
      for await (const event of store.follow({ run_id: 'run' })) {
        seen.push(event)
        if (event.position === 2) await append(store, 2, [called('c')])
        if (event.position === 3) setImmediate(() => append(store, 3, [agentFinished('done'), closed()]))
      }
      expect(seen.map((event) => event.type)).toEqual([
        'run.created',
        'agent.started',
        'tool.called',
        'agent.finished',
        'run.closed',
      ])
      expect(seen).toEqual(await store.read({ run_id: 'run' }))
    })

    it('begins after a position, and ends at once where nothing can come any more', async () => {
      const { store } = await open()
      await begin(store, 'run')
      await append(store, 2, [agentFinished('done'), closed(), called('late')])
      expect(await positions(store.follow({ run_id: 'run', after: 2 }))).toEqual([3, 4])
      expect(await positions(store.follow({ run_id: 'run', after: 5 }))).toEqual([])
    })

    it('waits for a run that does not exist yet', async () => {
      const { store } = await open()
      const first = store.follow({ run_id: 'run' })[Symbol.asyncIterator]().next()
      await begin(store, 'run')
      expect(await first).toMatchObject({ value: { position: 1 } })
    })

    it('loses and repeats nothing while many agents append, for every follower', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const followers = [0, 1, 50].map((pause) => positions(store.follow({ run_id: 'run' }), pause))
      await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const agent_id = `agent-${i}`
          await beginChild(store, 'run', agent_id)
          for (let seq = 1; seq < 60; seq += 4) await append(store, seq, fourCalls, agent_id)
        }),
      )
      await append(store, 2, [agentFinished('done'), closed()])
      const whole = Array.from({ length: 614 }, (_, i) => i + 1)
      for (const follower of followers) expect(await follower).toEqual(whole)
    })

    it('ends when its signal does, before, between and while waiting', async () => {
      const { store } = await open()
      await begin(store, 'run')
      expect(await positions(store.follow({ run_id: 'run', signal: AbortSignal.abort() }))).toEqual([])
      const between = new AbortController()
      for await (const event of store.follow({ run_id: 'run', signal: between.signal })) {
        expect(event.position).toBe(1)
        between.abort()
      }
      const waiting = new AbortController()
      const seen: number[] = []
      for await (const event of store.follow({ run_id: 'run', signal: waiting.signal })) {
        if (seen.push(event.position) === 2) setImmediate(() => waiting.abort())
      }
      expect(seen).toEqual([1, 2])
    })

    it('can be left while it waits', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const events = store.follow({ run_id: 'run', after: 2 })[Symbol.asyncIterator]()
      const next = events.next()
      await events.return?.()
      expect(await next).toEqual({ done: true, value: undefined })
    })

    it('ends when the store is closed', async () => {
      const { store } = await open()
      await begin(store, 'run')
      const all = positions(store.follow({ run_id: 'run' }))
      await append(store, 2, [called('c')])
      await store.close()
      expect((await all).length).toBeLessThanOrEqual(3)
    })
  })
}

const fourCalls = ['a', 'b', 'c', 'd'].map((id) => called(id))

function append(store: Store, expected_seq: number, events: ReturnType<typeof called>[], agent_id = 'root') {
  return taken(store, { run_id: 'run', agent_id, epoch: 1, expected_seq, events })
}

/** Collects positions; every so many events it lets others go first, as a slow reader would. */
async function positions(events: AsyncIterable<StoredEvent>, pauseEvery = 0): Promise<number[]> {
  const seen: number[] = []
  for await (const event of events) {
    seen.push(event.position)
    if (pauseEvery > 0 && seen.length % pauseEvery === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return seen
}
