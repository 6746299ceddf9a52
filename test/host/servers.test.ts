import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHost, type Server } from '../../src/host/index.js'
import { isAlive } from '../support/processes.js'

const host = createHost()

async function start(script: string, env: Record<string, string> = {}): Promise<Server & { lines: () => string[] }> {
  const started = await host.servers.start({ command: [process.execPath, '-e', script], cwd: tmpdir(), env })
  if (!started.ok) throw new Error(started.message)
  const { server } = started
  onTestFinished(() => server.stop())
  let text = ''
  server.onStdout((chunk) => {
    text += Buffer.from(chunk).toString('latin1')
  })
  return { ...server, lines: () => text.split('\n').slice(0, -1) }
}

const said = (server: { lines: () => string[] }) => expect.poll(server.lines, { timeout: 100_000 })

describe('a server', () => {
  it('is talked to for as long as it is wanted', async () => {
    const server = await start(`process.stdin.on('data', (d) => process.stdout.write('heard ' + d))`)
    expect(await server.write('one\n')).toBe(true)
    await said(server).toEqual(['heard one'])
    expect(await server.write('two\n')).toBe(true)
    await said(server).toEqual(['heard one', 'heard two'])
    await server.stop()
    expect(await server.write('three\n')).toBe(false)
    expect((await server.ended).signal ?? 'by itself').toMatch(/SIGTERM|by itself/)
  })

  it('has an environment without keys', async () => {
    process.env.SOME_API_KEY = 'secret'
    const server = await start(`console.log(process.env.SOME_API_KEY, process.env.GIVEN)`, { GIVEN: 'yes' })
    await said(server).toEqual(['undefined yes'])
  })

  it('says how it ended, after the last of what it wrote', async () => {
    const server = await start(
      `process.stdout.write('x'.repeat(3e6) + '\\n', () => process.exit(4)); console.error('bye')`,
    )
    expect(await server.ended).toEqual({ code: 4, signal: null })
    expect(server.lines()[0]).toHaveLength(3e6)
    expect(server.stderr()).toBe('bye\n')
  })

  it('may say as much as it likes on stderr', async () => {
    const server = await start(`for (let i = 0; i < 1e5; i++) console.error('line ' + i); setInterval(() => {}, 1000)`)
    await expect.poll(() => server.stderr(), { timeout: 100_000 }).toContain('line 99999\n')
    expect(server.stderr().length).toBeLessThan(17_000)
  })

  it('that does not read makes the writer wait, and no longer than it lives', async () => {
    const server = await start(`console.log('up'); setInterval(() => {}, 1000)`)
    await said(server).toEqual(['up'])
    let isTaken: boolean | null = null
    const written = server.write('x'.repeat(8e6)).then((taken) => {
      isTaken = taken
    })
    await server.stop()
    await written
    expect(isTaken).toBe(false)
  })

  it('that ignores SIGTERM is killed, with what it started', async () => {
    const server = await start(`
      process.on('SIGTERM', () => console.log('no'))
      const child = require('node:child_process').spawn('sleep', ['1000'])
      console.log(process.pid); console.log(child.pid); setInterval(() => {}, 1000)`)
    await said(server).toHaveLength(2)
    const pids = server.lines().map(Number)
    expect(pids.map(isAlive)).toEqual([true, true])
    await server.stop()
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(await server.ended).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('takes what it started with it when it ends by itself', async () => {
    const server = await start(`
      const child = require('node:child_process').spawn('sleep', ['1000'], { stdio: 'ignore' })
      process.stdout.write(child.pid + '\\n', () => process.exit(0))`)
    await server.ended
    expect(server.lines().map(Number).map(isAlive)).toEqual([false])
  })

  it('that is no program is said', async () => {
    expect(await host.servers.start({ command: ['no-such-program'], cwd: tmpdir() })).toEqual({
      ok: false,
      message: '"no-such-program" is not a program on this machine',
    })
    expect(await host.servers.start({ command: ['true'], cwd: '/no/such/folder' })).toEqual({
      ok: false,
      message: '/no/such/folder is not a folder to run a server in',
    })
  })

  it('does not outlive this process, not even when that is killed', async () => {
    const run = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))
    const owner = fileURLToPath(new URL('./server-owner.ts', import.meta.url))
    const child = spawn(process.execPath, [run, owner], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const pid = await new Promise<number>((resolve) => child.stdout.once('data', (data) => resolve(Number(data))))
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => isAlive(pid), { timeout: 100_000 }).toBe(false)
  })
})

describe('a private file', () => {
  it('is written whole, with its folders, for nobody else', async () => {
    const top = await mkdtemp(join(tmpdir(), 'retinue-private-'))
    onTestFinished(() => rm(top, { recursive: true, force: true }))
    const path = join(top, 'a/b/file.json')
    expect(await host.writePrivate(path, 'one')).toEqual({ ok: true })
    expect(await host.writePrivate(path, 'two')).toEqual({ ok: true })
    expect(await readFile(path, 'utf8')).toBe('two')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(top, 'a'))).mode & 0o777).toBe(0o700)
  })

  it('that cannot be written is said, and nothing is left behind', async () => {
    const top = await mkdtemp(join(tmpdir(), 'retinue-private-'))
    onTestFinished(() => rm(top, { recursive: true, force: true }))
    await mkdir(join(top, 'taken'))
    await writeFile(join(top, 'taken/x'), '')
    const result = await host.writePrivate(join(top, 'taken'), 'text')
    expect(result).toMatchObject({ ok: false, message: expect.stringContaining('taken cannot be written') })
    expect(await readdir(top)).toEqual(['taken'])
  })
})
