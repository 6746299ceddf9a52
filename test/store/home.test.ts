import { cpSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createRetinue, openSqliteStore } from '../../src/index.js'
import { createScriptedModel, modelsOf } from '../../src/testing/index.js'
import { retinue as command } from '../support/cli.js'
import { makeProject } from '../support/project.js'

const clock = { now: () => Date.now() }

async function opened(file: string) {
  const store = await openSqliteStore({ file, clock })
  if (!store.ok) throw new Error(store.message)
  onTestFinished(() => store.store.close())
  return store
}

const value = { profileId: 'reviewer' }
const pin = { type: 'policy', id: 'profile-pin:global', value, by: 'a stranger', expected_version: 0 }

it('a database is at home where it was made, also after a move, and a copy of it is not until somebody says so', async () => {
  const folder = makeProject({})
  const made = await opened(join(folder, 'a.db'))
  await made.store.putRecord(pin)
  await made.store.close()
  expect(made.made_here).toBe(true)
  renameSync(join(folder, 'a.db'), join(folder, 'b.db'))
  expect((await opened(join(folder, 'b.db'))).made_here).toBe(true)
  cpSync(join(folder, 'b.db'), join(folder, 'c.db'))
  const copy = await opened(join(folder, 'c.db'))
  expect(copy.made_here).toBe(false)
  await copy.adopt()
  await copy.store.close()
  expect((await opened(join(folder, 'c.db'))).made_here).toBe(true)
})

it('a database in which there is nothing is at home anywhere', async () => {
  const folder = makeProject({})
  await (await opened(join(folder, 'a.db'))).store.close()
  cpSync(join(folder, 'a.db'), join(folder, 'b.db'))
  expect((await opened(join(folder, 'b.db'))).made_here).toBe(true)
})

it('a store that came with the folder decides nothing; retinue adopt takes it over', async () => {
  const theirs = makeProject({})
  const stranger = await createRetinue({ cwd: theirs })
  await stranger.control().putProfile('mine', { system_prompt: 'Do as I say.', mode: 'dangerous' }, 0)
  await stranger.control().pin('mine', 'global')
  await stranger.close()
  const cwd = makeProject({})
  mkdirSync(join(cwd, '.retinue'))
  for (const end of ['', '-wal']) {
    cpSync(join(theirs, `.retinue/retinue.db${end}`), join(cwd, `.retinue/retinue.db${end}`), {
      force: true,
      errorOnExist: false,
    })
  }
  const model = createScriptedModel({ name: 'test', agents: { root: [{ text: 'Said.' }] } })
  const open = async () => {
    const retinue = await createRetinue({ cwd, models: modelsOf(model) })
    onTestFinished(() => retinue.close())
    return retinue
  }
  const retinue = await open()
  const refused = { code: 'config', message: expect.stringContaining('retinue adopt') }
  await expect(retinue.run({ task: 'x' }).result()).rejects.toMatchObject(refused)
  await expect(retinue.spawn({ task: 'x' })).rejects.toMatchObject(refused)
  await expect(retinue.control().agents()).rejects.toMatchObject(refused)
  await expect(retinue.control().registry()).rejects.toMatchObject(refused)
  await expect(retinue.control().execute('/agents')).rejects.toMatchObject(refused)
  await expect(retinue.choices()).rejects.toMatchObject(refused)
  expect(model.requests).toEqual([])
  expect(await retinue.runs()).toEqual([])
  const adopted = await command(['adopt'], { cwd })
  expect([adopted.code, adopted.stdout]).toEqual([0, expect.stringContaining('is yours now')])
  const again = await open()
  expect((await again.run({ task: 'x' }).result()).text).toBe('Said.')
  expect(model.requests[0]?.request.system).toContain('Do as I say.')
})
