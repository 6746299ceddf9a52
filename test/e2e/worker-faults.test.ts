import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { faultProject, fillDisk, inTheMiddle, logged } from '../support/fault-run.js'
import { describeWith } from '../support/needed.js'
import { ownPostgres, queried, sharedPostgres } from '../support/postgres.js'
import { sampled } from '../support/sampled.js'
import { workerProcess } from '../support/worker-process.js'

const DBOS = { RETINUE_ENGINE: 'dbos' }

/** A worker has a second in which it is told, and the next who looks at the queue another. */
const GOES_ON_MS = 15_000

describe('a database that is gone for a while while a worker works on a run', () => {
  it.each(sampled([6, 60], 2))('%i s: worker and face wait for it, and go on', async (seconds) => {
    const server = await ownPostgres({ durable: true })
    const store = await server.database()
    const cwd = faultProject()
    const worker = await workerProcess(cwd, store)
    const { child, end, go } = await inTheMiddle(store, DBOS, cwd)
    await server.stop('immediate')
    go()
    await sleep(seconds * 1000)
    expect([child.exitCode, (await worker.until('problem')).text]).toEqual([
      null,
      expect.stringMatching(/^The database does not answer: /),
    ])
    const back = Date.now()
    await server.start()
    const { code, stdout, stderr } = await end
    const silence = 'The database does not answer; waiting for it\nThe database answers again\n'
    // On a slow machine it may be away for longer than it was meant to be.
    expect([code, stderr === '' && seconds < 10 ? silence : stderr]).toEqual([0, silence])
    expect(Date.now() - back).toBeLessThan(GOES_ON_MS)
    const events = lines(stdout) as { type: string }[]
    expect(events.at(-1)).toMatchObject({ type: 'result', outcome: 'completed', text: 'Done.' })
    expect(events.slice(0, -1).map(({ type }) => type)).toEqual((await logged(store)).map(({ type }) => type))
    await worker.until('mended')
    worker.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })
})

describe('a database that is gone for good', () => {
  it('keeps neither a worker nor whoever waits from ending when they are told to, and nothing is lost', async () => {
    const server = await ownPostgres({ durable: true })
    const store = await server.database()
    const cwd = faultProject()
    const worker = await workerProcess(cwd, store, { args: ['--grace', '1'] })
    const { child, end, run_id, go } = await inTheMiddle(store, DBOS, cwd)
    await server.stop('immediate')
    await worker.until('problem')
    const told_at = Date.now()
    worker.kill('SIGTERM')
    child.kill('SIGTERM')
    const [of_worker, { code, stderr }] = await Promise.all([worker.ended, end])
    // Long before either gives the database up.
    expect(Date.now() - told_at).toBeLessThan(60_000)
    expect([of_worker.code, worker.told.at(-1)]).toMatchObject([
      1,
      { type: 'stopped', text: expect.stringMatching(/who take up what it had: The database does not answer: /) },
    ])
    expect([code, stderr]).toEqual([
      143,
      expect.stringMatching(`retinue: stopped by SIGTERM. It is with the workers: retinue watch ${run_id}\n$`),
    ])
    await server.start()
    go()
    await workerProcess(cwd, store)
    const watched = await retinue(['watch', run_id], { cwd, env: { ...DBOS, RETINUE_STORE: store } })
    expect([watched.code, (await logged(store)).filter(({ type }) => type === 'run.closed')]).toMatchObject([
      0,
      [{ data: { outcome: 'completed' } }],
    ])
  })
})

