import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Retinue, summarize } from '../../src/index.js'
import { serve } from '../../src/server/index.js'
import { type Client, client, scripted, served } from './routes-lab.js'

const QUICK = 'agents: {root: [{text: Done.}]}'
const SLOW = 'agents: {root: [{text: Done., delay_ms: 600000}]}'

async function servedForAnna(retinue: Retinue): Promise<Client> {
  const token_sha256 = createHash('sha256').update('a-token').digest('hex')
  const serving = await serve(retinue, { users: { anna: { token_sha256 } } })
  onTestFinished(async () => void (await serving.close('the test is over')))
  return client(`${serving.address}/api`, 'a-token')
}

it('says in the log who started a run and who went on with it, where that is somebody by name', async () => {
  const retinue = await scripted(SLOW, { settings: { principals: { anna: 'operator' } } })
  const anna = await servedForAnna(retinue)
  const { body } = await anna.send('POST', '/runs', { task: 'Wait' })
  const theirs = (body as { run_id: string }).run_id
  expect(await anna.get(`/runs/${theirs}`)).toMatchObject({ body: { by: 'anna' } })
  const [created] = await retinue.events(theirs)
  expect(created && summarize(created)).toBe('run created by anna: Wait')

  const own = retinue.run({ task: 'Wait' })
  for await (const event of own) if (event.type === 'model.requested') break
  own.leave('the test wants it')
  await expect(own.result()).rejects.toMatchObject({ code: 'abandoned' })
  expect((await retinue.events(own.run_id))[0]?.data).not.toHaveProperty('by')
  expect(await anna.send('POST', `/runs/${own.run_id}/resume`)).toMatchObject({ status: 200 })
  expect(await anna.get(`/runs/${own.run_id}`)).toMatchObject({ body: { by: null } })
  const resumed = (await retinue.events(own.run_id)).find(({ type }) => type === 'agent.resumed')
  expect(resumed?.data).toMatchObject({ by: 'anna' })
  expect(resumed && summarize(resumed)).toMatch(/^resumed by anna in process \d+ on /)
})

it('says who cancelled a run, once', async () => {
  const retinue = await scripted(SLOW)
  const window = await served(retinue)
  const { body } = await window.send('POST', '/runs', { task: 'Wait' })
  const { run_id } = body as { run_id: string }
  expect(await window.send('POST', `/runs/${run_id}/cancel`, {})).toMatchObject({ status: 200 })
  const asked = (await retinue.events(run_id)).find(({ type }) => type === 'run.cancel_requested')
  expect(asked?.data).toEqual({ by: retinue.control().principal.id, reason: 'in the window' })
})

it('neither resumes nor pauses what is closed; cancelling it answers with it', async () => {
  const retinue = await scripted(QUICK)
  const window = await served(retinue)
  const { run_id } = await retinue.run({ task: 'x' }).result()
  const before = (await retinue.find(run_id)).last_position
  const closed = {
    status: 409,
    body: { error: { code: 'conflict', message: `Run ${run_id} is closed (completed): nothing of it is left to do` } },
  }
  expect(await window.send('POST', `/runs/${run_id}/resume`)).toEqual(closed)
  expect(await window.send('POST', `/runs/${run_id}/pause`, {})).toEqual(closed)
  expect(await window.send('POST', `/runs/${run_id}/cancel`, {})).toMatchObject({
    ...{ status: 200, body: { run: { status: 'closed', outcome: 'completed' } } },
  })
  expect((await retinue.find(run_id)).last_position).toBe(before)
})

it('begins no run where the store was removed, for its log would be lost', async () => {
  const retinue = await scripted(QUICK)
  const window = await served(retinue)
  rmSync(join(retinue.cwd, '.retinue'), { recursive: true })
  expect(await window.send('POST', '/runs', { task: 'x' })).toEqual({
    status: 503,
    body: {
      error: {
        code: 'store',
        message:
          '.retinue/retinue.db was removed or replaced while it was open, and what is written to it would be lost: end ' +
          'this process and start again.',
      },
    },
  })
})
