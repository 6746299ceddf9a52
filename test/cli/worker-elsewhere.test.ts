import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ended, lines, retinue, start } from '../support/cli.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

/** The root delegates to one that leads; what that delegates needs a label that no worker has. */
const script = (command: string) =>
  JSON.stringify({
    agents: {
      root: [
        { calls: [{ spawn: { task: 'Lead', profile: 'lead' } }] },
        { calls: [{ run_command: { command } }] },
        { calls: [{ spawn_await: { job_ids: '*' } }] },
        { text: 'Done.' },
      ],
      a1: [{ calls: [{ spawn_agent: { task: 'Compute', label: 'gpu' } }] }, { text: 'Led.' }],
      'a1.1': [{ text: 'Computed.' }],
    },
  })
const CONFIG = { 'config/retinue/config.yaml': 'profiles: { lead: { can_spawn_children: true } }\n' }

/** `command`: what the root does while the one that leads rests. */
async function place(command: string) {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 's.yaml': script(command), ...CONFIG })
  const own = { XDG_CONFIG_HOME: join(cwd, 'config') }
  const worker = await workerProcess(cwd, store, { env: own })
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos', ...own }
  /** A run of which this agent rests. */
  const resting = async (agent: string) => {
    const id = (
      await retinue(['--model', 'scripted/s.yaml', '--mode', 'dangerous', '--detach', 'Do it'], { cwd, env })
    ).stdout.trim()
    const agents = `run_id = '${id}' AND agent_id = '${agent}'`
    // Before it begins it is theirs, too.
    const begun = `SELECT 1 FROM retinue.events WHERE type = 'model.requested' AND ${agents}`
    const rests = `SELECT owner FROM retinue.streams WHERE ${agents} AND EXISTS (${begun})`
    await expect.poll(() => queried(store, rests), { timeout: 60_000 }).toEqual([{ owner: 'the workers' }])
    return id
  }
  /** The worker dies, and everybody knows it. */
  const dies = async () => {
    worker.kill('SIGKILL')
    await worker.ended
    const there = async () => (await retinue(['workers', '--json'], { cwd, env })).stdout
    await expect.poll(there, { timeout: 60_000 }).toBe('')
  }
  return { cwd, env, store, own, worker, resting, dies }
}

it('a run of which everybody rests is cancelled and paused by whoever reaches the database, from any folder and with any engine', async () => {
  const { cwd, env, resting } = await place('true')
  const local = { ...env, RETINUE_ENGINE: 'local' }
  const elsewhere = makeProject({})
  for (const where of [
    { cwd, env: local },
    { cwd: elsewhere, env },
    { cwd: elsewhere, env: local },
  ]) {
    const id = await resting('root')
    const cancelled = await retinue(['cancel', id], where)
    expect(cancelled).toMatchObject({ code: 0, stdout: `Run ${id} is closed: cancelled\n`, stderr: '' })
  }
  const id = await resting('root')
  const paused = await retinue(['pause', id], { cwd: elsewhere, env: local })
  expect(paused).toMatchObject({ code: 0, stdout: `Run ${id} is paused. Go on with: retinue resume ${id}\n` })
})

it('a run whose worker died is cancelled from another folder as soon as there is another worker', async () => {
  const { cwd, env, store, own, resting, dies } = await place('sleep 300')
  const id = await resting('a1')
  await dies()
  const cancelled = retinue(['cancel', id], { cwd: makeProject({}), env: { ...env, RETINUE_ENGINE: 'local' } })
  const said = `SELECT kind FROM retinue.signals WHERE run_id = '${id}' AND kind = 'cancel'`
  await expect.poll(() => queried(store, said), { timeout: 60_000 }).not.toEqual([])
  await workerProcess(cwd, store, { env: own })
  expect(await cancelled).toMatchObject({
    code: 0,
    stdout: `Run ${id} is closed: cancelled\n`,
    stderr:
      'retinue: No worker is there: start one with retinue worker. The first that comes closes it, also when this command is left with Ctrl-C meanwhile\n',
  })
})

it('a run whose worker died is cancelled in its own folder without another', async () => {
  const { cwd, env, resting, dies } = await place('sleep 300')
  const id = await resting('a1')
  await dies()
  const cancelled = await retinue(['cancel', id], { cwd, env: { ...env, RETINUE_ENGINE: 'local' } })
  expect(cancelled).toMatchObject({ code: 0, stdout: `Run ${id} is closed: cancelled\n`, stderr: '' })
})

it('a cancel that was said while no worker was there counts for whoever goes on with the run', async () => {
  const { cwd, env, store, resting, dies } = await place('sleep 300')
  const id = await resting('a1')
  await dies()
  const cancelling = start(['cancel', id], { cwd: makeProject({}), env })
  const said = `SELECT kind FROM retinue.signals WHERE run_id = '${id}' AND kind = 'cancel'`
  await expect.poll(() => queried(store, said), { timeout: 60_000 }).not.toEqual([])
  cancelling.kill('SIGKILL')
  await ended(cancelling)
  expect(await retinue(['pause', id], { cwd, env })).toMatchObject({
    code: 1,
    stderr: `retinue: Run ${id} is being cancelled, which is more: whoever works on it next closes it\n`,
  })
  const resumed = await retinue(['resume', id, '--engine', 'local', '-p'], { cwd, env })
  expect([resumed.code, resumed.stdout]).toEqual([130, ''])
  const [listed] = lines((await retinue(['runs', '--json'], { cwd, env })).stdout)
  expect(listed).toMatchObject({ status: 'closed', outcome: 'cancelled' })
})

it('of a sub-agent of a paused run it is not said that a worker will close it', async () => {
  const { cwd, env, resting, dies } = await place('sleep 300')
  const id = await resting('a1')
  await retinue(['pause', id], { cwd, env })
  await dies()
  expect(await retinue(['cancel', id, 'a1'], { cwd, env })).toMatchObject({
    code: 1,
    stderr: `retinue: Nobody works on run ${id} now. Go on with it (retinue resume ${id}), or cancel all of it.\n`,
  })
})

it('a sub-agent that rests is gone on with by whoever takes its parent from the workers', async () => {
  const { cwd, env, worker, resting } = await place('sleep 300')
  const id = await resting('a1')
  worker.kill('SIGKILL')
  await worker.ended
  const resumed = await retinue(['resume', id, '--engine', 'local', '-p'], { cwd, env })
  expect(resumed).toMatchObject({ code: 0, stdout: 'Done.\n' })
  const shown = (await retinue(['show', id, '--full'], { cwd, env })).stdout
  expect(shown).toContain('Led.')
})
