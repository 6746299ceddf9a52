import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Ended, lines, retinue } from '../support/cli.js'
import { ownPostgres, queried, sharedPostgres } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

const SCRIPT = 'agents: {root: [{text: "Done."}]}'
const RUN = ['-p', 'Do it', '--model', 'scripted/s.yaml']

const project = (files: Record<string, string> = {}) => makeProject({ 's.yaml': SCRIPT, ...files })

function changed(url: string, change: (url: URL) => void): string {
  const copy = new URL(url)
  change(copy)
  return copy.href
}

/** What a command says, without what differs from one machine to another. Nobody may be told the password. */
function said({ code, stdout, stderr }: Ended, url: string): [number | null, string, string] {
  const { host, password } = new URL(url)
  expect(stdout + stderr).not.toContain(password)
  return [code, stdout, stderr.replaceAll(host, 'HOST')]
}

async function runsIn(url: string): Promise<number> {
  return (await queried(url, 'SELECT 1 FROM retinue.runs')).length
}

describe('a PostgreSQL store is named', () => {
  it('on the command line, before the environment, before the own file; nothing of it lies in the folder', async () => {
    const server = await sharedPostgres()
    const [own, environment, flag] = [await server.database(), await server.database(), await server.database()]
    const cwd = project({ 'config/retinue/config.yaml': `store: ${own}\n` })
    const configured = { XDG_CONFIG_HOME: join(cwd, 'config'), RETINUE_STORE: '' }
    const done = [0, 'Done.\n', '']
    expect(said(await retinue(RUN, { cwd, env: configured }), own)).toEqual(done)
    const env = { ...configured, RETINUE_STORE: environment }
    expect(said(await retinue(RUN, { cwd, env }), own)).toEqual(done)
    expect(said(await retinue([...RUN, '--store', flag], { cwd, env }), own)).toEqual(done)
    expect(await Promise.all([own, environment, flag].map(runsIn))).toEqual([1, 1, 1])
    expect(existsSync(join(cwd, '.retinue'))).toBe(false)
  })

  it("never by a project's file, trusted or not", async () => {
    const store = 'postgres://ada:opensesame@db.example/runs'
    const cwd = project({ 'retinue.yaml': `store: ${store}\n` })
    const env = { XDG_CONFIG_HOME: join(cwd, 'config') }
    const file = join(cwd, 'config/retinue/config.yaml')
    const message = `retinue: ${cwd}/retinue.yaml:1:8: a project's file cannot name a database for the store, where all runs would go: say it in ${file}, with --store or RETINUE_STORE\n`
    expect(said(await retinue(RUN, { cwd, env }), store)).toEqual([52, '', message])
    mkdirSync(join(cwd, 'config/retinue'), { recursive: true })
    writeFileSync(file, `trusted_projects: [${cwd}]\n`)
    expect(said(await retinue(RUN, { cwd, env }), store)).toEqual([52, '', message])
  })

  it.each([
    ['mysql://ada:opensesame@db/runs', 'a store is a file or a postgres:// URL, and mysql:// is neither'],
    [
      'postgres://ada:open#sesame@db/runs',
      'the URL cannot be read: it is postgres://user@host:5432/database, and # / ? @ in a password are %23 %2F %3F %40',
    ],
  ])('and by nothing that is none: %s', async (store, message) => {
    const cwd = project()
    const flag = await retinue([...RUN, '--store', store], { cwd })
    expect([flag.code, flag.stderr]).toEqual([42, `retinue: --store: ${message}\n`])
    const variable = await retinue(RUN, { cwd, env: { RETINUE_STORE: store } })
    expect([variable.code, variable.stderr]).toEqual([52, `retinue: RETINUE_STORE: ${message}\n`])
  })

  it('RETINUE_STORE can name a file too, as the own file can', async () => {
    const cwd = project()
    const ended = await retinue(RUN, { cwd, env: { RETINUE_STORE: '.retinue/other.db' } })
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([0, 'Done.\n', ''])
    expect(existsSync(join(cwd, '.retinue/other.db'))).toBe(true)
    const outside = await retinue(RUN, { cwd, env: { RETINUE_STORE: 'notes.db' } })
    const message = 'RETINUE_STORE: store must be a file below .retinue, or outside the project folder'
    expect([outside.code, outside.stderr]).toEqual([52, `retinue: ${message}\n`])
  })
})

