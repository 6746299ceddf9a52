import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ended, retinue, start } from '../support/cli.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { type WorkerProcess, workerProcess } from '../support/worker-process.js'

type Event = { type: string; agent_id: string; data: Record<string, unknown> }

/** A folder whose model takes a while for its one answer. */
async function place(delay_ms: number) {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 's.yaml': JSON.stringify({ agents: { root: [{ delay_ms, text: 'Done.' }] } }) })
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' }
  return { store, cwd, env, args: ['--model', 'scripted/s.yaml', 'Do it'] }
}

/** Follows a run as another process sees it. */
function following(args: string[], options: { cwd: string; env: Record<string, string> }) {
  const child = start(args, options)
  const end = ended(child)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await end
  })
  const events: Event[] = []
  const reached = new Map<string, () => void>()
  createInterface(child.stdout).on('line', (line) => {
    const event = JSON.parse(line) as Event
    events.push(event)
    reached.get(event.type)?.()
  })
  const until = (type: string) =>
    new Promise<void>((resolve) => {
      reached.set(type, resolve)
      if (events.some((event) => event.type === type)) resolve()
    })
  /** The types of what came after the model was first asked. */
  const sinceAsked = () => {
    const types = events.map(({ type }) => type)
    return types.slice(types.indexOf('model.requested') + 1)
  }
  return { child, events, until, end, sinceAsked }
}

describe('a worker that is told to end in the middle of a model call', () => {
  it('lets the call be finished while there is time', async () => {
    const { store, cwd, env, args } = await place(1500)
    const worker = await workerProcess(cwd, store, { args: ['--grace', '60'] })
    const run = following(['-p', '--output-format', 'stream-json', ...args], { cwd, env })
    await run.until('model.requested')
    worker.kill('SIGTERM')
    expect(await worker.until('stopping')).toMatchObject({ signal: 'SIGTERM', working: 1, grace_s: 60 })
    expect((await run.end).code).toBe(0)
    expect(run.sinceAsked()).toEqual(['model.responded', 'agent.finished', 'run.closed', 'result'])
    expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
    expect(worker.told.map(({ type }) => type)).toEqual(['started', 'stopping', 'stopped'])
  })

  it('then lets go of it, and another goes on', async () => {
    const { store, cwd, env, args } = await place(3000)
    const workers = await Promise.all([1, 2].map(() => workerProcess(cwd, store, { args: ['--grace', '0'] })))
    const run = following(['-p', '--output-format', 'stream-json', ...args], { cwd, env })
    await run.until('model.requested')
    const [{ owner }] = (await queried(store, 'SELECT owner FROM retinue.streams')) as [{ owner: string }]
    const [first, second] = workers.sort((a) => (owner.includes(`:${a.pid}:`) ? -1 : 1)) as [
      WorkerProcess,
      WorkerProcess,
    ]
    first.kill('SIGTERM')
    expect(await first.until('stopping')).toMatchObject({ working: 1 })
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' })
    expect((await run.end).code).toBe(0)
    expect(run.sinceAsked()).toEqual([
      ...['agent.resumed', 'model.requested', 'model.responded', 'agent.finished', 'run.closed', 'result'],
    ])
    expect(run.events.at(-1)).toMatchObject({ type: 'result', outcome: 'completed', text: 'Done.' })
    second.kill('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('ends at once when it is told again', async () => {
    const { store, cwd, env, args } = await place(60_000)
    const worker = await workerProcess(cwd, store, { args: ['--grace', '60', '--health', '0'] })
    const run = following(['-p', '--output-format', 'stream-json', ...args], { cwd, env })
    await run.until('model.requested')
    const { health } = await worker.until('started')
    expect((await fetch(`${health}/health`)).status).toBe(200)
    worker.kill('SIGINT')
    await worker.until('stopping')
    const draining = await fetch(`${health}/health`)
    expect([draining.status, await draining.json()]).toEqual([
      503,
      expect.objectContaining({ ok: false, stopping: true, working: 1 }),
    ])
    worker.kill('SIGINT')
    expect(await worker.ended).toMatchObject({ code: null, signal: 'SIGINT' })
  })
})

describe('whoever waits for a run of the workers', () => {
  it('leaves it with them at SIGTERM', async () => {
    const { store, cwd, env, args } = await place(1500)
    await workerProcess(cwd, store)
    const run = following(['-p', '--output-format', 'stream-json', ...args], { cwd, env })
    await run.until('model.requested')
    run.child.kill('SIGTERM')
    const { code, stderr } = await run.end
    const [{ run_id }] = run.events as unknown as [{ run_id: string }]
    expect([code, stderr]).toEqual([
      143,
      `retinue: stopped by SIGTERM. It is with the workers: retinue watch ${run_id}\n`,
    ])
    expect((await retinue(['watch', run_id], { cwd, env })).code).toBe(0)
  })

  it('cancels it with Ctrl-C', async () => {
    const { store, cwd, env, args } = await place(60_000)
    await workerProcess(cwd, store)
    const run = following(['-p', '--output-format', 'stream-json', ...args], { cwd, env })
    await run.until('model.requested')
    run.child.kill('SIGINT')
    expect((await run.end).code).toBe(130)
    expect(run.events.at(-1)).toMatchObject({ type: 'result', outcome: 'cancelled' })
  })
})
