import { expect, it, onTestFinished } from 'vitest'
import type { Retinue, RunOptions } from '../../src/index.js'
import { digestOf } from '../../src/server/guards/login.js'
import { serve } from '../../src/server/index.js'
import { client, scripted } from './routes-lab.js'

const SETTINGS = { mode: 'dangerous', principals: { anna: 'operator', bea: 'admin' } } as const
const MESSAGE =
  'anna is an operator, and only admins run in dangerous mode: name another mode for a new run, such as auto'
const DENIED = { status: 403, body: { error: { code: 'denied', message: MESSAGE } } }

async function between(retinue: Retinue) {
  const users = { anna: { token_sha256: digestOf('a') }, bea: { token_sha256: digestOf('b') } }
  const serving = await serve(retinue, { users })
  onTestFinished(async () => void (await serving.close('the test is over')))
  return { anna: client(`${serving.address}/api`, 'a'), bea: client(`${serving.address}/api`, 'b') }
}

it('operators begin nothing in dangerous mode, wherever the mode comes from; admins do', async () => {
  const retinue = await scripted('agents: { "*": [{ text: Done. }] }', { settings: SETTINGS })
  const { anna, bea } = await between(retinue)
  const session = await retinue.sessions.create('anna')
  await retinue.sessions.update(session.session_id, { mode: 'dangerous' })
  for (const more of [{}, { mode: 'dangerous' }, { plan: true }, { session_id: session.session_id }]) {
    expect([more, await anna.send('POST', '/runs', { task: 'Work', ...more })]).toEqual([more, DENIED])
  }
  expect(await retinue.runs()).toEqual([])
  expect(await anna.send('POST', '/runs', { task: 'Work', mode: 'auto' })).toMatchObject({ status: 201 })
  expect(await bea.send('POST', '/runs', { task: 'Work' })).toMatchObject({ status: 201 })
})

it('operators go on with nothing in dangerous mode; admins do', async () => {
  const retinue = await scripted('agents: { root: [{ delay_ms: 600000, text: Never. }] }', { settings: SETTINGS })
  const run = retinue.run({ task: 'Work' })
  for await (const event of run) if (event.type === 'model.requested') break
  run.leave('to be resumed')
  await run.result().catch(() => {})
  const { anna, bea } = await between(retinue)
  expect(await anna.send('POST', `/runs/${run.run_id}/resume`)).toEqual(DENIED)
  expect(await bea.send('POST', `/runs/${run.run_id}/resume`)).toMatchObject({ status: 200 })
})

it('the library holds whoever is named to that, in every kind of run', async () => {
  const retinue = await scripted('agents: { "*": [{ text: Done. }] }', { settings: SETTINGS })
  const as: Omit<RunOptions, 'task'> = { principal: 'anna' }
  const plan = { version: 1, goal: 'It', steps: [{ id: 'one', title: 'One', description: 'Do it' }] }
  for (const run of [
    retinue.run({ task: 'Work', ...as }),
    retinue.fanOut([{ task: 'Work' }], as),
    retinue.planForGoal('Work', as),
    retinue.executePlan(plan, as),
  ]) {
    await expect(run.result()).rejects.toMatchObject({ code: 'denied', message: MESSAGE })
  }
  expect(await retinue.runs()).toEqual([])
  expect(await retinue.run({ task: 'Work' }).result()).toMatchObject({ outcome: 'completed' })
})
