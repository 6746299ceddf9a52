import { expect, it, onTestFinished } from 'vitest'
import { createModels, type Profile, type Retinue } from '../../src/index.js'
import { type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { makeProject } from '../support/project.js'
import { testRetinue } from '../support/retinues.js'

type Played = { retinue: Retinue; asked: () => string[] }

/** A provider on this machine, which knows every model by name and remembers which ones it was asked for. */
async function provider(steps: LoopbackStep[], profiles: Record<string, Profile>, models: string[]): Promise<Played> {
  const server = await startLoopback({ protocol: 'chat', steps, order: 'sequential' })
  onTestFinished(() => server.close())
  const cwd = makeProject({})
  const retinue = await testRetinue({
    cwd,
    models: createModels({
      env: {},
      providers: { p: { type: 'openai-compatible', base_url: server.url } },
      pools: { fast: ['p/pool-one', 'p/pool-two'] },
      discover: false,
    }),
    settings: { model: { name: 'p/usual', source: 'user' }, delegation: { roles: false, profiles, models } },
  })
  return { retinue, asked: () => server.requests.map(({ body }) => (body as { model: string }).model) }
}

const spawn = (args: Record<string, string>) => ({ calls: [{ name: 'spawn_agent', args }] })

it('D3: a model that the profile does not list never reaches the provider; contract, event and result say so', async () => {
  const { retinue, asked } = await provider(
    [
      spawn({ task: 'One', profile: '@cheap', model: 'p/expensive' }),
      { text: 'First.' },
      spawn({ task: 'Two', profile: '@cheap', model: 'p/other' }),
      { text: 'Second.' },
      { text: 'Done.' },
      { text: 'Third.' },
    ],
    { cheap: { model: 'p/cheap', models: ['p/other'] } },
    ['p/expensive'],
  )
  await retinue.control().register({ agentId: '@cheap', profileId: 'cheap', description: 'Does it for little.' })
  const run = retinue.run({ task: 'Have it done' })
  const events = []
  for await (const event of run) events.push(event)
  expect((await run.result()).outcome).toBe('completed')
  expect(asked()).toEqual(['usual', 'cheap', 'usual', 'other', 'usual'])

  const clamp = { field: 'model', asked: 'p/expensive', given: 'p/cheap', reason: expect.stringContaining('cheap') }
  const [one] = (await retinue.agents(run.run_id)).filter(({ agent_id }) => agent_id === 'a1')
  const contract = JSON.parse(one?.context_json ?? '{}')
  expect(contract.model).toEqual({ provider: 'p', model: 'cheap', source: 'profile', allowed: ['p/cheap', 'p/other'] })
  expect(contract.adjustments).toEqual([clamp])
  const created = events.flatMap((event) => (event.type === 'agent.subagent_created' ? [event.data.contract] : []))
  expect(created[0]?.adjustments).toEqual([clamp])
  const told = (await retinue.replay(run.run_id)).requests.at(-1)?.request.messages ?? []
  expect(JSON.stringify(told)).toContain('p/expensive')

  const [result] = await retinue.fanOut([{ task: 'Three', profile: '@cheap', model: 'p/expensive' }]).results()
  expect(result?.adjustments).toEqual([clamp])
  expect(asked().at(-1)).toBe('cheap')
})

it('D3: nobody asks a provider for a model that neither the person nor the profile lets', async () => {
  const { retinue, asked } = await provider(
    [spawn({ task: 'One', model: 'p/expensive' }), { text: 'As usual.' }, { text: 'Done.' }],
    {},
    [],
  )
  await retinue.run({ task: 'Have it done' }).result()
  expect(asked()).toEqual(['usual', 'usual', 'usual'])
})

it('D4: the model policy of a pinned profile holds for the root agent, whatever --model says, and is reported', async () => {
  const { retinue, asked } = await provider([{ text: 'Hm.' }, { text: 'Yes.' }], { cheap: { model: 'p/cheap' } }, [])
  await retinue.control().pin('cheap', 'global')
  const pinned = await retinue.run({ task: 'Say something' }).result()
  const clamped = await retinue.run({ task: 'Say something', model: 'p/expensive' }).result()
  expect(asked()).toEqual(['cheap', 'cheap'])
  const adjustments = await Promise.all(
    [pinned, clamped].map(async ({ run_id }) => {
      const started = (await retinue.events(run_id)).find((event) => event.type === 'agent.started')
      return started?.type === 'agent.started' ? started.data.contract.adjustments : null
    }),
  )
  expect(adjustments).toEqual([
    [],
    [{ field: 'model', asked: 'p/expensive', given: 'p/cheap', reason: 'the profile cheap is for p/cheap alone' }],
  ])
})

it('A11: a profile names its pool: an ordered list of models, the next when one fails', async () => {
  const { retinue, asked } = await provider(
    [
      spawn({ task: 'One', profile: 'quick' }),
      { fault: { kind: 'status', status: 429, headers: { 'retry-after': '3600' } } },
      { text: 'By the second.' },
      { text: 'Done.' },
    ],
    { quick: { pool: 'fast' } },
    [],
  )
  const { run_id } = await retinue.run({ task: 'Have it done' }).result()
  expect(asked()).toEqual(['usual', 'pool-one', 'pool-two', 'usual'])
  const [one] = (await retinue.agents(run_id)).filter(({ agent_id }) => agent_id === 'a1')
  expect(JSON.parse(one?.context_json ?? '{}').model).toMatchObject({
    provider: 'pool',
    model: 'fast',
    source: 'profile',
  })
})
