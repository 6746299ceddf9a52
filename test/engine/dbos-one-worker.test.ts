import { expect, it } from 'vitest'
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
