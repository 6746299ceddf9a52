import { expect, it, onTestFinished } from 'vitest'
import { createRetinue } from '../../src/index.js'
import { type Ended, retinue } from '../support/cli.js'
import { sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { openFace } from '../support/worker-victim.js'

const settings = { model: { name: 'scripted/s.yaml', source: 'user' as const } }
const said = ({ code, stdout, stderr }: Ended) => [code, stdout, stderr]

/** A run that was begun in a process which has let go of it, in a database that workers could share. */
async function begunWithoutWorkers() {
  const store = await (await sharedPostgres()).database()
  const cwd = makeProject({ 's.yaml': JSON.stringify({ agents: { root: [{ delay_ms: 1000, text: 'Done.' }] } }) })
  const local = await createRetinue({ cwd, store, settings })
  onTestFinished(() => local.close())
  const run = local.run({ task: 'Do it' })
  for await (const { type } of local.follow(run.run_id)) if (type === 'model.requested') break
  run.leave('it is late')
  await expect(run.result()).rejects.toMatchObject({ code: 'abandoned' })
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' }
  const call = async (...args: string[]) => said(await retinue(args, { cwd, env }))
  return { id: run.run_id, cwd, store, local, call }
}

it('a run that was begun without workers is not given to them, and goes on where it was begun', async () => {
  const { id, cwd, store, local, call } = await begunWithoutWorkers()
  const before = await local.events(id)
  const refused = `retinue: Run ${id} was begun without workers, and is not for them: go on with it in ${cwd} with --engine local\n`
  expect(await call('resume', id, '--detach')).toEqual([42, '', refused])
  expect(await call('resume', id, '-p')).toEqual([42, '', refused])
  const face = await openFace({ cwd, store, settings })
  expect(await face.pause(id, 'ada', 'lunch')).toMatchObject({ status: 'interrupted' })
  expect([await local.events(id), await local.store.signals({ run_id: id, after: 0 })]).toEqual([before, []])
  expect(await local.resume(id).result()).toMatchObject({ outcome: 'completed', text: 'Done.' })
})

it('whoever cancels a run that was begun without workers closes it, and is not told to start one', async () => {
  const { id, call } = await begunWithoutWorkers()
  expect(await call('cancel', id)).toEqual([0, `Run ${id} is closed: cancelled\n`, ''])
})
