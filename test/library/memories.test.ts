import { expect, it } from 'vitest'
import { foldAgent } from '../../src/domain/index.js'
import type { StoredEvent } from '../../src/index.js'
import { Memories } from '../../src/library/workers/memories.js'
import type { EventQuery } from '../../src/store/index.js'
import { family } from '../seeds/family.js'

/** The log of a run with sub-agents. */
async function someLog(): Promise<StoredEvent[]> {
  const { retinue } = await family({
    root: [
      { calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }] },
      { calls: [{ spawn_await: { job_ids: '*' } }] },
      { text: 'Done.' },
    ],
    'a*': [{ text: 'Done.' }],
  })
  const run = retinue.run({ task: 'Lead' })
  expect(await run.result()).toMatchObject({ outcome: 'completed' })
  return retinue.events(run.run_id)
}

/** A log that others write: it is as long as `length` says. */
class Growing {
  length = 0
  read_events = 0

  constructor(public log: readonly StoredEvent[]) {}

  async read({ agent_id, after_seq = 0 }: EventQuery): Promise<StoredEvent[]> {
    const news = this.of(agent_id).filter(({ seq }) => seq > after_seq)
    this.read_events += news.length
    return news
  }

  of(agent_id: string | undefined): StoredEvent[] {
    return this.log.slice(0, this.length).filter((event) => event.agent_id === agent_id)
  }
}

it('what an agent knows is what its log says, whenever it is asked, and only the end of that is read', async () => {
  const log = await someLog()
  const store = new Growing(log)
  const memories = new Memories(store)
  for (store.length = 0; store.length <= log.length; store.length++) {
    store.read_events = 0
    expect(await memories.of('run', 'root')).toEqual(foldAgent(store.of('root')))
    // The one that is new, and the one before it.
    expect(store.read_events).toBeLessThanOrEqual(2)
  }
})

it('two who ask at once get the same, and so does whoever asks after them', async () => {
  const log = await someLog()
  const store = new Growing(log)
  const memories = new Memories(store)
  store.length = log.length - 5
  const early = memories.of('run', 'root')
  store.length = log.length
  const whole = foldAgent(store.of('root'))
  expect(await Promise.all([memories.of('run', 'root'), early.then(() => memories.of('run', 'root'))])).toEqual([
    whole,
    whole,
  ])
})

it('what a database has lost is not known any more, whatever stands in its place', async () => {
  const [log, other] = [await someLog(), await someLog()]
  const store = new Growing(log)
  const memories = new Memories(store)
  store.length = log.length
  await memories.of('run', 'root')
  store.length = log.length - 5
  expect(await memories.of('run', 'root')).toEqual(foldAgent(store.of('root')))
  store.log = [...log.slice(0, 2), ...other.slice(2)]
  expect(await memories.of('run', 'root')).toEqual(foldAgent(store.of('root')))
  store.length = 0
  expect(await memories.of('run', 'root')).toBeNull()
})

it('one that was not asked for in a long time is read anew', async () => {
  const log = await someLog()
  const store = new Growing(log)
  store.length = log.length
  const memories = new Memories(store)
  const known = await memories.of('run', 'root')
  for (let other = 0; other < 60; other++) await memories.of(`other-${other}`, 'root')
  const read_before = store.read_events
  expect(await memories.of('run', 'root')).toEqual(known)
  expect(store.read_events - read_before).toBe(store.of('root').length)
})