const missing = process.platform === 'linux' ? null : 'a disk that is small can only be made on Linux'
describeWith({ missing, ensure: 'it on Linux' }, 'a database whose disk is full under a worker', () => {
  it('the worker says so and waits; when there is room the run goes on, and nothing of it was lost', async () => {
    const server = await ownPostgres({ small_disk_mb: 60 })
    const store = await server.database()
    const cwd = faultProject()
    const worker = await workerProcess(cwd, store)
    const { end, seen, go } = await inTheMiddle(store, DBOS, cwd)
    await expect(fillDisk(store)).rejects.toMatchObject({ code: '53100' })
    go()
    const { text } = await worker.until('problem')
    expect(text).toMatch(/is full, so nothing was stored|No space left on device/)
    await queried(store, 'DROP TABLE filler')
    const { code, stdout, stderr } = await end
    expect([code, stderr]).toEqual([0, ''])
    expect(lines(stdout).at(-1)).toMatchObject({ type: 'result', outcome: 'completed', text: 'Done.' })
    const log = await logged(store)
    expect(log.slice(0, seen.length)).toEqual(seen.map(({ type, data }) => ({ type, data })))
    expect(log.filter(({ type }) => type === 'run.closed')).toHaveLength(1)
  })
})

describe('a database that does not let in', () => {
  const COMMANDS = [['worker'], ['--model', 'scripted/s.yaml', 'Do it'], ['--detach', 'Do it'], ['serve']]

  it.each(COMMANDS)('%s says so where nobody answers, and where the password is wrong', async (...args) => {
    const away = { ...DBOS, RETINUE_STORE: 'postgres://ada:opensesame@127.0.0.1:1/runs' }
    const cwd = faultProject()
    expect(await retinue(args, { cwd, env: away })).toEqual({
      ...{ code: 1, signal: null, stdout: '' },
      stderr:
        'retinue: No PostgreSQL server answers at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1). Start it, or correct the URL of the store.\n',
    })
    const url = new URL(await (await sharedPostgres()).database())
    url.password = 'opensesame'
    const wrong = await retinue(args, { cwd, env: { ...DBOS, RETINUE_STORE: url.href } })
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
      ...[1, ''],
      expect.stringMatching(/^retinue: .*does not let .* in.*password/i),
    ])
    expect(wrong.stderr).not.toContain('opensesame')
  })
})

describe('tables of the log that are older', () => {
  it('are brought up to date by whoever comes, and a run that a worker is at goes on', async () => {
    const store = await (await sharedPostgres()).database()
    const cwd = faultProject()
    await workerProcess(cwd, store)
    const { end, seen, go } = await inTheMiddle(store, DBOS, cwd)
    await queried(store, 'DROP INDEX retinue.runs_by_session')
    await queried(store, 'UPDATE retinue.schema_version SET version = 1')
    const listed = await retinue(['runs', '--json'], { cwd, env: { ...DBOS, RETINUE_STORE: store } })
    expect([listed.code, lines(listed.stdout)]).toMatchObject([0, [{ status: 'running' }]])
    expect(await queried(store, 'SELECT version FROM retinue.schema_version')).toEqual([{ version: 2 }])
    go()
    const { code, stdout, stderr } = await end
    expect([code, stderr]).toEqual([0, ''])
    expect(lines(stdout).at(-1)).toMatchObject({ type: 'result', outcome: 'completed', text: 'Done.' })
    expect((await logged(store)).slice(0, seen.length)).toEqual(seen.map(({ type, data }) => ({ type, data })))
  })
})

describe('tables of DBOS', () => {
  it.each([
    { name: 'of a newer version are used as they are', moved: 7, ends: 7 },
    { name: 'of an older version are brought up to date', moved: -1, ends: 0 },
  ])('$name', async ({ moved, ends }) => {
    const store = await (await sharedPostgres()).database()
    const cwd = faultProject()
    const first = await workerProcess(cwd, store)
    first.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
    const version = async () => {
      const [row] = await queried(store, 'SELECT version FROM retinue_dbos.dbos_migrations')
      return Number((row as { version: string }).version)
    }
    const made = await version()
    await queried(store, `UPDATE retinue_dbos.dbos_migrations SET version = version + ${moved}`)
    await workerProcess(cwd, store)
    const { end, go } = await inTheMiddle(store, DBOS, cwd)
    go()
    const { code, stderr } = await end
    expect([code, stderr]).toEqual([0, ''])
    expect(await version()).toBe(made + ends)
  })
})
