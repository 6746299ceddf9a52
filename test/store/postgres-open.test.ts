import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetinue } from '../../src/index.js'
import { begin } from '../../src/store/conformance/fixtures.js'
import { openPostgresStore } from '../../src/store/index.js'
import { sharedPostgres } from '../support/postgres.js'
import { besides, openUrl, schemas, urlStore, withParameter } from './postgres.js'
import { clock, testFolder } from './sqlite.js'

const place = schemas()

async function refusal(url: string): Promise<{ code: string; message: string }> {
  const opened = await openPostgresStore({ url, clock })
  if (!opened.ok) return { code: opened.code, message: opened.message }
  await opened.store.close()
  throw new Error('it was opened')
}

function changed(url: string, change: (parsed: URL) => void): string {
  const parsed = new URL(url)
  change(parsed)
  return parsed.href
}

describe('a URL', () => {
  const wrong: Record<string, string> = {
    'postgres://h/d?pool_size=1': 'pool_size in the URL of the store must be a whole number from 2 to 1000.',
    'postgres://h/d?sslmode=bogus':
      'sslmode in the URL of the store is one of disable, prefer, require, verify-ca, verify-full, no-verify, and not "bogus".',
    'postgres://h/d?connect_timeout=soon':
      'connect_timeout in the URL of the store must be whole seconds from 1 to 3600.',
    'postgres://h/d?patience=-1': 'patience in the URL of the store must be whole seconds from 0 to 86400.',
    'postgres://h/d?schema=a&schema=b': 'The URL of the store says "schema" twice. Say it once.',
    'postgres://u:secret@h:notaport/d':
      'The URL of the store cannot be read. It has the form postgres://user@host:5432/database.',
  }
  for (const [url, message] of Object.entries(wrong)) {
    it(`is refused where it cannot be meant: ${url.replace(/.*[?@]/, '')}`, async () => {
      expect(await refusal(url)).toEqual({ code: 'refused', message })
    })
  }

  it('is refused with a schema that is no plain name, or a word that nobody reads', async () => {
    for (const schema of ['a"b', 'pg_x', 'A', '9', 'x'.repeat(41), '']) {
      const { message } = await refusal(withParameter('postgres://h/d', 'schema', schema))
      expect(message).toContain(`The schema "${schema}" in the URL of the store is no plain name`)
    }
    const { message } = await refusal('postgres://h/d?pool_sise=9')
    expect(message).toMatch(/^The URL of the store says "pool_sise", which is not known\. Known are schema, pool_size/)
  })
})

describe('a database that cannot be opened', () => {
  it('is named, with what to do, and never the password', async () => {
    const { url } = await sharedPostgres()
    const { password, host, hostname } = new URL(url)
    const nobody = changed(url, (to) => {
      to.port = '1'
    })
    const wrongWord = changed(url, (to) => {
      to.password = 'wr0ng'
    })
    const noBase = changed(url, (to) => {
      to.pathname = '/nothing_there'
    })
    const refusals = await Promise.all([nobody, wrongWord, noBase].map(refusal))
    expect(refusals).toEqual([
      {
        code: 'unreachable',
        message: `No PostgreSQL server answers at ${hostname}:1 (connect ECONNREFUSED ${hostname}:1). Start it, or correct the URL of the store.`,
      },
      {
        code: 'refused',
        message: `The PostgreSQL server at ${host} does not let the user postgres in (password authentication failed for user "postgres"). Correct the user and the password in the URL of the store.`,
      },
      {
        code: 'refused',
        message: `There is no database nothing_there at ${host}. Create it (createdb nothing_there), or correct the URL of the store.`,
      },
    ])
    for (const { message } of refusals) {
      expect(message).not.toContain(decodeURIComponent(password))
      expect(message).not.toContain('wr0ng')
    }
  })

  it('wants the right to make a schema only where there is none', async () => {
    const url = await place()
    const schema = new URL(url).searchParams.get('schema') ?? ''
    const user = `user_${schema}`
    await besides(url, `CREATE ROLE ${user} LOGIN PASSWORD 'word'`)
    onTestFinished(async () => {
      await besides(url, `DROP OWNED BY ${user}`, `DROP ROLE ${user}`)
    })
    const theirs = changed(url, (to) => {
      to.username = user
      to.password = 'word'
    })
    const { code, message } = await refusal(theirs)
    expect(code).toBe('refused')
    const { host, pathname } = new URL(url)
    expect(message).toBe(
      `The user ${user} may not set up the schema ${schema} in the database ${pathname.slice(1)} at ${host} (permission denied for database ${pathname.slice(1)}). Let its owner do that once, or grant the right: GRANT CREATE ON DATABASE ${pathname.slice(1)} TO ${user}.`,
    )
    await besides(url, `CREATE SCHEMA ${schema} AUTHORIZATION ${user}`)
    expect(await begin(await urlStore(theirs), 'run')).toHaveLength(2)
  })

  it('is left alone when its schema is of another program, or of a newer version', async () => {
    const url = await place()
    const schema = new URL(url).searchParams.get('schema')
    await besides(url, `CREATE SCHEMA ${schema}`, 'CREATE TABLE theirs (x integer)')
    const { host, pathname } = new URL(url)
    expect(await refusal(url)).toEqual({
      code: 'unreadable',
      message: `The schema ${schema} of the database ${pathname.slice(1)} at ${host} belongs to another program. Name another one at the end of the URL of the store: ?schema=name.`,
    })
    const newer = await place()
    await (await openUrl(newer)).close()
    await besides(newer, 'UPDATE schema_version SET version = 99')
    expect(await refusal(newer)).toMatchObject({
      code: 'newer_version',
      message: expect.stringMatching(/is version 99, and this one knows \d+\. Update Retinue/),
    })
  })
})

