import { expect, it } from 'vitest'
import type { z } from 'zod'
import { costsOf, type Dossier, openDossier, type Retinue, VERSION, watched } from '../../src/index.js'
import type { Route } from '../../src/server/route.js'
import { ROUTES } from '../../src/server/routes/index.js'
import {
  begin,
  result,
  subAgent,
  subAgentClosed,
  subAgentCreated,
  subAgentWaits,
  taken,
} from '../../src/store/conformance/fixtures.js'
import { type Client, scripted, served } from './routes-lab.js'

const TREE = `
agents:
  root:
    - calls:
        - spawn_agent: { task: Read the file }
        - spawn_agent: { task: Fail }
    - text: "All done."
  a1:
    - calls: [{ read_file: { path: a.txt } }]
    - text: It says alpha.
  a2:
    - fail: { code: auth, message: no entry }
`

const json = (value: unknown) => JSON.parse(JSON.stringify(value))

/** A run with two sub-agents that is closed, and a window on it. */
async function closedTree(): Promise<{ retinue: Retinue; window: Client; run_id: string }> {
  const retinue = await scripted(TREE, { files: { 'a.txt': 'alpha\n' } })
  const window = await served(retinue)
  const run = retinue.run({ task: 'Read and fail' })
  await run.result()
  return { retinue, window, run_id: run.run_id }
}

it('says who asks, where, and what a run would have', async () => {
  const retinue = await scripted(TREE)
  const window = await served(retinue)
  expect(await window.get('/me')).toEqual({
    status: 200,
    body: json({
      principal: retinue.control().principal,
      folder: retinue.cwd,
      version: VERSION,
      choices: await retinue.choices(),
    }),
  })
})

it('shows a run, its agents and its events as the library has them', async () => {
  const { retinue, window, run_id } = await closedTree()
  const run = await retinue.find(run_id)
  const result = await retinue.result(run_id)
  const events = await retinue.events(run_id)
  const get = async (path: string) => window.get(`/runs/${run_id}${path}`)
  expect(await get('')).toEqual({ status: 200, body: json({ run, result, owned_here: false, by: null }) })
  expect(await get('/report')).toEqual({ status: 200, body: { report: 'All done.' } })
  const rows = (await retinue.agents(run_id)).map(({ context_json: _, ...row }) => row)
  expect(rows.map(({ agent_id }) => agent_id)).toEqual(['root', 'a1', 'a2'])
  expect(await get('/agents')).toEqual({ status: 200, body: json({ agents: rows }) })
  for (const { agent_id } of rows) {
    const { events: _, ...dossier } = openDossier(events, agent_id) as Dossier
    expect(await get(`/agents/${agent_id}`)).toEqual({ status: 200, body: json(dossier) })
    const own = events.filter((event) => event.agent_id === agent_id)
    expect(await get(`/agents/${agent_id}/events`)).toEqual({ status: 200, body: json({ events: own, more: false }) })
  }
  const [first, second, third] = events
  expect(await get('/events?limit=2')).toEqual({
    status: 200,
    body: json({ events: [first, second].map((event) => watched(event as NonNullable<typeof event>)), more: true }),
  })
  expect(await get(`/events?after=2&limit=${events.length - 2}`)).toEqual({
    status: 200,
    body: json({ events: events.slice(2).map(watched), more: false }),
  })
  expect(await get('/events/3')).toEqual({ status: 200, body: json(third) })
})

it('shows an agent as it is now, however often it was asked for before', async () => {
  const retinue = await scripted('agents: {}')
  const window = await served(retinue)
  const { store } = retinue
  const sub = subAgent(1)
  await begin(store, 'r')
  const stages = [[subAgentCreated(sub)], [subAgentWaits(sub, result()), subAgentClosed(sub, result())]]
  let expected_seq = 2
  const ends = []
  for (const events of stages) {
    await taken(store, { run_id: 'r', agent_id: 'root', epoch: 1, expected_seq, events })
    expected_seq += events.length
    const { events: _, ...dossier } = openDossier(await retinue.events('r'), 'a1') as Dossier
    expect(await window.get('/runs/r/agents/a1')).toEqual({ status: 200, body: json(dossier) })
    ends.push(dossier.final_status)
  }
  expect(ends).toEqual([null, 'completed'])
})