it('what the URL of a store leaves out is in the variables of PostgreSQL, for workers and in messages too', async () => {
  const { hostname, port, username, password, pathname } = new URL(await (await sharedPostgres()).database())
  const place = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: pathname.slice(1) }
  const known = { ...place, PGPASSWORD: decodeURIComponent(password) }
  const cwd = project()
  const worker = await workerProcess(cwd, 'postgres:///', { env: known })
  const env = { ...known, RETINUE_STORE: 'postgres:///', RETINUE_ENGINE: 'dbos' }
  expect(await retinue(RUN, { cwd, env })).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: '' })
  expect((await retinue(['workers'], { cwd, env })).stdout).toContain(worker.id)
  expect(await retinue(['runs'], { cwd, env: { ...env, PGPORT: 'abc' } })).toMatchObject({
    code: 52,
    stderr: 'retinue: "abc", in the URL of the store or in PGPORT, is no port: that is a number from 1 to 65535.\n',
  })
  expect((await retinue(['runs'], { cwd, env: { ...env, PGPORT: '1' } })).stderr).toBe(
    `retinue: No PostgreSQL server answers at ${hostname}:1 (connect ECONNREFUSED ${hostname}:1). Start it, or correct the URL of the store.\n`,
  )
})

describe('the password of a PostgreSQL store', () => {
  it('can be left out of the URL: PGPASSWORD or a password file has it', async () => {
    const url = await (await sharedPostgres()).database()
    const { password, hostname, port, username } = new URL(url)
    const store = changed(url, (without) => {
      without.password = ''
    })
    const cwd = project({ pgpass: `${hostname}:${port}:*:${username}:${decodeURIComponent(password)}\n` })
    chmodSync(join(cwd, 'pgpass'), 0o600)
    const given: Record<string, string>[] = [
      { PGPASSWORD: decodeURIComponent(password) },
      { PGPASSFILE: join(cwd, 'pgpass') },
    ]
    for (const env of given) {
      const ended = await retinue(RUN, { cwd, env: { RETINUE_STORE: store, ...env } })
      // Of the file pg itself says that it will not read it for ever.
      expect(said(ended, url).slice(0, 2)).toEqual([0, 'Done.\n'])
    }
    expect(await runsIn(url)).toBe(2)
  })

  it.each(['the URL', 'PGPASSWORD'])('is a secret: an agent that reads it is not shown it (%s)', async (where) => {
    const url = await (await sharedPostgres()).database()
    const password = decodeURIComponent(new URL(url).password)
    const without = changed(url, (copy) => {
      copy.password = ''
    })
    const cwd = project({
      'notes.txt': `It is ${password}.\n`,
      's.yaml': `agents: {root: [{calls: [{read_file: {path: notes.txt}}]}, {text: "It is ${password}."}]}`,
    })
    const env: Record<string, string> =
      where === 'the URL' ? { RETINUE_STORE: url } : { RETINUE_STORE: without, PGPASSWORD: password }
    const ended = await retinue([...RUN, '--output-format', 'stream-json'], { cwd, env })
    expect(ended.code).toBe(0)
    expect(ended.stdout + ended.stderr).not.toContain(password)
    expect(JSON.stringify(await queried(url, 'SELECT data FROM retinue.events'))).not.toContain(password)
    expect(lines(ended.stdout).at(-1)).toMatchObject({
      type: 'result',
      text: expect.stringContaining('It is [secret '),
    })
  })
})

