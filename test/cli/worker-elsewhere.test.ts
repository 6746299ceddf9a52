import { join } from 'node:path'
import { expect, it } from 'vitest'
import { retinue } from '../support/cli.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

/** The root delegates to one that leads; what that delegates needs a label that no worker has. */
const script = (delay_ms: number) =>
  JSON.stringify({
    agents: {
      root: [
        { calls: [{ spawn: { task: 'Lead', profile: 'lead' } }] },
        { delay_ms, calls: [{ spawn_await: { job_ids: '*' } }] },
        { text: 'Done.' },
      ],
      a1: [{ calls: [{ spawn_agent: { task: 'Compute', label: 'gpu' } }] }, { text: 'Led.' }],
      'a1.1': [{ text: 'Computed.' }],
    },
  })
const CONFIG = { 'config/retinue/config.yaml': 'profiles: { lead: { can_spawn_children: true } }\n' }

/** `delay_ms`: so long the root is at work although the one that leads rests. */
async function leading(delay_ms: number) {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 's.yaml': script(delay_ms), ...CONFIG })
  const own = { XDG_CONFIG_HOME: join(cwd, 'config') }
  const worker = await workerProcess(cwd, store, { env: own })
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos', ...own }
  const id = (await retinue(['--model', 'scripted/s.yaml', '--detach', 'Do it'], { cwd, env })).stdout.trim()
  // Before it begins it is theirs, too.
  const isAtRest = async (agent: string) => {
    const begun = `SELECT 1 FROM retinue.events WHERE type = 'model.requested' AND agent_id = '${agent}'`
    const rests = `SELECT owner FROM retinue.streams WHERE agent_id = '${agent}' AND EXISTS (${begun})`
    await expect.poll(() => queried(store, rests), { timeout: 60_000 }).toEqual([{ owner: 'the workers' }])
  }
  return { store, cwd, env, worker, id, isAtRest }
}

it.each([
  ['without the engine', 'local', 'here'],
  ['from a folder of another project', 'dbos', 'elsewhere'],
  ['from there without the engine', 'local', 'elsewhere'],
])('a run of which everybody rests is cancelled by whoever reaches the database, also %s', async (_, engine, where) => {
  const { cwd, env, id, isAtRest } = await leading(0)
  await isAtRest('root')
  const folder = where === 'here' ? cwd : makeProject({})
  expect(await retinue(['cancel', id], { cwd: folder, env: { ...env, RETINUE_ENGINE: engine } })).toMatchObject({
    code: 0,
    stdout: `Run ${id} is closed: cancelled\n`,
    stderr: '',
  })
})

it('a sub-agent that rests is gone on with by whoever takes its parent from the workers', async () => {
  const { cwd, env, worker, id, isAtRest } = await leading(8000)
  await isAtRest('a1')
  worker.kill('SIGKILL')
  await worker.ended
  const resumed = await retinue(['resume', id, '--engine', 'local', '-p'], { cwd, env })
  expect(resumed).toMatchObject({ code: 0, stdout: 'Done.\n' })
  const shown = (await retinue(['show', id, '--full'], { cwd, env })).stdout
  expect(shown).toContain('Led.')
})
