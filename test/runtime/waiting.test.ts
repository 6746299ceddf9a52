import { expect, it, onTestFinished } from 'vitest'
import { createRetinue, type EventData, type EventType, type Model, type StoredEvent } from '../../src/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { family, gate, retinueIn, toldTo } from '../seeds/family.js'
import { makeProject } from '../support/project.js'

const LEAD = {
  profiles: { lead: { can_spawn_children: true, budget: { wall_ms: 600_000 } } },
  budget: { wall_ms: 600_000 },
}

function dataOf<T extends EventType>(events: StoredEvent[], type: T): EventData<T>[] {
  return events.flatMap((event) => (event.type === type ? [event.data as EventData<T>] : []))
}

it('a parent whose tokens are set aside waits for its sub-agents, and goes on', async () => {
  const jobs = Array.from({ length: 4 }, (_, i) => ({ spawn: { task: `Job ${i}` } }))
  const { retinue } = await family(
    {
      root: [{ calls: jobs }, { calls: [{ read_file: { path: 'a.txt' } }] }, { text: 'Early.' }, { text: 'Done.' }],
      'a*': [{ text: 'ok' }],
    },
    {
      files: { 'a.txt': 'x' },
      settings: { mode: 'auto', delegation: { budget: { total_tokens: 20_000 } } },
    },
  )
  const run = retinue.run({ task: 'Work', budget: { total_tokens: 90_000 } })
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
  const events = await retinue.events(run.run_id)
  expect(dataOf(events, 'budget.exceeded')).toEqual([])
  expect(dataOf(events, 'agent.subagent_closed').map(({ final_status }) => final_status)).toEqual(
    Array(4).fill('completed'),
  )
})

it('an attempt that there are no tokens for is not made, and what the last one said is kept', async () => {
  const { retinue } = await family(
    {
      root: [{ calls: [{ spawn_agent: { task: 'Look', profile: 'p' } }] }, { text: 'Done.' }],
      a1: [
        { text: 'Found it: 42', finish_reason: 'length', usage: { input_tokens: 6000, output_tokens: 100 } },
        { delay_ms: 60_000, text: 'more' },
      ],
    },
    {
      settings: {
        mode: 'auto',
        delegation: {
          profiles: { p: { attempt_timeout_ms: 5000, budget: { wall_ms: 30_000, total_tokens: 24_000 } } },
        },
      },
    },
  )
  const run = retinue.run({ task: 'Work' })
  await run.result()
  const [{ content } = { content: '' }] = await toldTo(retinue, run.run_id)
  expect(content).toMatch(/^\[ERROR\] timeout: The 5 seconds of this attempt are used up\.\nFound it: 42\n/)
}, 60_000)

it('a model that does not hear that it is aborted holds up no cancel', async () => {
  const never = gate()
  const script = createScriptedModel({
    name: 'test',
    agents: { root: [{ calls: [{ spawn_agent: { task: 'Look' } }] }, { text: 'Done.' }], a1: [{ text: 'late' }] },
  })
  const deaf: Model = {
    name: script.name,
    window: script.window,
    generate: async (request, options) => {
      if (options.caller.agent_id === 'a1') await never.opened
      return script.generate(request, options)
    },
  }
  const retinue = await createRetinue({ cwd: makeProject({}), models: modelsOf(deaf) })
  onTestFinished(() => retinue.close())
  const run = retinue.run({ task: 'Work' })
  for await (const { type, agent_id } of run) if (type === 'model.requested' && agent_id === 'a1') break
  run.cancel('enough')
  expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
  never.open()
})

it('a deadline holds for one that waits for its slot', async () => {
  const never = gate()
  const { retinue } = await family(
    {
      root: [
        { calls: [{ spawn: { task: 'One' } }, { spawn: { task: 'Two' } }] },
        { calls: [{ spawn_await: { job_ids: 'a1' } }] },
        { text: 'too late' },
      ],
      a1: [{ text: 'one' }],
      a2: [{ text: 'two' }],
    },
    {
      settings: { mode: 'auto', max_concurrent: 1, delegation: { budget: { wall_ms: 600_000 } } },
      hold: ({ agent_id }) => (agent_id === 'a2' ? never.opened : undefined),
    },
  )
  const run = retinue.run({ task: 'Work', budget: { wall_ms: 6000 } })
  // Nothing but the deadline ends a2, which has the only slot.
  expect(await run.result()).toMatchObject({ outcome: 'timeout' })
}, 60_000)