describe('a PostgreSQL store that cannot be opened', () => {
  it('nobody listens there', async () => {
    const store = 'postgres://ada:opensesame@127.0.0.1:1/runs'
    const ended = await retinue([...RUN, '--store', store], { cwd: project() })
    const why = 'No PostgreSQL server answers at HOST (connect ECONNREFUSED HOST)'
    expect(said(ended, store)).toEqual([1, '', `retinue: ${why}. Start it, or correct the URL of the store.\n`])
  })

  it('the password is wrong', async () => {
    const { url } = await ownPostgres()
    const store = changed(url, (copy) => {
      copy.password = 'opensesame'
    })
    const why =
      'The PostgreSQL server at HOST does not let the user postgres in (password authentication failed for user "postgres")'
    const message = `retinue: ${why}. Correct the user and the password in the URL of the store.\n`
    expect(said(await retinue([...RUN, '--store', store], { cwd: project() }), store)).toEqual([1, '', message])
  })

  it('there is no such database', async () => {
    const { url } = await sharedPostgres()
    const store = changed(url, (copy) => {
      copy.pathname = '/nowhere'
    })
    const why = 'There is no database nowhere at HOST. Create it (createdb nowhere), or correct the URL of the store.'
    expect(said(await retinue([...RUN, '--store', store], { cwd: project() }), store)).toEqual([
      1,
      '',
      `retinue: ${why}\n`,
    ])
  })

  it('its tables are those of a newer Retinue; nothing of them is changed', async () => {
    const store = await (await sharedPostgres()).database()
    const cwd = project()
    expect(said(await retinue([...RUN, '--store', store], { cwd }), store)).toEqual([0, 'Done.\n', ''])
    await queried(store, 'UPDATE retinue.schema_version SET version = 99')
    const { code, stderr } = await retinue([...RUN, '--store', store], { cwd })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /was written by a newer version of Retinue: its schema retinue is version 99, and this one knows \d+\. Update Retinue/,
      ),
    ])
    expect(await runsIn(store)).toBe(1)
  })

  it('an empty schema that an administrator made is no hindrance: the tables are made in it, as those of a version 0', async () => {
    const store = await (await sharedPostgres()).database()
    await queried(store, 'CREATE SCHEMA retinue')
    expect(said(await retinue([...RUN, '--store', store], { cwd: project() }), store)).toEqual([0, 'Done.\n', ''])
    expect(await queried(store, 'SELECT version > 0 AS later FROM retinue.schema_version')).toEqual([{ later: true }])
  })

  it('the user may not make tables', async () => {
    const server = await ownPostgres()
    const database = await server.database()
    await queried(server.url, "CREATE ROLE guest LOGIN PASSWORD 'opensesame'")
    const store = changed(database, (copy) => {
      copy.username = 'guest'
      copy.password = 'opensesame'
    })
    const { code, stderr } = await retinue([...RUN, '--store', store], { cwd: project() })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^retinue: The user guest may not set up the schema retinue .*GRANT CREATE ON DATABASE/),
    ])
  })

  it('the user may not use the schema, or gave no password', async () => {
    const server = await ownPostgres()
    const database = await server.database()
    const run = async (store: string) => (await retinue([...RUN, '--store', store], { cwd: project() })).stderr
    expect(await run(database)).toBe('')
    await queried(server.url, "CREATE ROLE guest LOGIN PASSWORD 'opensesame'")
    const guest = changed(database, (copy) => {
      copy.username = 'guest'
      copy.password = 'opensesame'
    })
    expect(await run(guest)).toMatch(
      /^retinue: The user guest may not use the schema retinue .*: GRANT USAGE ON SCHEMA retinue TO guest; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retinue TO guest\.\n$/,
    )
    await queried(
      database,
      `GRANT USAGE ON SCHEMA retinue TO guest;
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retinue TO guest`,
    )
    expect(await run(guest)).toBe('')
    await queried(database, 'DROP INDEX retinue.runs_by_session; UPDATE retinue.schema_version SET version = 1')
    expect(await run(guest)).toMatch(
      /are of an older version, and the user guest may not change them \(must be owner of table runs\)\. Let their owner open them once with this version: retinue doctor\.\n$/,
    )
    expect(await run(database)).toBe('')
    const silent = changed(guest, (copy) => {
      copy.password = ''
    })
    expect(await run(silent)).toMatch(
      /asks the user guest for a password, and none was given\. Give it in the URL of the store, as PGPASSWORD, or in ~\/\.pgpass \(mode 0600\)\.\n$/,
    )
  })

  it('the URL lacks a slash', async () => {
    const cwd = project()
    expect(await retinue([...RUN, '--store', 'postgres:/127.0.0.1/runs'], { cwd })).toMatchObject({
      code: 42,
      stderr: 'retinue: --store: the URL lacks a slash: it is postgres://user@host:5432/database\n',
    })
  })
})

