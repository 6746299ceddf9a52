import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { lines, retinue } from '../support/cli.js'
import { fillDisk, inTheMiddle, logged } from '../support/fault-run.js'
import { describeWith } from '../support/needed.js'
import { ownPostgres, queried } from '../support/postgres.js'
import { sampled } from '../support/sampled.js'

const told = (events: readonly StoredEvent[]) => events.map(({ type, data }) => ({ type, data }))

describe('a database that is gone for a while in the middle of a run', () => {
  it.each(sampled([2, 60], 2))('%i s: the run waits for it and goes on', async (seconds) => {
    const server = await ownPostgres({ durable: true })
    const store = await server.database()
    const { child, end, go, cwd } = await inTheMiddle(store)
    await server.stop('immediate')
    go()
    await sleep(seconds * 1000)
    expect(child.exitCode).toBeNull()
    await server.start()
    const { code, stdout, stderr } = await end
    expect([code, stderr]).toEqual([0, ''])
    const events = lines(stdout)
    expect(events.at(-1)).toMatchObject({ type: 'result', outcome: 'completed', text: 'Done.' })
    expect(told(events.slice(0, -1) as StoredEvent[])).toEqual(await logged(store))
    expect(await queried(store, 'SELECT status FROM retinue.runs')).toEqual([{ status: 'closed' }])
    const done = await retinue(['runs', '--json'], { cwd, env: { RETINUE_STORE: store } })
    expect(done.code).toBe(0)
  })
})

it('a database that is gone for good: says so, and the run is resumed when it is back, with nothing lost', async () => {
  const server = await ownPostgres({ durable: true })
  const store = await server.database()
  const { cwd, end, seen, run_id, go } = await inTheMiddle(`${store}?patience=2`)
  await server.stop('immediate')
  go()
  const { code, stderr } = await end
  const { host, password } = new URL(store)
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(
        `^retinue: The database at ${host} has not answered for \\d+ s \\(.*\\)\\. See that it runs and can be reached, then try again\\. Go on with: retinue resume ${run_id}\n$`,
      ),
    ),
  ])
  expect(stderr).not.toContain(password)

  const early = await retinue(['resume', run_id], { cwd, env: { RETINUE_STORE: store } })
  expect([early.code, early.stderr]).toEqual([1, expect.stringMatching(/^retinue: No PostgreSQL server answers at /)])

  await server.start()
  expect((await logged(store)).slice(0, seen.length)).toEqual(told(seen))
  const resumed = await retinue(['resume', run_id, '--output-format', 'json'], { cwd, env: { RETINUE_STORE: store } })
  expect([resumed.code, resumed.stderr]).toEqual([0, ''])
  expect(JSON.parse(resumed.stdout)).toMatchObject({ run_id, outcome: 'completed', text: 'Done.' })
  expect((await logged(store)).filter(({ type }) => type === 'run.closed')).toHaveLength(1)
})

const missing = process.platform === 'linux' ? null : 'a disk that is small can only be made on Linux'
describeWith({ missing, ensure: 'it on Linux' }, 'a database whose disk is full', () => {
  it('says so, writes nothing by halves, and the run is resumed when there is room', async () => {
    const server = await ownPostgres({ small_disk_mb: 40 })
    const store = await server.database()
    const { cwd, end, seen, run_id, go } = await inTheMiddle(store)
    await expect(fillDisk(store)).rejects.toMatchObject({ code: '53100' })
    go()
    const { code, stderr } = await end
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is full, so nothing was stored\. Make room on it/)])
    expect(stderr).toContain(`retinue resume ${run_id}`)
    await queried(store, 'DROP TABLE filler')
    expect((await logged(store)).slice(0, seen.length)).toEqual(told(seen))
    const resumed = await retinue(['resume', run_id, '--output-format', 'json'], { cwd, env: { RETINUE_STORE: store } })
    expect([resumed.code, resumed.stderr]).toEqual([0, ''])
    expect(JSON.parse(resumed.stdout)).toMatchObject({ run_id, outcome: 'completed', text: 'Done.' })
  })
})
