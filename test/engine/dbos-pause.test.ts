import { expect, it } from 'vitest'
import { AT_REST } from '../../src/engine/index.js'
import type { Retinue, Run, StoredEvent } from '../../src/index.js'
import { endsOf, newMark } from '../support/busy-tree.js'
import { BUSY_SETTINGS, busyScript, ownersOf } from '../support/busy-workers.js'
import { ownPostgres, sharedPostgres } from '../support/postgres.js'
import { running } from '../support/processes.js'
import { makeProject, tree, type WhenFinished } from '../support/project.js'
import { TREE_SETTINGS } from '../support/tree-run.js'
import { openFace, startWorkers, type WorkerOrder } from '../support/worker-victim.js'

/** a1 is in a command; a2 waits for a2.1, which is in one too. */
const script = (mark: string) => busyScript(mark, ['task: Run, profile: slow', 'task: Lead, profile: lead'], 'a2')

type Options = { run?: object; settings?: WorkerOrder['settings']; server?: { database(o?: object): Promise<string> } }

/** Two workers, and a run of which all that can rest does. */
async function busy(finished: WhenFinished, { run: more = {}, settings = BUSY_SETTINGS, server }: Options = {}) {
  const mark = newMark()
  const store = await (server ?? (await sharedPostgres())).database({ finished })
  const cwd = makeProject({ ...OTHER, 'script.yaml': script(mark) }, { finished })
  const order: WorkerOrder = { cwd, store, settings, concurrency: 2 }
  const workers = await startWorkers(2, order, finished)
  const face = await openFace(order, finished)
  const run = face.run({ task: 'Do the work', ...more })
  const ended = run.result().catch((error: Error) => error)
  const commands = () => running('sleep', mark).length
  await expect.poll(commands).toBe(2)
  await expect.poll(() => ownersOf(face, run.run_id, ['root', 'a2'])).toEqual([AT_REST, AT_REST])
  return { face, run, ended, commands, order, workers }
}

async function deferred(face: Retinue, run_id: string): Promise<unknown[]> {
  const signals = await face.store.signals({ run_id, after: 0 })
  return signals.filter(({ kind }) => kind === 'deferred').map(({ data }) => (data as { agent_id: string }).agent_id)
}

/** For something else that the workers do. */
const OTHER = { 'other.yaml': 'agents: { root: [{ text: Something else. }] }\n' }

/** Until the workers have done something else from its beginning to its end. */
async function meanwhile(face: Retinue): Promise<void> {
  const other = face.run({ task: 'Something else', model: 'scripted/other.yaml' })
  expect(await other.result()).toMatchObject({ outcome: 'completed' })
}

function ofType<T extends StoredEvent['type']>(log: readonly StoredEvent[], type: T) {
  return log.filter((event): event is Extract<StoredEvent, { type: T }> => event.type === type)
}

const ALL = Object.fromEntries(['root', 'a1', 'a2', 'a2.1'].map((id) => [id, 'completed']))

