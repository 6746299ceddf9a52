import { expect, it } from 'vitest'
import type { AgentsView, StoredEvent, WatchedEvent } from '../../src/index.js'
import { retinue } from '../support/cli.js'
import { call, serving } from '../support/serving.js'
import { keptIn, settledPlace, tokenOf, usersConfig } from '../support/window-place.js'

/** Rows of the seeds that are about the window, as a program reaches them; test/web does what a person does there. */

it('B6: a condensed line for each event of a sub-agent, and all of it on expansion', async () => {
  const { cwd, run_id } = await settledPlace()
  const window = await serving(cwd)
  const { body } = await call<{ events: WatchedEvent[] }>(window, 'GET', `/runs/${run_id}/events?limit=200`)
  const about = body.events.filter(({ agent_id, type }) => agent_id === 'a1' || type.startsWith('agent.subagent_'))
  expect(about.filter(({ type }) => type.startsWith('agent.')).map(({ type, summary }) => [type, summary])).toEqual([
    ['agent.subagent_created', expect.stringMatching(/^researcher a1 created on scripted\/s\.yaml .*: Look/)],
    ['agent.subagent_started', 'sub-agent started: Look'],
    ['agent.subagent_attempt', 'attempt 1'],
    ['agent.subagent_waiting_for_merge', 'sub-agent has its result, completed, and waits to be joined'],
    ['agent.subagent_closed', expect.stringContaining('a1')],
  ])
  // The condensed line of the terminal says the same.
  const { stdout } = await retinue(['show', run_id], { cwd })
  for (const { summary } of about) expect(stdout).toContain(summary)

  const [created] = about
  const whole = await call<StoredEvent>(window, 'GET', `/runs/${run_id}/events/${created?.position}`)
  const { stdout: logged } = await retinue(['show', run_id, '--json'], { cwd })
  const line = logged.split('\n').find((text) => text.includes('agent.subagent_created')) as string
  expect(whole).toEqual({ status: 200, body: JSON.parse(line) })
})

it('D6: profiles are listed, the registry is edited by those who may, pins in effect are shown, no other policy changes', async () => {
  const config = usersConfig({ vera: 'viewer', otto: 'operator' })
  const { cwd } = await settledPlace({ config })
  const window = await serving(cwd)
  const as = (name: string) => ({ ...window, token: tokenOf(name) })
  const { body: seen } = await call<AgentsView>(as('vera'), 'GET', '/agents')
  expect(seen.profiles.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['researcher', 'planner', 'executor', 'reviewer', 'tester']),
  )
  expect(seen.in_effect).toMatchObject({ scope: 'workspace', handle: '@critic', profile_id: 'reviewer' })

  const { body: stored } = await call<{ version: number; value: { agents: object[] } }>(as('vera'), 'GET', '/registry')
  const agents = [...stored.value.agents, { agentId: '@scout', profileId: 'researcher', description: 'Looks ahead.' }]
  const put = { text: JSON.stringify({ ...stored.value, agents }), expected_version: stored.version }
  const before = await keptIn(cwd)
  expect(await call(as('vera'), 'PUT', '/registry', put)).toMatchObject({
    status: 403,
    body: { error: { code: 'denied', message: expect.stringContaining('vera is viewer') } },
  })
  const bad = { ...put, text: put.text.replace('"researcher"', '"nobody"') }
  expect(await call(as('otto'), 'PUT', '/registry', bad)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('nobody') } },
  })
  expect(await keptIn(cwd)).toEqual(before)
  expect(await call(as('otto'), 'PUT', '/registry', put)).toMatchObject({ status: 200 })
  expect(await call(as('otto'), 'PUT', '/registry', put)).toMatchObject({ status: 409 })
  expect((await retinue(['agents'], { cwd })).stdout).toContain('@scout')

  for (const id of ['agent-registry:default', 'profile:researcher', 'trusted_projects', 'permissions']) {
    for (const path of [`/policies/${id}`, `/policy/${id}`, `/registry/${id}`, `/pins/${id}`, `/profiles/${id}`]) {
      const { status } = await call(as('otto'), 'PUT', path, { name: 'reviewer', value: {} })
      expect({ path, refused: status === 404 || status === 400 }).toEqual({ path, refused: true })
    }
  }
  const changed = (await keptIn(cwd)).records.filter(
    ({ id, version }) => before.records.find((record) => record.id === id)?.version !== version,
  )
  expect(changed.map(({ id }) => id)).toEqual(['agent-registry:default'])
})

it('E7: what sub-agents do and use can be measured', async () => {
  const { cwd } = await settledPlace()
  const { address, token } = await serving(cwd)
  const metrics = await fetch(`${address}/api/metrics`, { headers: { authorization: `Bearer ${token}` } })
  const text = await metrics.text()
  expect(text).toContain('retinue_runs{status="closed"} 1\n')
  expect(text).toMatch(/^retinue_agents_at_work 0$/m)
  expect(text).toMatch(/^retinue_tokens\{.*\} \d+$/m)
})
