import { createHash } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createRetinue, type Retinue, type StoredEvent } from '../../src/index.js'
import { serve } from '../../src/server/index.js'
import { OwnRuns } from '../../src/server/own-runs.js'
import { ROUTES } from '../../src/server/routes/index.js'
import { client, scripted, served } from './routes-lab.js'

const SETTINGS = { model: { name: 'scripted/script.yaml', source: 'user' as const } }

const FOREVER = 'agents: { root: [{ delay_ms: 600000, text: Never. }] }'

async function untilEvent(retinue: Retinue, run_id: string, type: StoredEvent['type']): Promise<void> {
  for await (const event of retinue.follow(run_id)) if (event.type === type) return
  throw new Error(`there was no ${type}`)
}

it('begins a run that goes on after the answer, in this process', async () => {
  const retinue = await scripted('agents: { root: [{ text: Done. }] }')
  const window = await served(retinue)
  const { status, body } = await window.send('POST', '/runs', { task: 'Do it', budget: { turns: 3 } })
  expect(status).toBe(201)
  const { run_id } = body as { run_id: string }
  await untilEvent(retinue, run_id, 'run.closed')
  const [created, started] = await retinue.events(run_id)
  expect(created).toMatchObject({ type: 'run.created', data: { task: 'Do it' } })
  expect(started).toMatchObject({ data: { contract: { execution: { budget: { turns: 3 } } } } })
  expect(await retinue.result(run_id)).toMatchObject({ outcome: 'completed', text: 'Done.' })
})

it('says what keeps a run from beginning', async () => {
  const retinue = await scripted(FOREVER)
  const window = await served(retinue)
  const refused = async (order: unknown) => {
    const { status, body } = await window.send('POST', '/runs', order)
    const { code, message } = (body as { error: { code: string; message: string } }).error
    return [status, code, message]
  }
  expect(await refused({ task: ' ' })).toEqual([400, 'input', 'The task is empty: say what is to be done'])
  expect(await refused({ task: 'Do it', profile: 'nobody' })).toMatchObject([400, 'input', expect.any(String)])
  expect(await refused({ task: 'Do it', session_id: 'nothing' })).toMatchObject([404, 'not_found', expect.any(String)])
  expect(await refused({ task: 'Do it', plan: true, profile: 'planner' })).toEqual([
    400,
    'input',
    'A plan is made by the planner: leave out the profile, or the plan',
  ])
  expect(await refused({ task: 'Do it', principal: 'somebody' })).toMatchObject([400, 'input', expect.any(String)])
  expect(await retinue.runs()).toEqual([])
})

it('waits for an answer that comes through the window', async () => {
  const script = 'agents: { root: [{ calls: [{ write_file: { path: a.txt, content: x } }] }, { text: Written. }] }'
  const retinue = await scripted(script)
  const window = await served(retinue)
  const { run_id } = (await window.send('POST', '/runs', { task: 'Write' })).body as { run_id: string }
  await untilEvent(retinue, run_id, 'permission.asked')
  const { questions } = (await window.get(`/runs/${run_id}/questions`)).body as {
    questions: { agent_id: string; call_id: string; kind: string }[]
  }
  expect(questions).toMatchObject([{ agent_id: 'root', kind: 'permission', tool: 'write_file' }])
  expect((await window.get('/runs')).body).toMatchObject({ runs: [{ run_id, status: 'running', asks: 1 }] })
  const { agent_id, call_id } = questions[0] as (typeof questions)[0]
  const answer = { agent_id, call_id, kind: 'permission', answer: 'allow' }
  expect(await window.send('POST', `/runs/${run_id}/answers`, answer)).toEqual({ status: 200, body: { questions: [] } })
  await untilEvent(retinue, run_id, 'run.closed')
  expect(await retinue.result(run_id)).toMatchObject({ outcome: 'completed', files_changed: ['a.txt'] })
  const answers = (await retinue.events(run_id)).filter(({ type }) => type === 'permission.answered')
  expect(answers).toMatchObject([{ data: { answer: 'allow', by: retinue.control().principal.id } }])
  expect(await window.send('POST', `/runs/${run_id}/answers`, answer)).toMatchObject({
    body: { error: { code: expect.stringMatching(/held|input|not_found|conflict/) } },
  })
})

it('asks before a plan is carried out', async () => {
  const steps = '[{ id: one, title: One, description: Do it }]'
  const plan = JSON.stringify(`version: 1\ngoal: All of it\nsteps: ${steps}\n`)
  const script = `agents: { a1: [{ text: ${plan} }], "a*": [{ text: Done. }] }`
  const retinue = await scripted(script)
  const window = await served(retinue)
  const { run_id } = (await window.send('POST', '/runs', { task: 'All of it', plan: true })).body as { run_id: string }
  await vi.waitFor(
    async () => {
      const { questions } = (await window.get(`/runs/${run_id}/questions`)).body as { questions: { kind: string }[] }
      expect(questions).toMatchObject([{ kind: 'approval', step: null }])
    },
    { timeout: 100_000 },
  )
  expect(await retinue.find(run_id)).toMatchObject({ plan: true, status: 'running', said: 'All of it' })
  const { questions } = (await window.get(`/runs/${run_id}/questions`)).body as {
    questions: { agent_id: string; call_id: string }[]
  }
  const { agent_id, call_id } = questions[0] as (typeof questions)[0]
  const answer = { agent_id, call_id, kind: 'approval', step: null, answer: 'approve' }
  expect(await window.send('POST', `/runs/${run_id}/answers`, answer)).toMatchObject({ status: 200 })
  await untilEvent(retinue, run_id, 'run.closed')
  expect(await retinue.planOutcome(run_id)).toMatchObject({ status: 'completed' })
})

