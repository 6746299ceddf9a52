import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeProject } from '../support/project.js'
import { scripted, served } from './routes-lab.js'

const SCRIPT = 'agents: { root: [{ text: Done. }] }\n'

it('a script that is named from afar is a file of the folder, and nothing is told of what is in others', async () => {
  const outside = makeProject({ 'script.yaml': SCRIPT, 'keys.yaml': 'SECRET_NAME: hunter2\n' })
  const retinue = await scripted(SCRIPT, { files: { '.env': 'SECRET_NAME: hunter2\n', 'bad.yaml': '"SECRET_NAME\n' } })
  const { cwd } = retinue
  symlinkSync(join(outside, 'keys.yaml'), join(cwd, 'link.yaml'))
  symlinkSync(outside, join(cwd, 'away'))
  mkdirSync(join(cwd, 'folder'))
  writeFileSync(join(cwd, 'huge.yaml'), SCRIPT)
  truncateSync(join(cwd, 'huge.yaml'), 100_000_000)
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  const window = await served(retinue)
  const start = (model: string) => window.send('POST', '/runs', { task: 'Work', mode: 'plan', model })
  const refused = (message: string) => ({ status: 400, body: { error: { code: 'model', message } } })

  const elsewhere = [
    '/etc/passwd',
    join(outside, 'script.yaml'),
    '../x.yaml',
    'link.yaml',
    'away/script.yaml',
    '/dev/zero',
    '.',
  ]
  for (const file of elsewhere) {
    const message = `scripted/${file} is no script in the folder: from here only those are played`
    expect(await start(`scripted/${file}`)).toEqual(refused(message))
  }
  for (const file of ['.env', 'bad.yaml', 'none.yaml', 'folder', 'huge.yaml', 'pipe']) {
    const message = `scripted/${file} cannot be played. At the machine itself, --model scripted/${file} says why`
    expect(await start(`scripted/${file}`)).toEqual(refused(message))
  }
  expect(await start('scripted/script.yaml')).toMatchObject({ status: 201 })
})

it('the person at the machine plays scripts from anywhere and is told what is wrong, also of what is no file', async () => {
  const outside = makeProject({ 'script.yaml': SCRIPT, 'keys.yaml': 'SECRET_NAME: 1\n' })
  execFileSync('mkfifo', [join(outside, 'pipe')])
  const retinue = await scripted(SCRIPT)
  const play = (file: string) => retinue.run({ task: 'Work', model: `scripted/${join(outside, file)}` }).result()
  expect(await play('script.yaml')).toMatchObject({ outcome: 'completed' })
  await expect(play('keys.yaml')).rejects.toThrow('SECRET_NAME')
  await expect(play('pipe')).rejects.toThrow(`cannot be read: ${join(outside, 'pipe')} is no ordinary file`)
})
