import { hostname } from 'node:os'
import { expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { openTerminal, YES } from '../support/terminal.js'
import { workerProcess } from '../support/worker-process.js'

const SCRIPT = JSON.stringify({
  agents: {
    root: [{ calls: [{ spawn_agent: { task: 'Look' } }, { spawn_agent: { task: 'Look too' } }] }, { text: 'Done.' }],
    'a*': [{ text: 'Seen.' }],
  },
})
const NO_WORKER = 'No worker is there: start one with retinue worker\n'

/** A folder with a database, and the environment that sends its runs to the workers. */
async function place(script = SCRIPT) {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 's.yaml': script })
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' }
  return { store, cwd, env, run: (...args: string[]) => retinue(['--model', 'scripted/s.yaml', ...args], { cwd, env }) }
}

it('a run is worked on by a worker, and looks as it does elsewhere', async () => {
  const { store, cwd, env, run } = await place()
  const worker = await workerProcess(cwd, store)
  const ended = await run('-p', 'Do it')
  expect([ended.code, ended.stdout, ended.stderr]).toEqual([0, 'Done.\n', ''])
  const [listed] = lines((await retinue(['runs', '--json'], { cwd, env })).stdout) as { run_id: string }[]
  const shown = await retinue(['show', listed?.run_id as string, '--json'], { cwd, env })
  const owners = lines(shown.stdout).filter((event) => (event as { type: string }).type === 'agent.subagent_started')
  expect(owners).toHaveLength(2)
  worker.kill('SIGTERM')
  const { code, stderr } = await worker.ended
  expect([code, stderr]).toEqual([0, ''])
  expect(worker.told.map(({ type }) => type)).toEqual(['started', 'stopping', 'stopped'])
})

it('--detach gives it away and ends; watch follows it to its end', async () => {
  const { store, cwd, env, run } = await place()
  const given = await run('--detach', 'Do it')
  const id = given.stdout.trim()
  expect(given).toEqual({
    ...{ code: 0, signal: null, stdout: expect.stringMatching(/^[0-9a-z]{10}\n$/) },
    stderr: `${NO_WORKER}It waits for one. Watch it: retinue watch ${id}\nWhat it asks: retinue answer ${id}\n`,
  })
  const watched = retinue(['watch', id, '--json'], { cwd, env })
  await workerProcess(cwd, store)
  const { code, stdout } = await watched
  expect([code, (lines(stdout).at(-1) as { type: string }).type]).toEqual([0, 'run.closed'])
})

it('--detach tells programs what they need, and asks nobody with -p', async () => {
  const { store, cwd, env, run } = await place(
    JSON.stringify({ agents: { root: [{ calls: [{ ask_user: { question: 'Which?' } }] }, { text: 'Done.' }] } }),
  )
  await workerProcess(cwd, store)
  const given = await run('--detach', '-p', '--output-format', 'json', 'Do it')
  expect([given.code, given.stderr]).toEqual([0, ''])
  const { run_id } = JSON.parse(given.stdout) as { run_id: string }
  expect(JSON.parse(given.stdout)).toEqual({ type: 'detached', run_id, session_id: expect.any(String) })
  expect((await retinue(['watch', run_id], { cwd, env })).code).toBe(0)
  const asking = await run('--detach', 'Do it')
  const id = asking.stdout.trim()
  await asked(cwd, env, id)
  const answer = await retinue(['answer', id, '--text', 'This one'], { cwd, env })
  expect([answer.code, answer.stderr]).toEqual([0, ''])
  expect((await retinue(['watch', id], { cwd, env })).code).toBe(0)
})

/** The command is asked until it lists a question: it has no way to wait for one. */
async function asked(cwd: string, env: Record<string, string>, id: string): Promise<void> {
  for (;;) {
    const { stdout } = await retinue(['answer', id, '--json'], { cwd, env })
    if (stdout !== '' && stdout !== '[]\n') return
  }
}

/** What a worker says that was told nothing else. */
const NO_MORE = { labels: [], at_once: null, per_run: null }

it('who works is listed', async () => {
  const { store, cwd, env } = await place()
  const list = (...args: string[]) => retinue(['workers', ...args], { cwd, env: { RETINUE_STORE: store } })
  expect(await list()).toMatchObject({ code: 0, stdout: 'No worker is there. Start one: retinue worker\n' })
  const version = (await retinue(['--version'], { cwd })).stdout.trim()
  const first = await workerProcess(cwd, store, { args: ['--concurrency', '3'] })
  const elsewhere = makeProject({})
  await workerProcess(elsewhere, store)
  const { code, stdout } = await list('--json')
  const where = { project: cwd, project_id: expect.any(String), checkout: expect.any(String) }
  const row = { host: hostname(), pid: first.pid, ...where, concurrency: 3, ...NO_MORE, version }
  const times = { started_at: expect.any(Number), beat_at: expect.any(Number) }
  expect([code, lines(stdout)]).toEqual([0, [{ id: first.id, ...row, ...times }]])
  expect(lines((await list('--json', '--all')).stdout)).toHaveLength(2)
  expect((await list()).stdout).toBe(
    `${first.id}  process ${first.pid} on ${hostname()}, 3 agents at once, started just now, version ${version}\n`,
  )
  const doctor = await retinue(['doctor', '--json'], { cwd, env: { ...env, OPENAI_API_KEY: 'k' } })
  expect(JSON.parse(doctor.stdout)).toContainEqual({
    ...{ topic: 'workers', state: 'ok', text: '1 worker on 1 machine', advice: null },
  })
})

it('at a terminal its words are shown, and whoever sits there is asked', async () => {
  const { store, cwd, env } = await place(
    JSON.stringify({
      agents: {
        root: [
          { text: 'I write it down.', calls: [{ write_file: { path: 'n.txt', content: 'hello' } }] },
          { text: 'Written.' },
        ],
      },
    }),
  )
  await workerProcess(cwd, store)
  const terminal = openTerminal(['Take a note', '--model', 'scripted/s.yaml'], cwd, { env })
  await terminal.shows('I write it down.')
  await terminal.asks()
  terminal.type(YES)
  await terminal.shows('completed')
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen().match(/Written\./g)).toEqual(['Written.'])
})