it('a run is paused while its root rests: all is let go of, also by workers that die, and a resume goes on', async ({
  onTestFinished,
}) => {
  const { face, run, ended, commands, order, workers } = await busy(onTestFinished)
  const { run_id } = run
  const other = await openFace(order, onTestFinished)
  expect(await other.pause(run_id, 'ada', 'lunch')).toMatchObject({ run_id, status: 'interrupted' })
  await expect.poll(commands).toBe(0)
  // As whoever works on a run in their own process is told.
  const left = { code: 'abandoned', message: `Run ${run_id} is left as it is: paused by ada: lunch` }
  expect(await ended).toMatchObject(left)
  await expect.poll(() => deferred(face, run_id)).toEqual(expect.arrayContaining(['a1', 'a2.1']))
  const paused = await face.events(run_id)
  for (const worker of workers) await worker.kill()
  await startWorkers(2, order, onTestFinished)
  await meanwhile(face)
  expect(await face.events(run_id)).toEqual(paused)
  expect(await face.find(run_id)).toMatchObject({ status: 'interrupted' })

  expect(await other.resume(run_id).result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
  const log = await face.events(run_id)
  expect(endsOf(log)).toEqual({ ends: ALL, faults: [] })
  // Nobody's time went on meanwhile, and nobody is told that it did.
  const since = log.slice(paused.length)
  const first = (id: string) => since.find(({ agent_id }) => agent_id === id)?.type
  expect(['root', 'a1', 'a2', 'a2.1'].map(first)).toEqual(Array(4).fill('agent.resumed'))
})

it('a paused run can be resumed, paused again and cancelled', async ({ onTestFinished }) => {
  const { face, run, commands } = await busy(onTestFinished)
  const { run_id } = run
  await face.pause(run_id, 'ada', 'lunch')
  const again = face.resume(run_id)
  const left = again.result().catch((error: Error) => error)
  await expect.poll(async () => ofType(await face.events(run_id), 'agent.resumed').length).toBeGreaterThan(0)
  expect(await face.pause(run_id, 'ada', 'tea')).toMatchObject({ status: expect.stringMatching(/interrupted|closed/) })
  await left
  expect(await face.cancel(run_id, 'ada', 'enough')).toMatchObject({
    outcome: expect.stringMatching(/cancelled|completed/),
  })
  expect(commands()).toBe(0)
  expect(endsOf(await face.events(run_id)).faults).toEqual([])
})

it('the time of one that rests does not go on while its run is paused', async ({ onTestFinished }) => {
  // Long enough to get all of it to work on a busy machine.
  const { face, run } = await busy(onTestFinished, { run: { budget: { wall_ms: 15_000 } } })
  const { run_id } = run
  await face.pause(run_id, 'ada', 'lunch')
  // It was to be woken when its time was up.
  await expect.poll(() => deferred(face, run_id)).toContain('root')
  expect(await face.resume(run_id).result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
})

it('a run is paused and resumed before any worker is there', async ({ onTestFinished }) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject(
    { ...OTHER, 'script.yaml': 'agents: { root: [{ text: All done. }] }\n' },
    { finished: onTestFinished },
  )
  const order = { cwd, store, settings: BUSY_SETTINGS }
  const face = await openFace(order, onTestFinished)
  const run = face.run({ task: 'Do the work' })
  const left = run.result().catch((error: Error) => error)
  await expect
    .poll(async () => (await face.store.run(run.run_id)) && ownersOf(face, run.run_id, ['root']))
    .toEqual([AT_REST])
  expect(await face.pause(run.run_id, 'ada', 'lunch')).toMatchObject({ status: 'interrupted' })
  expect(await left).toMatchObject({ code: 'abandoned' })
  await startWorkers(1, order, onTestFinished)
  await meanwhile(face)
  await expect.poll(() => deferred(face, run.run_id)).toContain('root')
  expect(ofType(await face.events(run.run_id), 'model.requested')).toEqual([])
  expect(await face.resume(run.run_id).result()).toMatchObject({ outcome: 'completed' })
})

it('who waits in vain for a pause and says it again does not pause what was resumed', async ({ onTestFinished }) => {
  const { face, run } = await busy(onTestFinished)
  const { run_id } = run
  await face.pause(run_id, 'ada', 'lunch')
  const [said] = (await face.store.signals({ run_id, after: 0 })).filter(({ kind }) => kind === 'pause')
  const resumed = face.resume(run_id)
  await expect.poll(async () => ofType(await face.events(run_id), 'agent.resumed').length).toBeGreaterThan(0)
  const { kind = '', data, by = '' } = said ?? {}
  await face.store.signal({ run_id, kind, data, by })
  expect(await resumed.result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
})

it('a paused run stays paused when the database is started again', async ({ onTestFinished }) => {
  const server = await ownPostgres()
  const { face, run } = await busy(onTestFinished, { server })
  const { run_id } = run
  await face.pause(run_id, 'ada', 'lunch')
  const paused = await face.events(run_id)
  await server.stop('immediate')
  await server.start()
  await meanwhile(face)
  expect(await face.events(run_id)).toEqual(paused)
  expect(await face.resume(run_id).result()).toMatchObject({ outcome: 'completed', text: 'All done.' })
})

/** Long enough for something to be said to the run meanwhile. */
const write = (path: string) => [
  { delay_ms: 4000, calls: [{ write_file: { path, content: 'x\n' } }] },
  { text: 'Written.' },
]

/** Two steps that take their time, and one that comes after them. */
const PLAN_SCRIPT = JSON.stringify({
  agents: { a1: write('one/a.txt'), a2: write('two/a.txt'), a3: [{ text: 'Looked.' }] },
})

function step(id: string, more: object = {}) {
  return { id, title: id, description: `Do ${id}`, ...more }
}

const PLAN = {
  version: 1 as const,
  goal: 'All of it',
  steps: [
    step('one', { owns: ['one/**'] }),
    step('two', { owns: ['two/**'] }),
    step('three', { owns: [], depends_on: ['one', 'two'] }),
  ],
}

/** A plan on workers; `left`: how waiting for it ended. */
async function begun(
  finished: WhenFinished,
  plan: object,
  { count, concurrency }: { count: number; concurrency: number },
) {
  const store = await (await sharedPostgres()).database({ finished })
  const cwd = makeProject({ ...OTHER, 'script.yaml': PLAN_SCRIPT }, { git: true, finished })
  const order: WorkerOrder = { cwd, store, settings: TREE_SETTINGS, concurrency }
  const workers = await startWorkers(count, order, finished)
  const face = await openFace(order, finished)
  const run = face.executePlan(plan, { approve: 'yes' })
  const left = run.result().catch((error: Error) => error)
  const log = () => face.events(run.run_id)
  return { face, run, left, log, cwd, order, workers }
}

/** Both of its first steps are at work. */
async function planned(finished: WhenFinished) {
  const { face, run, left, log, cwd, order, workers } = await begun(finished, PLAN, { count: 2, concurrency: 2 })
  const at_work = async () =>
    ofType(await log(), 'model.requested').filter(({ agent_id }) => agent_id !== 'root').length
  await expect.poll(at_work).toBe(2)
  await expect.poll(() => ownersOf(face, run.run_id, ['root'])).toEqual([AT_REST])
  return { face, run, left, log, cwd, order, workers }
}

async function pauseOf(face: Retinue, { run_id }: Run) {
  const pausing = face.pause(run_id, 'ada', 'lunch')
  const said = async () => (await face.store.signals({ run_id, after: 0 })).some(({ kind }) => kind === 'pause')
  await expect.poll(said).toBe(true)
  return pausing
}

it('the steps of a plan that are at work are finished and joined before it is paused, and no other begins', async ({
  onTestFinished,
}) => {
  const { face, run, left, log, cwd, order, workers } = await planned(onTestFinished)
  const pausing = pauseOf(face, run)
  for (const worker of workers) await worker.kill()
  await startWorkers(2, order, onTestFinished)
  expect(await pausing).toMatchObject({ status: 'interrupted' })
  expect(await left).toMatchObject({ code: 'abandoned' })
  const paused = await log()
  const about = (type: 'agent.subagent_created' | 'agent.subagent_closed') =>
    ofType(paused, type).map(({ data }) => data.sub_agent_id)
  expect(about('agent.subagent_created')).toEqual(['a1', 'a2'])
  expect(about('agent.subagent_closed').sort()).toEqual(['a1', 'a2'])
  await meanwhile(face)
  expect(await log()).toEqual(paused)
  expect(await face.resume(run.run_id).result()).toMatchObject({ outcome: 'completed', reason: null })
  expect(ofType(await log(), 'plan.step_ended').map(({ data }) => `${data.step} ${data.status}`)).toEqual([
    'one completed',
    'two completed',
    'three completed',
  ])
  expect(tree(cwd)).toMatchObject({ 'one/a.txt': 'x\n', 'two/a.txt': 'x\n' })
})

it('a plan that somebody goes on with before it is paused is not, and whoever waits for that is told', async ({
  onTestFinished,
}) => {
  const { face, run, left } = await planned(onTestFinished)
  const pausing = pauseOf(face, run).catch((error: Error) => error)
  const said = async () => (await face.store.signals({ run_id: run.run_id, after: 0 })).map(({ kind }) => kind)
  await expect.poll(said, { interval: 10 }).toContain('pause')
  const resumed = face.resume(run.run_id)
  expect(await pausing).toMatchObject({ code: 'conflict' })
  expect(await resumed.result()).toMatchObject({ outcome: 'completed', reason: null })
  expect(await left).toMatchObject({ outcome: 'completed' })
})

/** Those that have begun to do anything. */
const started = (log: readonly StoredEvent[]) =>
  ofType(log, 'agent.subagent_started').map(({ data }) => data.sub_agent_id)

/** Against hanging. */
const soon = () => ({ signal: AbortSignal.timeout(100_000) })

it('steps that are given out and wait for a worker do not begin when a plan is paused', async ({ onTestFinished }) => {
  const plan = { ...PLAN, steps: [...PLAN.steps.slice(0, 2), step('more', { owns: [] })] }
  const { face, run, log } = await begun(onTestFinished, plan, { count: 1, concurrency: 1 })
  const { run_id } = run
  await expect.poll(async () => ofType(await log(), 'agent.subagent_created').length, { interval: 10 }).toBe(3)
  await expect.poll(async () => started(await log()), { interval: 10 }).toEqual(['a1'])
  expect(await face.pause(run_id, 'ada', 'lunch', soon())).toMatchObject({ status: 'interrupted' })
  const paused = await log()
  expect([started(paused), ofType(paused, 'plan.step_ended').map(({ data }) => data.step)]).toEqual([['a1'], ['one']])
  await meanwhile(face)
  expect(await deferred(face, run_id)).toEqual(expect.arrayContaining(['a2', 'a3']))
  expect(await log()).toEqual(paused)
  expect(await face.resume(run_id).result()).toMatchObject({ outcome: 'completed', reason: null })
  expect(started(await log()).sort()).toEqual(['a1', 'a2', 'a3'])
})

it('a plan is paused while one of its steps waits for a label that nobody has, and others to be joined after it', async ({
  onTestFinished,
}) => {
  const [one, two] = PLAN.steps
  const plan = { ...PLAN, steps: [{ ...one, label: 'gpu' }, two] }
  const { face, run, log, order } = await begun(onTestFinished, plan, { count: 1, concurrency: 2 })
  const { run_id } = run
  await expect.poll(async () => (await face.store.agent(run_id, 'a2'))?.state).toBe('waiting_for_merge')
  await expect.poll(() => ownersOf(face, run_id, ['root'])).toEqual([AT_REST])
  expect(await face.pause(run_id, 'ada', 'lunch', soon())).toMatchObject({ status: 'interrupted' })
  const paused = await log()
  await startWorkers(1, { ...order, labels: ['gpu'] }, onTestFinished)
  await expect.poll(() => deferred(face, run_id)).toContain('a1')
  expect(await log()).toEqual(paused)
  expect(await face.resume(run_id).result()).toMatchObject({ outcome: 'completed', reason: null })
})