it('has the whole output of a tool where the log has its beginning and end', async () => {
  const script = 'agents: { root: [{ calls: [{ run_command: { command: seq 1 20000 } }] }, { text: Counted. }] }'
  const retinue = await scripted(script, { settings: { mode: 'dangerous', sandbox: 'off' } })
  const window = await served(retinue)
  const { run_id } = await retinue.run({ task: 'Count' }).result()
  const ran = (await retinue.events(run_id)).find((event) => event.type === 'tool.finished')
  if (ran?.type !== 'tool.finished' || ran.data.output === null) throw new Error('it was not cut')
  const whole = Buffer.from((await retinue.store.blob(ran.data.output.digest)) as Uint8Array).toString()
  expect(whole).toContain('\n10000\n')
  expect(ran.data.content).not.toContain('\n10000\n')
  expect(await window.get(`/runs/${run_id}/events/${ran.position}/output`)).toEqual({ status: 200, body: whole })
  expect(await window.get(`/runs/${run_id}/events/1/output`)).toMatchObject({ status: 404 })
})

it('answers for what is not there or not right, with what was wrong', async () => {
  const { window, run_id } = await closedTree()
  const refused = async (path: string) => {
    const { status, body } = await window.get(path)
    return [status, (body as { error: { code: string } }).error.code]
  }
  const missing = [404, 'not_found']
  const wrong = [400, 'input']
  expect(await refused('/runs/nothing')).toEqual(missing)
  // The beginning of an id is enough for a person at a terminal, and a mistake here.
  expect(await refused(`/runs/${run_id.slice(0, 4)}`)).toEqual(missing)
  expect(await refused(`/runs/${run_id}/agents/a9`)).toEqual(missing)
  expect(await refused(`/runs/${run_id}/events/9999`)).toEqual(missing)
  for (const id of ['..%2f..%2fetc', 'A', 'a.b', '%00', 'x'.repeat(33)]) {
    expect([id, await refused(`/runs/${id}`)]).toEqual([id, wrong])
  }
  for (const id of ['..%2fx', 'b1', 'a', 'a1.', 'a1..2', '__proto__']) {
    expect([id, await refused(`/runs/${run_id}/agents/${id}`)]).toEqual([id, wrong])
  }
  for (const query of [
    'after=-1',
    'after=x',
    'limit=0',
    'limit=1001',
    'limit=1e3',
    'aftr=1',
    'after=9007199254740993',
  ]) {
    expect([query, await refused(`/runs/${run_id}/events?${query}`)]).toEqual([query, wrong])
  }
  for (const position of ['0', '-1', 'x', '1.0']) {
    expect([position, await refused(`/runs/${run_id}/events/${position}`)]).toEqual([position, wrong])
  }
  expect(await refused(`/runs/${run_id}/plan`)).toEqual(wrong)
  expect(await refused(`/runs/${run_id}/results`)).toEqual(wrong)
})

it('lists runs in pages, by status, session and text', async () => {
  const retinue = await scripted('agents: { root: [{ text: Done. }] }')
  const window = await served(retinue)
  const runs = []
  for (const task of ['Mend the roof', 'Paint the door', 'Mend the DOOR', 'Sweep']) {
    const run = retinue.run({ task })
    await run.result()
    runs.unshift({ ...(await retinue.find(run.run_id)), asks: 0 })
  }
  const [sweep, mend, paint, roof] = json(runs)
  const list = async (query: string) => (await window.get(`/runs?${query}`)).body
  expect(await list('')).toEqual({ runs: [sweep, mend, paint, roof], more: false })
  expect(await list('limit=2')).toEqual({ runs: [sweep, mend], more: true })
  expect(await list(`limit=2&before=${mend.run_id}`)).toEqual({ runs: [paint, roof], more: false })
  expect(await list('q=door')).toEqual({ runs: [mend, paint], more: false })
  expect(await list('q=door&limit=1')).toEqual({ runs: [mend], more: true })
  expect(await list(`q=${roof.run_id.slice(2, 9)}`)).toEqual({ runs: [roof], more: false })
  expect(await list(`session_id=${paint.session_id}`)).toEqual({ runs: [paint], more: false })
  expect(await list('status=closed&limit=1')).toEqual({ runs: [sweep], more: true })
  expect(await list('status=running')).toEqual({ runs: [], more: false })
  expect(await window.get('/runs?before=nothing')).toMatchObject({ status: 404 })
})

it('shows what a program handed out, and a plan', async () => {
  const retinue = await scripted('agents: { "a*": [{ text: Done. }] }')
  const window = await served(retinue)
  const run = retinue.fanOut([{ task: 'One' }, { task: 'Two' }])
  const results = await run.results()
  expect(await window.get(`/runs/${run.run_id}/results`)).toEqual({ status: 200, body: json({ results, more: false }) })
  const plan = { version: 1, goal: 'All of it', steps: [{ id: 'one', title: 'One', description: 'Do it' }] }
  const carried = retinue.executePlan(plan)
  const outcome = await carried.outcome()
  expect(await window.get(`/runs/${carried.run_id}/plan`)).toEqual({ status: 200, body: json(outcome) })
  expect(await window.get(`/runs/${carried.run_id}/report`)).toEqual({ status: 200, body: { report: outcome.report } })
})

