import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { called, commanded, taken } from '../../src/store/conformance/fixtures.js'
import { bundleChild, Child } from './processes.js'
import { testFolder, testStore } from './sqlite.js'

/** A database file as an earlier version of Retinue left it. */
async function fileOfVersion(version: number): Promise<string> {
  const sql = await readFile(new URL(`../fixtures/store/version-${version}.sql`, import.meta.url), 'utf8')
  const file = join(await testFolder(), 'retinue.db')
  const raw = new Database(file)
  raw.exec(sql)
  raw.close()
  return file
}

describe('a file of schema version 1', () => {
  let child: Awaited<ReturnType<typeof bundleChild>>
  beforeAll(async () => {
    child = await bundleChild()
  })
  afterAll(() => child.remove())

  it('is opened with everything that is in it, and goes on', async () => {
    const store = await testStore(await fileOfVersion(1))
    expect(await store.verify('run')).toBeNull()
    expect((await store.read({ run_id: 'run' })).map(({ type }) => type)).toEqual([
      'run.created',
      'agent.started',
      'model.responded',
      'tool.called',
      'tool.finished',
      'agent.subagent_created',
    ])
    expect((await store.agents('run')).map(({ agent_id }) => agent_id)).toEqual(['root', 'a1'])
    expect(await store.record('policy', 'x')).toMatchObject({ version: 1, value: { a: 1 } })
    expect(await store.signals({ after: 0 })).toHaveLength(1)
    const next = { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq: 6, events: [called('d')] }
    expect(await taken(store, next)).toMatchObject([{ position: 7 }])
    expect(await store.verify('run')).toBeNull()
  })

  it('knows how many agents its runs have', async () => {
    const store = await testStore(await fileOfVersion(1))
    expect(await store.run('run')).toMatchObject({ agents: 2 })
  })

  it('gets a control log', async () => {
    const store = await testStore(await fileOfVersion(1))
    expect(await store.readControl()).toEqual([])
    expect(await store.verifyControl()).toBeNull()
    const appended = await store.appendControl([commanded('a')])
    expect(await store.readControl()).toEqual(appended)
    expect(await store.verifyControl()).toBeNull()
  })

  it('is brought up to date once, by many who open it at the same moment', async () => {
    const file = await fileOfVersion(1)
    const children = [1, 2, 3].map(() => new Child(process.execPath, [child.script, 'open', file]))
    await Promise.all(children.map((other) => other.said(1)))
    for (const other of children) other.tell('go')
    expect(await Promise.all(children.map((other) => other.succeeded()))).toEqual([1, 2, 3].map(() => ['ready', '1']))
    const store = await testStore(file)
    expect(await store.appendControl([commanded('a')])).toMatchObject([{ position: 1 }])
  })
})
