import { expect, it } from 'vitest'
import { createHost } from '../../src/host/index.js'
import { createRetinue, leaveToWorkers, startWorker } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'

it('there is one worker in a process: a second is refused and harms nothing, and comes after the first', async ({
  onTestFinished,
}) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject({}, { finished: onTestFinished })
  const saying = (text: string) => modelsOf(createScriptedModel({ name: 'test', agents: { root: [{ text }] } }))
  const face = await createRetinue({ cwd, store, models: saying('nothing'), engine: 'dbos' })
  onTestFinished(() => face.close())
  const answer = async () => (await face.run({ task: 'Say it' }).result()).text

  const first = await startWorker({ cwd, store, models: saying('One.') })
  await expect(startWorker({ cwd, store, models: saying('Two.') })).rejects.toThrow('one worker in a process')
  expect(await answer()).toBe('One.')
  await first.stop(0)
  const second = await startWorker({ cwd, store, models: saying('Two.') })
  onTestFinished(() => second.stop(0))
  expect(await face.workers()).toMatchObject([{ id: second.id }])
  expect(await answer()).toBe('Two.')
})

it('says that it is there however long it takes to tidy its checkout', async ({ onTestFinished }) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const cwd = makeProject({}, { finished: onTestFinished })
  const host = createHost()
  let tidy = () => {}
  const tidies = new Promise<void>((begun) => {
    host.trees = () => {
      begun()
      return new Promise((done) => {
        tidy = () => done({ ok: false, code: 'failed', message: 'it was enough' })
      })
    }
  })
  const worker = await startWorker({ cwd, store, host })
  onTestFinished(() => worker.stop(0))
  onTestFinished(() => tidy())
  await tidies
  const lastWord = () => Date.now() - worker.health().silent_ms
  const before = Date.now()
  // Both that it was said once more and that it was said again after that.
  await expect.poll(lastWord).toBeGreaterThan(before + 1000)
})

it('queues of a checkout in which nobody works any more go, but for those on which something waits', async ({
  onTestFinished,
}) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const [left, other] = ['a', 'b'].map(() => makeProject({}, { finished: onTestFinished })) as [string, string]
  const models = () => modelsOf(createScriptedModel({ name: 'test', agents: {} }))
  const at = (cwd: string) => ({ cwd, store, project: 'shop', models: models() })
  const first = await startWorker({ ...at(left), labels: ['gpu'] })
  const checkout = (await first.retinue.workers())[0]?.checkout as string
  await first.stop(0)
  const settings = { workspace: { isolation: 'shared' as const } }
  const face = await createRetinue({ ...at(left), engine: 'dbos', settings })
  onTestFinished(() => face.close())
  await leaveToWorkers(face.run({ task: 'Wait' }))
  const bound = async () => {
    const rows = (await queried(store, 'SELECT name FROM retinue_dbos.queues ORDER BY name')) as { name: string }[]
    return rows.map(({ name }) => name.split('@')[1]).filter((name) => name?.startsWith(checkout))
  }
  expect(await bound()).toEqual([checkout, `${checkout}#gpu`])
  const second = await startWorker(at(other))
  onTestFinished(() => second.stop(0))
  await expect.poll(bound).toEqual([checkout])
})