it('cancels a run, and one of its sub-agents, wherever they are', async () => {
  const script = `
agents:
  root:
    - calls: [{ spawn: { task: One } }, { spawn: { task: Two } }]
    - calls: [{ spawn_await: { job_ids: "*" } }]
    - text: Never.
  "a*":
    - delay_ms: 600000
      text: Never.
`
  const retinue = await scripted(script)
  const window = await served(retinue)
  const elsewhere = await createRetinue({ cwd: retinue.cwd, env: {}, settings: SETTINGS })
  onTestFinished(() => elsewhere.close())
  const run = elsewhere.run({ task: 'Wait' })
  await vi.waitFor(async () => expect(await retinue.agents(run.run_id)).toHaveLength(3), { timeout: 100_000 })
  const cancel = (body: object) => window.send('POST', `/runs/${run.run_id}/cancel`, body)
  expect(await cancel({ agent_id: 'a9' })).toMatchObject({ status: 404 })
  expect(await cancel({ agent_id: 'a1', reason: 'not needed' })).toMatchObject({
    status: 200,
    body: { run: { status: 'running' } },
  })
  expect(await window.get(`/runs/${run.run_id}/agents/a1`)).toMatchObject({
    body: { result: { outcome: 'cancelled' } },
  })
  expect(await cancel({})).toMatchObject({
    status: 200,
    body: { run: { status: 'closed' }, result: { outcome: 'cancelled' }, owned_here: false },
  })
  expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
})

it('goes on with a run once, and not with one that somebody works on', async () => {
  // It writes all the time, so that its events could pass for those of whoever wants to go on with it.
  const step = '    - { delay_ms: 5, calls: [{ list_dir: {} }] }\n'
  const retinue = await scripted(`agents:\n  root:\n${step.repeat(300)}    - { delay_ms: 600000, text: Never. }\n`)
  const window = await served(retinue)
  const elsewhere = await createRetinue({ cwd: retinue.cwd, env: {}, settings: SETTINGS })
  onTestFinished(() => elsewhere.close())
  const run = elsewhere.run({ task: 'Wait', budget: { turns: 1000, tool_calls: 1000 } })
  await untilEvent(retinue, run.run_id, 'model.requested')
  const resume = () => window.send('POST', `/runs/${run.run_id}/resume`)
  expect(await resume()).toMatchObject({ status: 409, body: { error: { code: 'held' } } })
  expect(await window.get(`/runs/${run.run_id}`)).toMatchObject({ body: { owned_here: false } })
  run.leave('the test')
  await run.result().catch(() => {})
  expect(await resume()).toEqual({ status: 200, body: { run_id: run.run_id } })
  expect(await resume()).toMatchObject({ status: 409 })
  // The second try that failed has not made it forget the first.
  expect(await window.get(`/runs/${run.run_id}`)).toMatchObject({ body: { owned_here: true } })
})

it('lets go of its runs when it is ended, and begins none after that', async () => {
  const retinue = await scripted(FOREVER)
  const own = new OwnRuns(retinue)
  const ids = await Promise.all([1, 2].map((n) => own.begin((one) => one.run({ task: `Wait ${n}` }))))
  expect(ids.map((run_id) => own.has(run_id))).toEqual([true, true])
  expect((await own.leave('the server was ended')).sort()).toEqual([...ids].sort())
  expect(ids.map((run_id) => own.has(run_id))).toEqual([false, false])
  for (const run_id of ids) expect(await retinue.find(run_id)).toMatchObject({ status: 'interrupted' })
  await expect(own.begin((one) => one.run({ task: 'Late' }))).rejects.toMatchObject({ code: 'held' })
  expect(await retinue.runs()).toHaveLength(2)
})

it('a viewer looks, and changes nothing', async () => {
  const retinue = await scripted(FOREVER, { settings: { principals: { vera: 'viewer' } } })
  const users = { vera: { token_sha256: createHash('sha256').update('t'.repeat(43)).digest('hex') } }
  const serving = await serve(retinue, { host: '127.0.0.1', port: 0, users, origins: [] })
  onTestFinished(async () => {
    await serving.close('the test is over')
  })
  const window = client(`${serving.address}/api`, 't'.repeat(43))
  expect(await window.get('/me')).toMatchObject({ status: 200, body: { principal: { id: 'vera', role: 'viewer' } } })
  const bodies: Record<string, unknown> = {
    'POST /runs': { task: 'Do it' },
    'PUT /registry': { text: '{"version":1,"agents":[]}', expected_version: 0 },
    'PUT /pins/:scope': { name: 'executor' },
  }
  const changing = ROUTES.filter(({ method }) => method !== 'GET')
  for (const { method, path } of changing) {
    const filled = path.replace(':run', 'nothing').replace(':scope', 'global')
    const { status, body } = await window.send(method as 'POST', filled, bodies[`${method} ${path}`] ?? {})
    expect([path, status, (body as { error: { code: string } }).error.code]).toEqual([path, 403, 'denied'])
  }
  expect(await retinue.runs()).toEqual([])
})
