import { expect, it } from 'vitest'
import { foldAgent } from '../../src/domain/index.js'
import type { StoredEvent } from '../../src/index.js'
import { Memories } from '../../src/library/workers/memories.js'
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

  constructor(private readonly log: readonly StoredEvent[]) {}

  async read({ agent_id, after = 0 }: { run_id: string; agent_id?: string; after?: number }): Promise<StoredEvent[]> {
    const news = this.of(agent_id).filter(({ position }) => position > after)
    this.read_events += news.length
    return news
  }

  of(agent_id: string | undefined): StoredEvent[] {
    return this.log.slice(0, this.length).filter((event) => event.agent_id === agent_id)
  }
}

it('what an agent knows is what its log says, whenever it is asked, and each event is read once', async () => {
  const log = await someLog()
  const store = new Growing(log)
  const memories = new Memories(store)
  for (store.length = 0; store.length <= log.length; store.length++) {
    expect(await memories.of('run', 'root')).toEqual(foldAgent(store.of('root')))
  }
  expect(store.read_events).toBe(store.of('root').length)
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