describe('a schema', () => {
  it('is retinue where the URL names none, and each is a store of its own', async () => {
    const url = await (await sharedPostgres()).database()
    const [one, two] = [await urlStore(url), await urlStore(withParameter(url, 'schema', 'other'))]
    await begin(one, 'run')
    expect([await one.runs(), await two.runs()].map((runs) => runs.length)).toEqual([1, 0])
    expect(await besides(url, 'SELECT run_id FROM retinue.runs')).toEqual([{ run_id: 'run' }])
  })

  it('is made once by many who open it at the same moment', async () => {
    const url = await place()
    const stores = await Promise.all(Array.from({ length: 6 }, () => urlStore(url)))
    await begin(stores[0] as (typeof stores)[0], 'run')
    for (const store of stores) expect(await store.runs()).toHaveLength(1)
  })
})

describe('an older schema', () => {
  const older = ['DROP INDEX runs_by_session', 'UPDATE schema_version SET version = 1']

  it('is brought up to date while others write to it, and has all of it afterwards', async () => {
    const url = await place()
    const at_work = await urlStore(url)
    await besides(url, ...older)
    const runs = Array.from({ length: 40 }, (_, i) => `run${i}`)
    const [, ...opened] = await Promise.all([
      Promise.all(runs.map((run_id) => begin(at_work, run_id))),
      ...Array.from({ length: 4 }, () => urlStore(url)),
    ])
    expect(await besides(url, 'SELECT version FROM schema_version')).toEqual([{ version: 2 }])
    const schema = new URL(url).searchParams.get('schema')
    const indexes = await besides(url, `SELECT indexname FROM pg_indexes WHERE schemaname = '${schema}'`)
    expect(indexes).toContainEqual({ indexname: 'runs_by_session' })
    for (const store of [at_work, ...opened]) {
      expect((await store.runs()).map(({ run_id }) => run_id).sort()).toEqual([...runs].sort())
    }
    for (const run_id of runs) expect(await opened[0]?.read({ run_id })).toHaveLength(2)
  })

  it('is as it was where bringing it up to date fails', async () => {
    const url = await place()
    await begin(await urlStore(url), 'run')
    // Somebody has made something of that name.
    await besides(url, ...older, 'CREATE TABLE runs_by_session (x integer)')
    expect(await refusal(url)).toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining('runs_by_session'),
    })
    expect(await besides(url, 'SELECT version FROM schema_version')).toEqual([{ version: 1 }])
    await besides(url, 'DROP TABLE runs_by_session')
    expect((await (await urlStore(url)).runs()).map(({ run_id }) => run_id)).toEqual(['run'])
  })
})

describe('a Retinue', () => {
  it('has its runs where the URL says, or says why it cannot', async () => {
    const url = await place()
    const retinue = await createRetinue({ cwd: await testFolder(), store: url })
    onTestFinished(() => retinue.close())
    await begin(await urlStore(url), 'run')
    expect(await retinue.runs()).toMatchObject([{ run_id: 'run' }])
    const wrong = createRetinue({ cwd: await testFolder(), store: 'postgresql://127.0.0.1:1/nothing' })
    await expect(wrong).rejects.toMatchObject({
      code: 'store',
      message: expect.stringContaining('No PostgreSQL server'),
    })
  })
})

describe('connections', () => {
  it('are no more than the URL allows, say whose they are, and are gone when the store is closed', async () => {
    const url = withParameter(await place(), 'pool_size', '2')
    const name = `retinue-${new URL(url).searchParams.get('schema')}`
    const store = await openUrl(withParameter(url, 'application_name', name))
    await begin(store, 'run')
    await Promise.all(Array.from({ length: 20 }, () => store.read({ run_id: 'run' })))
    const count = `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE application_name = '${name}'`
    expect(await besides(url, count)).toEqual([{ count: 2 }])
    await store.close()
    // The server notices an end a moment after it was told.
    const gone = async () => (await besides(url, count))[0]?.count === 0
    while (!(await gone()));
  })
})
