import { expect, it } from 'vitest'
import { ownPostgres, queried, sharedPostgres } from './postgres.js'

it('is one server for all tests of a run, with a new database for each who asks', async () => {
  const [one, other] = await Promise.all([sharedPostgres(), sharedPostgres()])
  expect(one.url).toBe(other.url)
  const database = await one.database()
  await queried(database, 'CREATE TABLE notes (text text)')
  const second = await other.database()
  expect(await queried(second, "SELECT to_regclass('notes') AS found")).toEqual([{ found: null }])
})

it.each(['fast', 'immediate'] as const)(
  'keeps what was committed when it is stopped (%s) and started',
  async (mode) => {
    const server = await ownPostgres()
    const database = await server.database()
    await queried(database, "CREATE TABLE notes AS SELECT 'kept' AS text")
    await server.stop(mode)
    await expect(queried(database, 'SELECT * FROM notes')).rejects.toThrow('ECONNREFUSED')
    await server.start()
    expect(await queried(database, 'SELECT * FROM notes')).toEqual([{ text: 'kept' }])
  },
)