it('lists sessions', async () => {
  const { retinue, window } = await closedTree()
  const sessions = await retinue.sessions.list()
  expect(sessions).toHaveLength(1)
  expect(await window.get('/sessions')).toEqual({ status: 200, body: json({ sessions }) })
})

it('shows what was spent, with the title of the task', async () => {
  const { retinue, window, run_id } = await closedTree()
  const rows = costsOf(await retinue.events(run_id)).map((row) => ({ ...row, task: 'Read and fail' }))
  expect(rows.length).toBeGreaterThan(1)
  const today = new Date().toISOString().slice(0, 10)
  expect(await window.get('/costs?days=1')).toEqual({ status: 200, body: json({ rows, from: today, more: false }) })
  // Again from what is kept, and with another run.
  const again = retinue.run({ task: 'Once more' })
  await again.result()
  const { body } = await window.get('/costs')
  const tasks = (body as { rows: { task: string }[] }).rows.map(({ task }) => task)
  expect(new Set(tasks)).toEqual(new Set(['Once more', 'Read and fail']))
  expect(await window.get('/costs?days=367')).toMatchObject({ status: 400 })
})

it('measures itself', async () => {
  const { window } = await closedTree()
  const { body } = await window.get('/metrics')
  const lines = String(body).split('\n')
  expect(lines).toContain('retinue_runs{status="closed"} 1')
  expect(lines).toContain('retinue_runs{status="running"} 0')
  expect(lines).toContain('retinue_agents_at_work 0')
  expect(lines).toContain('retinue_http_streams 0')
  const names = lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
  expect(names).toEqual([
    ...['retinue_runs', 'retinue_agents_at_work', 'retinue_tokens', 'retinue_cost_usd'],
    ...['retinue_http_streams', 'process_cpu_seconds_total', 'process_resident_memory_bytes'],
  ])
})

it('edits the registry and pins, and nothing else', async () => {
  const retinue = await scripted('agents: {}')
  const window = await served(retinue)
  const entry = { agentId: '@writer', profileId: 'executor', description: 'Writes' }
  const text = JSON.stringify({ version: 1, agents: [entry] })
  expect(await window.get('/registry')).toEqual({
    status: 200,
    body: { version: 0, value: { version: 1, agents: [] } },
  })
  const put = await window.send('PUT', '/registry', { text, expected_version: 0 })
  expect(put).toEqual({ status: 200, body: json(await retinue.control().registry()) })
  expect(await window.send('PUT', '/registry', { text, expected_version: 0 })).toMatchObject({ status: 409 })
  expect(await window.send('PUT', '/registry', { text: '{', expected_version: 1 })).toMatchObject({ status: 400 })
  const history = await retinue.control().history()
  const versions = history.map(({ version, value, by, at }) => ({ version, value, by, at }))
  expect(await window.get('/registry/history')).toEqual({ status: 200, body: json({ versions }) })
  const pinned = await window.send('PUT', '/pins/user', { name: '@writer' })
  const view = await retinue.control().agents()
  expect(pinned).toEqual({ status: 200, body: json({ pin: view.in_effect, scope: 'user' }) })
  expect(await window.get('/agents')).toEqual({ status: 200, body: json(view) })
  const shown = await retinue.control().show('@writer')
  expect(await window.get('/agents/%40writer')).toEqual({ status: 200, body: json(shown) })
  expect(await window.send('DELETE', '/pins/user')).toMatchObject({ status: 200, body: { scope: 'user' } })
  expect((await retinue.control().agents()).in_effect).toBeNull()
  expect(await window.send('PUT', '/pins/everywhere', { name: '@writer' })).toMatchObject({ status: 400 })
  const changing = ROUTES.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`)
  expect(changing).toEqual([
    ...['POST /runs', 'POST /runs/:run/resume', 'POST /runs/:run/cancel', 'POST /runs/:run/pause'],
    ...['POST /runs/:run/answers', 'PUT /registry', 'PUT /pins/:scope', 'DELETE /pins/:scope'],
  ])
})

/** What the table says an answer looks like is what it looks like. */
it('answers in the shapes that the table says', async () => {
  const { window, run_id } = await closedTree()
  const named = { ':run': run_id, ':agent': 'a1', ':position': '1', ':name': 'executor' }
  const paths = ROUTES.filter((one): one is Route & { answers: z.ZodType } => {
    return one.method === 'GET' && typeof one.answers !== 'string' && !/diff|plan|results/.test(one.path)
  })
  expect(paths.length).toBeGreaterThan(14)
  for (const { path, answers } of paths) {
    const filled = Object.entries(named).reduce((text, [name, value]) => text.replace(name, value), path)
    const { status, body } = await window.get(filled)
    expect([path, status, answers.safeParse(body).error?.issues ?? []]).toEqual([path, 200, []])
  }
})
