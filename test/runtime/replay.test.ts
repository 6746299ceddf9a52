import { describe, expect, onTestFinished, test } from 'vitest'
import { createRetinue, type StoredEvent } from '../../src/index.js'
import { replayRun } from '../../src/runtime/index.js'
import { createMemoryStore, type Store } from '../../src/store/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { makeProject } from '../support/project.js'

/** Two levels of sub-agents, one of which succeeds at its second attempt. */
async function treeRun() {
  const model = createScriptedModel({
    name: 's',
    agents: {
      root: [
        { calls: [{ spawn: { task: 'Lead', profile: 'lead' } }, { spawn: { task: 'Stumble' } }] },
        { calls: [{ spawn_await: { job_ids: '*' } }] },
        { text: 'All done.' },
      ],
      a1: [{ calls: [{ spawn_agent: { task: 'Read a.txt' } }] }, { text: 'Led.' }],
      'a1.*': [{ calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'Read.' }],
      a2: [{ calls: [{ read_file: { path: 'a.txt' } }] }, { fail: { code: 'overloaded' } }],
      'a2#2': [{ text: 'Up again.' }],
    },
  })
  const store = createMemoryStore({ clock: { now: () => Date.now() } })
  const retinue = await createRetinue({
    cwd: makeProject({ 'a.txt': 'a\n' }),
    store,
    models: modelsOf(model),
    settings: { mode: 'auto', max_attempts: 1, delegation: { profiles: { lead: { can_spawn_children: true } } } },
  })
  onTestFinished(() => retinue.close())
  const { run_id, outcome, reason } = await retinue.run({ task: 'Go' }).result()
  expect([outcome, reason]).toEqual(['completed', null])
  model.assertAllUsed()
  return { retinue, store, run_id, events: await retinue.events(run_id), model }
}

/** The same store, but for one event that reads otherwise, and with a count of how often the chain was verified. */
function altered(store: Store, change: (event: StoredEvent) => StoredEvent = (event) => event) {
  let verified = 0
  const changed: Pick<Store, 'read' | 'verify' | 'blob'> = {
    read: async (query) => (await store.read(query)).map(change),
    verify: (run_id) => {
      verified += 1
      return store.verify(run_id)
    },
    blob: (digest) => store.blob(digest),
  }
  return { store: changed as Store, verified: () => verified }
}

describe('replay of a tree', () => {
  test('rebuilds every request of every agent, in the order in which they were sent', async () => {
    const { retinue, store, run_id, events, model } = await treeRun()
    const counted = altered(store)
    const replayed = await replayRun(counted.store, run_id)
    expect(counted.verified()).toBe(1)
    expect(replayed).toMatchObject({ ok: true, agents: 4, events: events.length })
    expect(await retinue.replay(run_id)).toEqual(replayed)

    const sent = events.filter((event) => event.type === 'model.requested')
    const where = ({ agent_id, seq, position }: StoredEvent) => ({ agent_id, seq, position })
    expect(replayed.requests.map(({ agent_id, seq, position }) => ({ agent_id, seq, position }))).toEqual(
      sent.map(where),
    )
    const byId = new Map(replayed.requests.map((rebuilt) => [`${rebuilt.agent_id} ${rebuilt.request_id}`, rebuilt]))
    for (const { caller, request } of model.requests) {
      expect(byId.get(`${caller.agent_id} ${caller.request_id}`)?.request).toEqual(request)
    }
    expect(byId.size).toBe(model.requests.length)
  })

  test('names the agent and the event whose request does not come out the same', async () => {
    const { store, run_id, events } = await treeRun()
    const read = events.find((event) => event.agent_id === 'a1.1' && event.type === 'tool.finished') as StoredEvent
    const next = events.find(
      (event) => event.agent_id === 'a1.1' && event.type === 'model.requested' && event.seq > read.seq,
    ) as StoredEvent
    const lying = altered(store, (event) =>
      event.position === read.position
        ? ({ ...event, data: { ...event.data, content: 'lies' } } as StoredEvent)
        : event,
    ).store
    const replayed = await replayRun(lying, run_id)
    expect(replayed).toMatchObject({
      ok: false,
      code: 'differs',
      seq: next.seq,
      message: expect.stringMatching(`^event ${next.seq} of agent a1\\.1: the request rebuilt from the log is not`),
    })
    // Those that were sent before it are as they were.
    const before = events.filter(({ type, position }) => type === 'model.requested' && position < next.position)
    expect(replayed.requests.map(({ position }) => position)).toEqual(before.map(({ position }) => position))
    expect(await replayRun(lying, 'none')).toMatchObject({ ok: false, code: 'not_found' })
  })
})
