import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { AT_REST } from '../../src/engine/index.js'
import type { Retinue, StoredEvent } from '../../src/index.js'
import { endsOf } from '../support/busy-tree.js'
import { sharedPostgres } from '../support/postgres.js'
import { running } from '../support/processes.js'
import { makeProject, type WhenFinished } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers, type WorkerOrder } from '../support/worker-victim.js'

/** So long it may take until a word from elsewhere has ended everything. */
const SOON_MS = 2000
/** Hearing it, which comes before the log has it. */
const HEARD_MS = 400

const SLOW = { budget: { wall_ms: 600_000 } }
const SETTINGS = {
  ...TREE_SETTINGS,
  workspace: { isolation: 'shared' as const },
  delegation: {
    models: ['scripted/script.yaml', 'silent/m'],
    profiles: { slow: SLOW, lead: { ...SLOW, can_spawn_children: true } },
  },
}

let made = 0
function newMark(): string {
  made += 1
  return `37.${process.pid}${made}`
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
function script(mark: string): string {
  const command = JSON.stringify(`sleep ${mark}`)
  return `
agents:
  root:
    - calls:
        - spawn: { task: Think, profile: slow, model: silent/m }
        - spawn: { task: Run, profile: slow }
        - spawn: { task: Lead, profile: lead }
    - calls:
        - spawn_await: { job_ids: "*" }
    - text: "All done."
  a3:
    - calls:
        - spawn_agent: { task: Run below, profile: slow }
    - text: Led.
  "a*":
    - calls:
        - run_command: { command: ${command}, timeout_ms: 300000 }
    - text: Ran.
`
}

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

async function restingOwners(face: Retinue, run_id: string): Promise<Record<string, string | undefined>> {
  const owners = await Promise.all(
    ['root', 'a3'].map(async (id) => [id, (await face.store.lease(run_id, id))?.owner] as const),
  )
  return Object.fromEntries(owners)
}

it('who waits for others holds no worker, and a cancel from elsewhere reaches all of them within two seconds', async ({
  onTestFinished,
}) => {
  const { face, run, left, order } = await busy(onTestFinished)
  await expect.poll(() => restingOwners(face, run.run_id)).toEqual({ root: AT_REST, a3: AT_REST })
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
  const files = { 'script.yaml': script(mark).replaceAll(', model: silent/m', '') }
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
  const files = { 'script.yaml': script(mark).replaceAll(', model: silent/m', '') }
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
