import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { type Ended, retinue } from '../support/cli.js'
import { ownPostgres, queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

const SCRIPT = 'agents: {root: [{text: "Done."}]}'
const RUN = ['-p', 'Do it', '--model', 'scripted/s.yaml']
const DBOS_WITHOUT_DATABASE =
  'retinue: The engine dbos runs agents on the PostgreSQL that has the log: name one with store: postgres://…, or leave engine: local\n'

const project = (files: Record<string, string> = {}) => makeProject({ 's.yaml': SCRIPT, ...files })
const said = ({ code, stdout, stderr }: Ended) => [code, stdout, stderr]

describe('the engine is named', () => {
  it('on the command line, before the environment, before the own file', async () => {
    const store = await (await sharedPostgres()).database()
    const cwd = project({ 'config/retinue/config.yaml': 'engine: dbos\n' })
    const configured = { XDG_CONFIG_HOME: join(cwd, 'config'), RETINUE_STORE: store }
    const env = { ...configured, RETINUE_ENGINE: 'local' }
    const given = await retinue(['--detach', ...RUN], { cwd, env: configured })
    expect([given.code, given.stderr]).toEqual([0, 'No worker is there: start one with retinue worker\n'])
    expect(said(await retinue(RUN, { cwd, env }))).toEqual([0, 'Done.\n', ''])
    const flag = await retinue(['--detach', '--engine', 'dbos', ...RUN], { cwd, env })
    expect([flag.code, flag.stderr]).toEqual([0, 'No worker is there: start one with retinue worker\n'])
    expect(await queried(store, 'SELECT status, count(*)::int FROM retinue.runs GROUP BY 1 ORDER BY 1')).toEqual([
      { status: 'closed', count: 1 },
      { status: 'running', count: 2 },
    ])
  })

  it("never by a project's file, and by nothing that is none", async () => {
    const cwd = project({ 'retinue.yaml': 'engine: dbos\n' })
    const env = { XDG_CONFIG_HOME: join(cwd, 'config') }
    const file = join(cwd, 'config/retinue/config.yaml')
    expect(said(await retinue(RUN, { cwd, env }))).toEqual([
      ...[52, ''],
      `retinue: ${cwd}/retinue.yaml:1:1: a project's file cannot say where agents run: say it in ${file}, with --engine or RETINUE_ENGINE\n`,
    ])
    expect(said(await retinue(RUN, { cwd: project(), env: { RETINUE_ENGINE: 'remote' } }))).toEqual([
      ...[52, '', 'retinue: RETINUE_ENGINE: "remote" is no engine: it is local or dbos\n'],
    ])
    expect((await retinue([...RUN, '--engine', 'remote'], { cwd: project() })).code).toBe(2)
  })

  it('dbos needs a PostgreSQL store', async () => {
    const env = { RETINUE_STORE: '.retinue/runs.db' }
    const ended = await retinue([...RUN, '--engine', 'dbos'], { cwd: project(), env })
    expect(said(ended)).toEqual([52, '', DBOS_WITHOUT_DATABASE])
  })

  it('local keeps runs here, and has nobody to give them to', async () => {
    expect(said(await retinue(['--detach', ...RUN], { cwd: project() }))).toEqual([
      ...[52, ''],
      'retinue: --detach gives a run to workers, and here agents run in the process that starts them: add --engine dbos and a PostgreSQL --store, or leave out --detach\n',
    ])
    for (const more of [['--web'], ['--record', 'x.yaml'], ['--output-format', 'stream-json']]) {
      expect(said(await retinue(['--detach', 'Do it', ...more], { cwd: project() }))).toEqual([
        ...[42, ''],
        `retinue: ${more[0] === '--record' ? '--record' : more.join(' ')} is for whoever waits for the run: leave it out with --detach\n`,
      ])
    }
  })
})

describe('a worker does not start', () => {
  it('without a database', async () => {
    const env = { RETINUE_STORE: '.retinue/runs.db' }
    expect(said(await retinue(['worker'], { cwd: project(), env }))).toEqual([
      ...[52, ''],
      'retinue: A worker takes runs from a PostgreSQL database, and the store here is a file: name one with --store postgres://…, RETINUE_STORE, or store in your own configuration\n',
    ])
    expect(said(await retinue(['workers'], { cwd: project(), env }))).toEqual([
      ...[52, ''],
      'retinue: Workers share a PostgreSQL database: name it with store: postgres://…, --store or RETINUE_STORE\n',
    ])
  })

  it('while the database is away', async () => {
    const env = { RETINUE_STORE: 'postgres://ada:opensesame@127.0.0.1:1/runs' }
    expect(said(await retinue(['worker'], { cwd: project(), env }))).toEqual([
      ...[1, ''],
      'retinue: No PostgreSQL server answers at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1). Start it, or correct the URL of the store.\n',
    ])
  })

  it('on tables of a newer Retinue', async () => {
    const store = await (await sharedPostgres()).database()
    const cwd = project()
    expect((await retinue(['runs'], { cwd, env: { RETINUE_STORE: store } })).code).toBe(0)
    await queried(store, 'UPDATE retinue.schema_version SET version = 99')
    const { code, stderr } = await retinue(['worker'], { cwd, env: { RETINUE_STORE: store } })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/newer version of Retinue.*version 99/)])
  })

  it('with an address that is taken, or none', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const store = await (await sharedPostgres()).database()
    const cwd = project()
    const taken = await retinue(['worker', '--health', String(port)], { cwd, env: { RETINUE_STORE: store } })
    expect(said(taken)).toEqual([
      ...[52, '', `retinue: --health cannot listen on port ${port} of 127.0.0.1: it is taken\n`],
    ])
    for (const wrong of [
      ['--health', 'a b:1'],
      ['--health', '65536'],
      ['--concurrency', '0'],
      ['--grace', '-1'],
    ])
      expect((await retinue(['worker', ...wrong], { cwd })).code).toBe(2)
  })
})

