import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { begin } from '../../src/store/conformance/fixtures.js'
import { openSqliteStore } from '../../src/store/index.js'
import { clock, openFile, testFolder, testStore } from './sqlite.js'

describe('openSqliteStore', () => {
  it('makes the folder, and hides one that is named .retinue from git', async () => {
    const path = await testFolder()
    await testStore(join(path, 'deep', '.retinue', 'retinue.db'))
    expect(await readFile(join(path, 'deep', '.retinue', '.gitignore'), 'utf8')).toBe('*\n')
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

  it('refuses a database of a newer version and does not touch it', async () => {
    const file = join(await testFolder(), 'retinue.db')
    await (await openFile(file)).close()
    const raw = new Database(file)
    raw.exec('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)')
    raw.close()
    const before = await readFile(file)
    const opened = await openSqliteStore({ file, clock })
    expect(opened).toMatchObject({ ok: false, code: 'newer_version' })
    expect(opened.ok ? '' : opened.message).toMatch(/schema is version 99, and this one knows 1\. Update Retinue/)
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
    expect(raw.pragma('user_version')).toEqual([{ user_version: 1 }])
    raw.close()
  })
})
