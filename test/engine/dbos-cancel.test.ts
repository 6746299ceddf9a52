import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { AT_REST } from '../../src/engine/index.js'
import type { StoredEvent } from '../../src/index.js'
import { endsOf, newMark } from '../support/busy-tree.js'
import { BUSY_SETTINGS, busyScript, ownersOf } from '../support/busy-workers.js'
import { sharedPostgres } from '../support/postgres.js'
import { running } from '../support/processes.js'
import { makeProject, type WhenFinished } from '../support/project.js'
import { openFace, startWorkers, type WorkerOrder } from '../support/worker-victim.js'

/** So long it may take until a word from elsewhere has ended everything. */
const SOON_MS = 2000
/** Hearing it, which comes before the log has it. */
const HEARD_MS = 400

const SETTINGS = {
  ...BUSY_SETTINGS,
  delegation: { ...BUSY_SETTINGS.delegation, models: ['scripted/script.yaml', 'silent/m'] },
}

/** A provider that never answers. */
async function silentProvider(finished: WhenFinished) {
  const asked: { open: boolean }[] = []
  const server = createServer((request) => {
    const call = { open: true }
    asked.push(call)
    request.socket.once('close', () => {
      call.open = false
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  finished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    providers: { silent: { type: 'openai-compatible' as const, base_url: `http://127.0.0.1:${port}/v1` } },
    waiting: () => asked.filter(({ open }) => open).length,
  }
}

/** a1 waits for its model, a2 for a command, a3 for a3.1, which is in a command too. */
const script = (mark: string, model = ', model: silent/m') =>
  busyScript(
    mark,
    [`task: Think, profile: slow${model}`, 'task: Run, profile: slow', 'task: Lead, profile: lead'],
    'a3',
  )

async function busy(finished: WhenFinished) {
  const mark = newMark()
  const store = await (await sharedPostgres()).database({ finished })
  const silent = await silentProvider(finished)
  const cwd = makeProject({ 'script.yaml': script(mark), 'a.txt': 'alpha\n' }, { finished })
  const order: WorkerOrder = { cwd, store, settings: SETTINGS, providers: silent.providers, concurrency: 2 }
  await startWorkers(2, order, finished)
  const face = await openFace(order, finished)
  const run = face.run({ task: 'Do the work' })
  run.result().catch(() => {})
  const left = () => ({ commands: running('sleep', mark).length, calls: silent.waiting() })
  await expect.poll(left).toEqual({ commands: 2, calls: 1 })
  return { face, run, left, order }
}

/** From when somebody said it to when the log has the end of it. */
function took(log: readonly StoredEvent[], said_at: number, last: (event: StoredEvent) => boolean): number {
  return (log.find(last)?.at ?? Number.POSITIVE_INFINITY) - said_at
}

it('who waits for others holds no worker, and a cancel from elsewhere reaches all of them within two seconds', async ({
  onTestFinished,
}) => {
  const { face, run, left, order } = await busy(onTestFinished)
  await expect.poll(() => ownersOf(face, run.run_id, ['root', 'a3'])).toEqual([AT_REST, AT_REST])
  const other = await openFace(order, onTestFinished)
  const said_at = Date.now()
  expect(await other.cancel(run.run_id, 'tester', 'enough')).toMatchObject({ outcome: 'cancelled' })
  expect(left()).toEqual({ commands: 0, calls: 0 })
  expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
  const log = await face.events(run.run_id)
  const all = ['root', 'a1', 'a2', 'a3', 'a3.1'].map((id) => [id, 'cancelled'])
  expect(endsOf(log)).toEqual({ ends: Object.fromEntries(all), faults: [] })
  expect(took(log, said_at, ({ type }) => type === 'run.closed')).toBeLessThan(SOON_MS + HEARD_MS)
})

it('a cancel reaches those at work also where nobody above them has a place to hear it', async ({ onTestFinished }) => {
  const mark = newMark()
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const files = { 'script.yaml': script(mark, '') }
  const order = { cwd: makeProject(files, { finished: onTestFinished }), store, settings: SETTINGS, concurrency: 1 }
  await startWorkers(1, order, onTestFinished)
  const face = await openFace(order, onTestFinished)
  const run = face.run({ task: 'Do the work' })
  await expect.poll(() => running('sleep', mark)).toHaveLength(1)
  const said_at = Date.now()
  run.cancel('enough')
  await expect.poll(() => running('sleep', mark), { interval: 20 }).toEqual([])
  expect(Date.now() - said_at).toBeLessThan(SOON_MS)
  expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
  expect(endsOf(await face.events(run.run_id)).faults).toEqual([])
})

it('one sub-agent and all below it is cancelled from elsewhere, and its parent goes on', async ({ onTestFinished }) => {
  const { face, run, left, order } = await busy(onTestFinished)
  const other = await openFace(order, onTestFinished)
  const said_at = Date.now()
  expect(await other.cancelAgent(run.run_id, 'a3', 'tester', 'not that')).toMatchObject({ outcome: 'cancelled' })
  const log = await face.events(run.run_id)
  const closed = (event: StoredEvent) => event.type === 'agent.subagent_closed' && event.data.sub_agent_id === 'a3'
  expect(took(log, said_at, closed)).toBeLessThan(SOON_MS + HEARD_MS)
  expect(left()).toEqual({ commands: 1, calls: 1 })
  await other.cancelAgent(run.run_id, 'a1', 'tester', 'nor that')
  await other.cancelAgent(run.run_id, 'a2', 'tester', 'nor that')
  expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
  expect(left()).toEqual({ commands: 0, calls: 0 })
  expect(endsOf(await face.events(run.run_id)).faults).toEqual([])
})

it('who rests when its time is up ends all the same', async ({ onTestFinished }) => {
  const mark = newMark()
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const files = { 'script.yaml': script(mark, '') }
  const order = { cwd: makeProject(files, { finished: onTestFinished }), store, settings: SETTINGS }
  await startWorkers(1, order, onTestFinished)
  const face = await openFace(order, onTestFinished)
  const run = face.run({ task: 'Do the work', budget: { wall_ms: 8000 } })
  expect(await run.result()).toMatchObject({ outcome: 'timeout', cause: 'wall_ms' })
  expect(running('sleep', mark)).toEqual([])
  const log = await face.events(run.run_id)
  const began = log.find(({ type }) => type === 'agent.started')?.at ?? 0
  expect(took(log, began, ({ type }) => type === 'run.closed')).toBeLessThan(8000 + 1000 + SOON_MS + HEARD_MS)
  expect(endsOf(log).faults).toEqual([])
})
