import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { OWN_GITIGNORE } from '../../src/index.js'
import { begin, called, taken } from '../../src/store/conformance/fixtures.js'
import { openSqliteStore } from '../../src/store/index.js'
import { EVENTS_OF_AGENT } from '../../src/store/sqlite/events.js'
import { SIGNALS_OF_RUN } from '../../src/store/sqlite/signals.js'
import { clock, openFile, testFolder, testStore } from './sqlite.js'

describe('openSqliteStore', () => {
  it('makes the folder, and hides one that is named .retinue from git', async () => {
    const path = await testFolder()
    await testStore(join(path, 'deep', '.retinue', 'retinue.db'))
    expect(await readFile(join(path, 'deep', '.retinue', '.gitignore'), 'utf8')).toBe(OWN_GITIGNORE)
    await testStore(join(path, 'data', 'retinue.db'))
    expect(await readdir(join(path, 'data'))).not.toContain('.gitignore')
  })

  it('leaves a .gitignore alone that is there already', async () => {
    const path = join(await testFolder(), '.retinue')
    await mkdir(path)
    await writeFile(join(path, '.gitignore'), '*.db\n')
    await testStore(join(path, 'retinue.db'))
    expect(await readFile(join(path, '.gitignore'), 'utf8')).toBe('*.db\n')
  })

  it('reads one stream, and the signals of one run, without looking at the others', async () => {
    const file = join(await testFolder(), 'retinue.db')
    await testStore(file)
    const raw = new Database(file)
    onTestFinished(() => {
      raw.close()
    })
    const plan = raw.prepare(`EXPLAIN QUERY PLAN ${EVENTS_OF_AGENT}`).all(['run', 'a1', 0, 0, -1])
    expect(plan).toMatchObject([{ detail: expect.stringContaining('(run_id=? AND agent_id=? AND seq>?)') }])
    const signals = raw.prepare(`EXPLAIN QUERY PLAN ${SIGNALS_OF_RUN}`).all(['run', 0])
    expect(signals).toMatchObject([{ detail: expect.stringContaining('(run_id=? AND id>?)') }])
  })

  it('refuses a database of a newer version and does not touch it', async () => {
    const file = join(await testFolder(), 'retinue.db')
    await (await openFile(file)).close()
    const raw = new Database(file)
    raw.exec('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)')
    raw.close()
    const before = await readFile(file)
    const opened = await openSqliteStore({ file, clock })
    expect(opened).toMatchObject({ ok: false, code: 'newer_version' })
    expect(opened.ok ? '' : opened.message).toMatch(/schema is version 99, and this one knows 3\. Update Retinue/)
    expect(await readFile(file)).toEqual(before)
  })

  it('refuses the database of another program and does not touch it', async () => {
    const file = join(await testFolder(), 'cookies.sqlite')
    const raw = new Database(file)
    raw.exec('CREATE TABLE cookies (x); PRAGMA user_version = 1')
    raw.close()
    const before = await readFile(file)
    expect(await openSqliteStore({ file, clock })).toMatchObject({
      ok: false,
      code: 'unreadable',
      message: expect.stringContaining('belongs to another program'),
    })
    expect(await readFile(file)).toEqual(before)
  })

  it('says which file cannot be read, and why', async () => {
    const path = await testFolder()
    const file = join(path, 'notes.txt')
    await writeFile(file, 'These are no rows. '.repeat(100))
    expect(await openSqliteStore({ file, clock })).toMatchObject({
      ok: false,
      code: 'unreadable',
      message: expect.stringContaining(`${file} cannot be opened as a database of Retinue: file is not a database`),
    })
    expect(await openSqliteStore({ file: path, clock })).toMatchObject({ ok: false, code: 'unreadable' })
    expect(await openSqliteStore({ file: join(file, 'x.db'), clock })).toMatchObject({ ok: false, code: 'unreadable' })
  })

  it('keeps its journal beside the file, so that readers never wait', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    await begin(store, 'run')
    const raw = new Database(file)
    expect(raw.pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }])
    expect(raw.pragma('user_version')).toEqual([{ user_version: 3 }])
    raw.close()
  })
})

describe('a file that another process has locked', () => {
  it('is waited for without stopping this process', async () => {
    const file = join(await testFolder(), 'retinue.db')
    const store = await testStore(file)
    const raw = new Database(file)
    raw.exec('BEGIN IMMEDIATE')
    let settled = false
    const appended = begin(store, 'run').finally(() => {
      settled = true
    })
    const before = performance.now()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(performance.now() - before).toBeLessThan(4000)
    expect(settled).toBe(false)
    raw.exec('COMMIT')
    raw.close()
    expect(await appended).toHaveLength(2)
  })
})

describe('following a file', () => {
  it('does not wait for a poll to see what this process appends', async () => {
    const store = await testStore(join(await testFolder(), 'retinue.db'))
    await begin(store, 'run')
    const rounds = 200
    const before = performance.now()
    for await (const { seq } of store.follow({ run_id: 'run', after: 1 })) {
      if (seq === rounds) break
      setImmediate(() =>
        taken(store, { run_id: 'run', agent_id: 'root', epoch: 1, expected_seq: seq, events: [called('c')] }),
      )
    }
    // A poll every 50 ms would make it ten seconds.
    expect(performance.now() - before).toBeLessThan(6000)
  })

  it('leaves no timer behind when a follower has left', async () => {
    const store = await testStore(join(await testFolder(), 'retinue.db'))
    await begin(store, 'run')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const events = store.follow({ run_id: 'run', after: 2 })[Symbol.asyncIterator]()
    const waiting = events.next()
    expect(vi.getTimerCount()).toBe(1)
    await events.return?.()
    expect(await waiting).toMatchObject({ done: true })
    expect(vi.getTimerCount()).toBe(0)
    for await (const event of store.follow({ run_id: 'run' })) if (event.position === 2) break
    expect(vi.getTimerCount()).toBe(0)
    const signal = new AbortController()
    const aborted = store.follow({ run_id: 'run', after: 2, signal: signal.signal })[Symbol.asyncIterator]().next()
    expect(vi.getTimerCount()).toBe(1)
    signal.abort()
    await aborted
    expect(vi.getTimerCount()).toBe(0)
  })
})
