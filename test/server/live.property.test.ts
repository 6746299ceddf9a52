import { join } from 'node:path'
import { setImmediate as breath } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../src/index.js'
import { createLive, type Live } from '../../src/server/live/live.js'
import { OwnRuns } from '../../src/server/own-runs.js'
import { begin, beginChild, called, closed, finished, responded, taken } from '../../src/store/conformance/fixtures.js'
import { openFile } from '../store/sqlite.js'
import { messages, scripted } from './routes-lab.js'

const AGENTS = 6
const ROUNDS = 30
const WATCHERS = 60

/** The same every time: what fails once fails again. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

it.each([1, 2])('whoever joins when and where, each sees every event once and in order (%i)', async (seed) => {
  const random = dice(seed)
  const retinue = await scripted('agents: {}')
  const other = await openFile(join(retinue.cwd, '.retinue', 'retinue.db'))
  onTestFinished(() => other.close())
  const live = createLive(retinue, new OwnRuns(retinue), { look_ms: 20, gather_ms: 2 })
  onTestFinished(() => live.close())
  await begin(retinue.store, 'r')
  const writing = write(retinue.store, other, random)
  const watching: Promise<{ after: number; seen: number[]; ends: string[] }>[] = []
  for (let i = 0; i < WATCHERS; i++) {
    const { last_position } = (await retinue.store.run('r')) as { last_position: number }
    const after = Math.floor(random() * (last_position + 1))
    watching.push(watch(live, after, random() < 0.4 ? 1 + Math.floor(random() * 40) : null, i))
    for (let turns = random() * 6; turns > 0; turns--) await breath()
  }
  await writing
  const last = (await retinue.events('r')).length
  expect(last).toBe(3 + AGENTS + AGENTS * ROUNDS * 3)
  const seen = await Promise.all(watching)
  for (const { after, seen: positions, ends } of seen) {
    expect(positions).toEqual(Array.from({ length: last - after }, (_, i) => after + 1 + i))
    expect(ends).toEqual(['end'])
  }
  expect(live.connections).toBe(0)
})

/** Half of the agents write through another connection, as another process does. */
async function write(own: Store, other: Store, random: () => number): Promise<void> {
  await Promise.all(
    Array.from({ length: AGENTS }, async (_, i) => {
      const store = i % 2 === 0 ? own : other
      const agent_id = `a${i + 1}`
      await beginChild(store, 'r', agent_id)
      for (let round = 0; round < ROUNDS; round++) {
        const events = [responded(`${round}`, 1, 1), called('c'), finished('c')]
        await taken(store, { run_id: 'r', agent_id, epoch: 1, expected_seq: 1 + round * 3, events })
        for (let turns = random() * 10; turns > 0; turns--) await breath()
      }
    }),
  )
  await taken(own, { run_id: 'r', agent_id: 'root', epoch: 1, expected_seq: 2, events: [closed()] })
}

/** `leaves_after`: so many events after which the connection breaks, to be taken up again where it was. */
async function watch(live: Live, after: number, leaves_after: number | null, i: number) {
  const seen: number[] = []
  const ends: string[] = []
  let position = after
  for (let broke = false; ends.length === 0; broke = true) {
    const gone = new AbortController()
    const watcher = { who: `watcher ${i}`, signal: gone.signal }
    const response = await live.run('r', { after: position, again: broke }, watcher)
    if (response.status === 204) return { after, seen, ends: ['end'] }
    for await (const message of messages(response)) {
      if ('comment' in message || message.event === 'run') continue
      if (message.event === 'end') {
        ends.push('end')
        continue
      }
      const positions = (message.data as { position: number }[]).map((event) => event.position)
      seen.push(...positions)
      position = Number(message.id)
      expect(position).toBe(positions.at(-1))
      if (leaves_after !== null && !broke && seen.length >= leaves_after) break
    }
  }
  return { after, seen, ends }
}
