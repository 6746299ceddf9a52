import { expect, test } from 'vitest'
import { emptyTree, growTree, type StoredEvent, type WatchedEvent, watched } from '#domain'
import { RunStore } from '../../web/src/pages/run/run-store'

const contract = {
  step: { title: 'Do it' },
  agent: { profile_id: null },
  model: { provider: 'test', model: 'scripted' },
  permissions: { mode: 'normal' },
  execution: {},
  adjustments: [],
}
const asked = { call_id: 'c1', tool: 'write_file', summary: 'create a', reason: 'writes ask in normal mode' }
const answered = { call_id: 'c1', answer: 'allow', grant: null, by: 'person', note: null }
const called = { call_id: 'c2', tool: 'ask_user', args: {}, effect: 'ask_person', summary: 'Which?', attempt: 1 }
const finished = { call_id: 'c2', tool: 'ask_user', status: 'ok', content: 'This', duration_ms: 1, files_changed: [] }
const read = { call_id: 'c3', tool: 'read_file', args: {}, effect: 'read', summary: 'read a', attempt: 1 }
const child = { sub_agent_id: 'a1', step_idx: 0, call_id: 'c4', index: 0, contract, task: 'Look', cache_key: null }

/** What a run that asks twice writes, as far as it matters here. */
const LOG: WatchedEvent[] = (
  [
    ['root', 'run.created', { task: 'Do it' }],
    ['root', 'agent.started', { contract, task: 'Do it' }],
    ['root', 'permission.asked', asked],
    ['root', 'permission.answered', answered],
    ['root', 'tool.called', called],
    ['root', 'tool.finished', finished],
    ['root', 'tool.called', read],
    ['root', 'tool.finished', { ...finished, call_id: 'c3', tool: 'read_file' }],
    ['root', 'agent.subagent_created', child],
    ['a1', 'agent.subagent_started', { sub_agent_id: 'a1', step_idx: 0, contract, task: 'Look' }],
  ] as const
).map(([agent_id, type, data], i) => {
  const place = { run_id: 'r', agent_id, seq: i + 1, position: i + 1, digest: '' }
  return watched({ ...place, type, version: 1, at: 1000 + i, data } as unknown as StoredEvent)
})

/** A store whose frames are drawn when the test says so. */
function storeWithFrames() {
  const frames: (() => void)[] = []
  const store = new RunStore((then) => frames.push(then))
  const draw = () => {
    for (const then of frames.splice(0)) then()
  }
  return { store, frames, draw }
}

const WHOLE = LOG.reduce(growTree, emptyTree())

test('events that come twice are in it once, in their order', () => {
  const { store } = storeWithFrames()
  expect(store.take(LOG.slice(0, 5))).toBe(true)
  expect(store.take(LOG.slice(2))).toBe(true)
  expect(store.take(LOG)).toBe(true)
  expect(store.events).toEqual(LOG)
  expect(store.tree).toEqual(WHOLE)
  expect(store.last_of).toEqual(
    new Map([
      ['root', 9],
      ['a1', 10],
    ]),
  )
})

test('nothing after a hole is taken, and what is asked for again goes on from before it', () => {
  const { store } = storeWithFrames()
  store.take(LOG.slice(0, 4))
  expect(store.take(LOG.slice(6))).toBe(false)
  expect([store.position, store.events.length]).toEqual([4, 4])
  expect(store.take(LOG.slice(store.position))).toBe(true)
  expect(store.events).toEqual(LOG)
  expect(store.tree).toEqual(WHOLE)
})

test('whoever draws is told once a frame, however much has come', () => {
  const { store, frames, draw } = storeWithFrames()
  let told = 0
  store.subscribe(() => told++)
  const before = store.version()
  for (const event of LOG) store.take([event])
  expect([frames.length, told, store.version()]).toEqual([1, 0, before])
  draw()
  expect([told, store.version() > before]).toEqual([1, true])
})

test('it says when a question may have been asked or answered, and not when a file was read', () => {
  const { store } = storeWithFrames()
  const questioned = LOG.map((event) => {
    store.take([event])
    return store.questioned
  })
  expect(questioned).toEqual([0, 0, 1, 2, 3, 4, 4, 4, 4, 4])
})
