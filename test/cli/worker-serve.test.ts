import { expect, it } from 'vitest'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { call, type Served, serving } from '../support/serving.js'
import { workerProcess } from '../support/worker-process.js'

type Detail = { run: { status: string; outcome: string | null }; owned_here: boolean }
type Asked = { questions: { agent_id: string; call_id: string; kind: string }[] }

const SCRIPT = JSON.stringify({
  agents: {
    root: [{ calls: [{ ask_user: { question: 'Which?' } }, { run_command: { command: 'true' } }] }, { text: 'Done.' }],
  },
})
const LONG = JSON.stringify({ agents: { root: [{ delay_ms: 60_000, text: 'Done.' }] } })

async function place() {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 's.yaml': SCRIPT, 'long.yaml': LONG })
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' }
  const worker = await workerProcess(cwd, store)
  return { worker, served: await serving(cwd, { env }) }
}

async function begin(served: Served, script: string): Promise<string> {
  const { status, body } = await call<{ run_id: string }>(served, 'POST', '/runs', {
    ...{ task: 'Do it', model: `scripted/${script}` },
  })
  expect(status).toBe(201)
  return body.run_id
}

/** The API is asked until it says so: it has no call that waits. */
async function until<T>(look: () => Promise<T>, is: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look()
    if (is(seen)) return seen
  }
}

it('what is started in the window is worked on by workers: watched, asked about, answered', async () => {
  const { served } = await place()
  const run_id = await begin(served, 's.yaml')
  const detail = () => call<Detail>(served, 'GET', `/runs/${run_id}`)
  const questions = async () => (await call<Asked>(served, 'GET', `/runs/${run_id}/questions`)).body.questions
  expect((await detail()).body).toMatchObject({ run: { status: 'running' }, owned_here: false })
  const [question] = await until(questions, (open) => open.length === 1)
  expect(question).toMatchObject({ agent_id: 'root', kind: 'question' })
  const { agent_id, call_id } = question as Asked['questions'][number]
  const answer = { kind: 'question', agent_id, call_id, text: 'This one' }
  expect((await call(served, 'POST', `/runs/${run_id}/answers`, answer)).status).toBe(200)
  const [permission] = await until(questions, (open) => open.some(({ kind }) => kind === 'permission'))
  const yes = { kind: 'permission', agent_id, call_id: permission?.call_id, answer: 'allow', note: null }
  expect((await call(served, 'POST', `/runs/${run_id}/answers`, yes)).status).toBe(200)
  const done = await until(detail, ({ body }) => body.run.status === 'closed')
  expect(done.body).toMatchObject({ run: { outcome: 'completed' }, owned_here: false })
})

it('what is started in the window can be cancelled, and goes on when the window is closed', async () => {
  const { served, worker } = await place()
  const run_id = await begin(served, 'long.yaml')
  const cancelled = await call<Detail>(served, 'POST', `/runs/${run_id}/cancel`, {})
  expect(cancelled.body.run).toMatchObject({ status: 'closed', outcome: 'cancelled' })
  const other = await begin(served, 'long.yaml')
  const work = async () => (await call<Detail>(served, 'GET', `/runs/${other}`)).body.run.status
  expect(await work()).toBe('running')
  await served.stop()
  expect(served.output()).not.toContain('was left')
  worker.kill('SIGKILL')
})