it('a cancel reaches one that waits for its slot, while others have all of them', async () => {
  const others = gate()
  const second = gate()
  const { retinue } = await family(
    {
      root: [
        { calls: [{ spawn: { task: '1', profile: 'lead' } }, ...['2', '3', '4'].map((task) => ({ spawn: { task } }))] },
        { calls: [{ spawn_await: { job_ids: '*' } }] },
        { text: 'Done.' },
      ],
      a1: [{ calls: [{ spawn_agent: { task: 'below' } }] }, { text: 'one' }],
      'a1.1': [{ text: 'below' }],
      'a*': [{ text: 'ok' }],
    },
    {
      settings: { mode: 'auto', max_concurrent: 2, delegation: LEAD },
      hold: ({ agent_id }) => {
        if (agent_id === 'a2') return second.opened
        return agent_id === 'a3' || agent_id === 'a4' ? others.opened : undefined
      },
    },
  )
  const run = retinue.run({ task: 'Work' })
  for await (const event of run) {
    if (event.type === 'model.requested' && event.agent_id === 'a3') second.open()
    if (event.type === 'model.requested' && event.agent_id === 'a4') break
  }
  // a1 is back from waiting, or on its way; both slots are held by a3 and a4, which wait for the test.
  const { outcome } = await retinue.cancelAgent(run.run_id, 'a1', 'person', 'enough')
  expect(['cancelled', 'completed']).toContain(outcome)
  others.open()
  expect(await run.result()).toMatchObject({ outcome: 'completed' })
}, 60_000)

it('a cancel of one that is not taken up yet is remembered', async () => {
  const agents: ScriptedModelOptions['agents'] = {
    root: [
      { calls: [{ spawn: { task: '1' } }, { spawn: { task: '2', profile: 'lead' } }] },
      { calls: [{ spawn_await: { job_ids: '*' } }] },
      { text: 'Done.' },
    ],
    a1: [{ text: 'one' }],
    a2: [{ calls: [{ spawn_agent: { task: 'below' } }] }, { text: 'two' }],
    'a2.1': [{ text: 'below' }],
  }
  const holding = (opened: Promise<void>) => ({
    hold: ({ agent_id }: { agent_id: string }) => (agent_id === 'a1' || agent_id === 'a2.1' ? opened : undefined),
  })
  const { retinue, cwd } = await family(agents, {
    settings: { mode: 'auto', delegation: LEAD },
    ...holding(gate().opened),
  })
  const run = retinue.run({ task: 'Work' })
  const asked = new Set<string>()
  for await (const { type, agent_id } of run) {
    if (type === 'model.requested') asked.add(agent_id)
    if (asked.has('a1') && asked.has('a2.1')) break
  }
  run.leave('to go on elsewhere')
  await run.result().catch(() => {})
  const one = gate()
  const model = createScriptedModel({ name: 'test', agents })
  const second = await retinueIn(cwd, model, {
    settings: { mode: 'auto', max_concurrent: 1, delegation: LEAD },
    ...holding(one.opened),
  })
  const again = second.resume(run.run_id)
  for await (const { type, agent_id } of again) if (type === 'agent.resumed' && agent_id === 'a1') break
  const cancelled = second.cancelAgent(run.run_id, 'a2.1', 'person', 'enough')
  // a2 has no slot before a1 is done; by then the cancel must have been heard.
  while ((await second.store.signals({ run_id: run.run_id, after: 0 })).length === 0) await new Promise(setImmediate)
  await new Promise((heard) => setTimeout(heard, 500))
  one.open()
  expect(await cancelled).toMatchObject({ outcome: 'cancelled' })
  expect(await again.result()).toMatchObject({ outcome: 'completed' })
}, 60_000)

it('what is known of a cost stays spent where the rest is not known', async () => {
  const script = createScriptedModel({
    name: 'test',
    agents: {
      root: [{ calls: [{ spawn_agent: { task: 'One' } }] }, { text: 'Done.' }],
      a1: [
        { calls: [{ read_file: { path: 'a.txt' } }], cost_usd: 0.2, usage: { input_tokens: 1000, output_tokens: 10 } },
        { text: 'one', usage: { input_tokens: 1000, output_tokens: 10 } },
      ],
    },
  })
  // Without a price: what an answer costs is known only where the script says so.
  const model: Model = { name: script.name, window: script.window, generate: script.generate.bind(script) }
  const retinue = await createRetinue({ cwd: makeProject({ 'a.txt': 'x' }), models: modelsOf(model) })
  onTestFinished(() => retinue.close())
  const run = retinue.run({ task: 'Work' })
  expect(await run.result()).toMatchObject({ outcome: 'completed', cost_usd: null })
  const [closed] = dataOf(await retinue.events(run.run_id), 'agent.subagent_closed')
  expect(closed?.used.cost_usd).toBe(0.2)
})

it('a run that is only cancelled connects to nothing', async () => {
  const { retinue, cwd, model } = await family(
    { root: [{ calls: [{ spawn_agent: { task: 'Look' } }] }, { text: 'Done.' }], a1: [{ text: 'late' }] },
    { hold: ({ agent_id }) => (agent_id === 'a1' ? gate().opened : undefined) },
  )
  const run = retinue.run({ task: 'Work' })
  for await (const { type, agent_id } of run) if (type === 'model.requested' && agent_id === 'a1') break
  run.leave('gone')
  await run.result().catch(() => {})
  let opened = 0
  const second = await createRetinue({
    cwd,
    models: modelsOf(model),
    reach: async () => {
      opened += 1
      return {}
    },
  })
  onTestFinished(() => second.close())
  expect(await second.cancel(run.run_id, 'person', 'enough')).toMatchObject({ outcome: 'cancelled' })
  expect(opened).toBe(0)
})