it('its health and its figures can be asked for, also while the database is away', async () => {
  const server = await ownPostgres()
  const cwd = project()
  const store = await server.database()
  const worker = await workerProcess(cwd, store, { args: ['--health', '0', '--concurrency', '3'] })
  const { health } = await worker.until('started')
  const look = async () => {
    const answer = await fetch(`${health}/health`)
    return [answer.status, await answer.json()]
  }
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' }
  expect(said(await retinue(RUN, { cwd, env }))).toEqual([0, 'Done.\n', ''])
  const told = { concurrency: 3, labels: [], at_once: null, per_run: null }
  const well = { id: worker.id, ...told, working: 0, done: 1, stopping: false, silent_ms: expect.any(Number) }
  expect(await look()).toEqual([200, { ok: true, ...well, problem: null }])
  const figures = await (await fetch(`${health}/metrics`)).text()
  const values = Object.fromEntries(
    [...figures.matchAll(/^(\w+) ([\d.e-]+)$/gm)].map(([, name, value]) => [name, value]),
  )
  expect(values).toEqual({
    ...{ retinue_worker_ready: '1', retinue_worker_agents_at_work: '0', retinue_worker_concurrency: '3' },
    ...{ retinue_worker_done_total: '1', retinue_worker_stopping: '0' },
    retinue_worker_database_silence_seconds: expect.any(String),
    process_cpu_seconds_total: expect.any(String),
    process_resident_memory_bytes: expect.any(String),
  })
  expect((await fetch(`${health}/else`)).status).toBe(404)
  expect((await fetch(`${health}/health`, { method: 'POST' })).status).toBe(405)
  await server.stop()
  expect(await worker.until('problem')).toMatchObject({
    text: expect.stringMatching(/^The database does not answer: /),
  })
  expect(await look()).toEqual([expect.any(Number), { ...well, ok: expect.any(Boolean), problem: expect.any(String) }])
  await server.start()
  expect(await worker.until('mended')).toMatchObject({ text: 'The database answers again' })
  expect(said(await retinue(RUN, { cwd, env }))).toEqual([0, 'Done.\n', ''])
  expect(await look()).toEqual([200, { ...well, ok: true, done: 2, problem: null }])
  worker.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
})

it('the example starts a worker with options that there are', async () => {
  const file = fileURLToPath(new URL('../../examples/workers/compose.yaml', import.meta.url))
  const { services } = parse(readFileSync(file, 'utf8')) as { services: Record<string, { command?: string[] }> }
  expect(Object.keys(services)).toEqual(['database', 'worker'])
  const [node, program, ...args] = services.worker?.command ?? []
  expect([node, program]).toEqual(['node', '/opt/retinue/bin/retinue.js'])
  const env = { RETINUE_STORE: 'postgres://retinue:opensesame@127.0.0.1:1/retinue' }
  const { code, stderr } = await retinue([...args.slice(0, -1), '0'], { cwd: project(), env })
  expect([code, stderr]).toEqual([1, expect.stringContaining('No PostgreSQL server answers')])
})
