import { expect, it } from 'vitest'
import { createHost } from '../../src/host/index.js'
import { createRetinue, startWorker } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { sharedPostgres } from '../support/postgres.js'
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
