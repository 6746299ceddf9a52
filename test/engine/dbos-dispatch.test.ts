import { expect, it } from 'vitest'
import { Dispatch, databaseOf, Routes } from '../../src/engine/index.js'
import { createRetinue } from '../../src/index.js'
import { queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'

it('whoever has stopped giving agents to the workers opens nothing any more, however late somebody comes', async ({
  onTestFinished,
}) => {
  const store = await (await sharedPostgres()).database({ finished: onTestFinished })
  const retinue = await createRetinue({ cwd: makeProject({}, { finished: onTestFinished }), store })
  onTestFinished(() => retinue.close())
  const dispatch = new Dispatch(databaseOf(store), { project: 'p', checkout: 'p' }, new Routes(retinue.store))
  onTestFinished(() => dispatch.close())
  const before = await connections(store)
  await dispatch.open()
  await dispatch.close()
  await expect(dispatch.open()).rejects.toThrow('any more')
  await expect(dispatch.tidy()).rejects.toThrow('any more')
  await expect.poll(() => connections(store)).toBe(before)
})

/** Besides the one that asks. */
async function connections(store: string): Promise<number> {
  const there = 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  return (await queried(store, there)).length
}