describe('doctor', () => {
  const found = async (store: string) => {
    const ended = await retinue(['doctor', '--json', '--store', store], {
      cwd: project(),
      env: { OPENAI_API_KEY: 'k' },
    })
    expect(ended.stdout + ended.stderr).not.toContain(new URL(store).password)
    const findings = JSON.parse(ended.stdout) as { topic: string; state: string; text: string; advice: string | null }[]
    return { code: ended.code, by: Object.fromEntries(findings.map(({ topic, ...rest }) => [topic, rest])) }
  }

  it('says what a database is like', async () => {
    const store = await (await sharedPostgres()).database()
    const { host, pathname } = new URL(store)
    const { code, by } = await found(store)
    expect(code).toBe(0)
    const { database, tables, writing, speed, clock } = by
    const ok = (text: unknown) => ({ state: 'ok', text, advice: null })
    expect({ store: by.store, database, tables, writing, speed, clock }).toEqual({
      store: ok('0 runs'),
      database: ok(expect.stringMatching(/^PostgreSQL \d+\.\d+$/)),
      tables: ok(expect.stringMatching(new RegExp(`^${pathname.slice(1)} at ${host}, schema retinue, version \\d+$`))),
      writing: ok('it takes writes'),
      speed: {
        ...ok(expect.stringMatching(/^[\d.]+ ms there and back, [\d.]+ ms for a commit$/)),
        state: expect.any(String),
        advice: by.speed?.advice,
      },
      clock: ok("within 2 s of the server's"),
    })
  })

  it('says why nothing can be written', async () => {
    const server = await ownPostgres()
    const database = await server.database()
    await found(database)
    await queried(database, "CREATE ROLE reader LOGIN PASSWORD 'opensesame'")
    await queried(database, 'GRANT USAGE ON SCHEMA retinue TO reader')
    await queried(database, 'GRANT SELECT ON ALL TABLES IN SCHEMA retinue TO reader')
    await queried(database, 'GRANT SELECT, INSERT, UPDATE, DELETE ON retinue.events, retinue.writers TO reader')
    const store = changed(database, (copy) => {
      copy.username = 'reader'
      copy.password = 'opensesame'
    })
    const { code, by } = await found(store)
    expect([code, by.writing?.state, by.writing?.text]).toEqual([
      1,
      'problem',
      expect.stringMatching(/^nothing can be written: the user has not all rights on .*retinue\.streams/),
    ])
    expect(by.writing?.text).not.toContain('retinue.events')
  })

  it('says that it cannot be reached', async () => {
    const { code, by } = await found('postgres://ada:opensesame@127.0.0.1:1/runs')
    expect([code, by.store]).toEqual([
      1,
      {
        state: 'problem',
        text: 'No PostgreSQL server answers at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1). Start it, or correct the URL of the store.',
        advice: 'Without it nothing works. Name another one with --store, or mend this one.',
      },
    ])
  })
})
