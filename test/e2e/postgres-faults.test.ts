import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { ended, lines, retinue, start } from '../support/cli.js'
import { describeWith } from '../support/needed.js'
import { ownPostgres, queried } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { sampled } from '../support/sampled.js'

/** The command waits for a file, so that the test says what happens while it runs, and then has much to say. */
const SCRIPT = JSON.stringify({
  agents: {
    root: [
      {
        calls: [
          { run_command: { command: 'until [ -e go ]; do sleep 0.05; done; head -c 400000 /dev/urandom | base64' } },
        ],
      },
      { text: 'Done.' },
    ],
  },
})
const RUN = ['Do it', '--mode', 'dangerous', '--model', 'scripted/s.yaml', '--output-format', 'stream-json']

/** A run in a process of its own that has got as far as its command. */
async function inTheMiddle(store: string) {
  const cwd = makeProject({ 's.yaml': SCRIPT })
  const child = start(RUN, { cwd, env: { RETINUE_STORE: store } })
  child.stdin.end()
  const end = ended(child)
  const seen: StoredEvent[] = []
  const reading = createInterface(child.stdout)
  await new Promise<void>((resolve) => {
    reading.on('line', (line) => {
      const event = JSON.parse(line) as StoredEvent
      seen.push(event)
      if (event.type === 'tool.called') resolve()
    })
  })
  const [{ run_id }] = seen as [StoredEvent]
  const go = () => writeFileSync(join(cwd, 'go'), '')
  return { cwd, child, end, seen: [...seen], run_id, go }
}

/** The log of the only run, as the database has it. */
async function logged(store: string): Promise<{ type: string; data: unknown }[]> {
  const rows = await queried(store, 'SELECT type, data FROM retinue.events ORDER BY position')
  return (rows as { type: string; data: string }[]).map(({ type, data }) => ({ type, data: JSON.parse(data) }))
}

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
    await queried(store, 'CREATE TABLE filler (bytes text)')
    await queried(store, 'ALTER TABLE filler ALTER bytes SET STORAGE PLAIN')
    const fill = "INSERT INTO filler SELECT repeat('x', 7000) FROM generate_series(1, 10)"
    await expect(filled(store, fill)).rejects.toMatchObject({ code: '53100' })
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

/** Until it fails. */
async function filled(store: string, statement: string): Promise<never> {
  for (;;) await queried(store, statement)
}
