import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ended, lines, retinue, start } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { call, serving } from '../support/serving.js'
import { openTerminal } from '../support/terminal.js'

const SCRIPT = 'agents: {root: [{text: Done.}]}'
/** A model that takes its time. */
const SLOW = 'agents: {root: [{text: Done., delay_ms: 600000}]}'

describe('retinue serve', () => {
  it('says where it is, and that only this machine can reach it; Ctrl-C is how it ends', async () => {
    const cwd = makeProject({})
    const child = start(['serve', '--port', '0'], { cwd })
    onTestFinished(() => void child.kill('SIGKILL'))
    const said: string[] = []
    for await (const line of createInterface(child.stdout)) {
      said.push(line)
      if (line.startsWith('Ctrl-C')) break
    }
    const [, address, token] =
      /^Retinue is at (http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]{43})$/.exec(said[0] ?? '') ?? []
    expect(said.slice(1)).toEqual([
      'Whoever has this address may do everything that you may. The key behind the # is new each time.',
      'Only this machine can reach it.',
      'Ctrl-C ends it. Runs that it works on are left to be resumed.',
    ])
    const me = await fetch(`${address}/api/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(await me.json()).toMatchObject({ folder: cwd, principal: { role: 'admin' } })
    const end = ended(child)
    child.kill('SIGINT')
    expect(await end).toMatchObject({ code: 0, signal: null, stderr: '' })
  })

  it('gives programs one line of JSON, and takes any free port where the usual one is taken', async () => {
    // Whoever has it, it is taken.
    const taken = createServer()
    onTestFinished(() => void taken.close())
    await Promise.race([once(taken.listen(4774, '127.0.0.1'), 'listening'), once(taken, 'error')])
    const child = start(['serve', '--json'], { cwd: makeProject({}) })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = await once(createInterface(child.stdout), 'line')
    const { url, address, token, port, ...rest } = JSON.parse(line)
    expect([url, address, rest]).toEqual([`${address}/#token=${token}`, `http://127.0.0.1:${port}`, {}])
    expect(port).not.toBe(4774)
    const end = ended(child)
    child.kill('SIGTERM')
    expect((await end).code).toBe(0)
  })

  it('refuses a port that is taken and was asked for, and an address that others can reach', async () => {
    const cwd = makeProject({})
    const { address } = await serving(cwd)
    const port = new URL(address).port
    expect(await retinue(['serve', '--port', port], { cwd })).toEqual({
      ...{ code: 52, signal: null, stdout: '' },
      stderr: `retinue: Port ${port} of 127.0.0.1 is taken: choose another with --port, or --port 0 for any that is free.\n`,
    })
    const open = await retinue(['serve', '--host', '0.0.0.0', '--port', '0'], { cwd })
    expect([open.code, open.stderr]).toEqual([52, expect.stringContaining('nobody is configured who may')])
    expect((await retinue(['serve', '--port', '65536'], { cwd })).code).toBe(2)
  })

  it('makes tokens for users, whose digests the configuration has', async () => {
    const cwd = makeProject({})
    const { code, stdout } = await retinue(['serve', '--new-token', 'vera'], { cwd })
    const token = /^ {2}([\w-]{43})$/m.exec(stdout)?.[1] as string
    const config = stdout.slice(stdout.indexOf('principals:'))
    expect([code, config]).toEqual([
      0,
      `principals:\n  vera: operator\nserver:\n  users:\n    vera:\n      token_sha256: ${createHash('sha256').update(token).digest('hex')}\n`,
    ])
    const home = makeProject({ 'retinue/config.yaml': config.replace('operator', 'viewer') })
    const served = await serving(cwd, { env: { XDG_CONFIG_HOME: home } })
    expect(served.token).toBe(null)
    const vera = { address: served.address, token }
    expect(await call(vera, 'GET', '/me')).toMatchObject({
      status: 200,
      body: { principal: { id: 'vera', role: 'viewer' } },
    })
    expect(await call(vera, 'POST', '/runs', { task: 'x' })).toMatchObject({ status: 403 })
    expect((await retinue(['serve', '--new-token', 'a b'], { cwd })).code).toBe(42)
  })

  it('does not serve for users of whom nobody said what they may do', async () => {
    const config = `server: {users: {vera: {token_sha256: ${'a1'.repeat(32)}}}}\n`
    const env = { XDG_CONFIG_HOME: makeProject({ 'retinue/config.yaml': config }) }
    const { code, stderr } = await retinue(['serve', '--port', '0'], { cwd: makeProject({}), env })
    expect([code, stderr]).toEqual([
      52,
      'retinue: The user vera of the server cannot be let in. vera may do nothing here: give them a role (viewer, operator ' +
        'or admin) under principals in your own configuration.\n',
    ])
  })

  it('does not serve a store that was not made here', async () => {
    const theirs = makeProject({ 'script.yaml': SCRIPT })
    expect((await retinue(['x', '--model', 'scripted/script.yaml'], { cwd: theirs })).code).toBe(0)
    const cwd = makeProject({})
    mkdirSync(join(cwd, '.retinue'))
    cpSync(join(theirs, '.retinue/retinue.db'), join(cwd, '.retinue/retinue.db'))
    const refusal = {
      ...{ code: 52, signal: null, stdout: '' },
      stderr: expect.stringMatching(/^retinue: \.retinue\/retinue\.db was not made in this folder: .* retinue adopt\./),
    }
    expect(await retinue(['serve', '--port', '0'], { cwd })).toEqual(refusal)
    expect(await retinue(['agents', 'registry'], { cwd })).toEqual(refusal)
  })

  it('leaves the runs that it works on, and says how to go on with them', async () => {
    const cwd = makeProject({ 'script.yaml': SLOW })
    const served = await serving(cwd)
    const started = await call<{ run_id: string }>(served, 'POST', '/runs', {
      ...{ task: 'Wait', model: 'scripted/script.yaml' },
    })
    expect(started.status).toBe(201)
    const { run_id } = started.body
    const end = once(served.child, 'close')
    served.child.kill('SIGINT')
    expect(await end).toEqual([0, null])
    expect(served.output()).toContain(`Run ${run_id} was left. Go on with: retinue resume ${run_id}\n`)
    const listed = await retinue(['runs', '--json'], { cwd })
    expect(lines(listed.stdout)).toMatchObject([{ run_id, status: 'interrupted' }])
  })

  it('opens the browser that it is told, and does not mind that there is none', async () => {
    const cwd = makeProject({
      'browser.sh':
        '#!/bin/sh\nprintf %s "$*" > "$(dirname "$0")/opened.tmp"\nmv "$(dirname "$0")/opened.tmp" "$(dirname "$0")/opened"\n',
    })
    const browser = join(cwd, 'browser.sh')
    chmodSync(browser, 0o755)
    const { url, child } = await serving(cwd, { args: ['--open'], env: { BROWSER: browser } })
    await expect.poll(() => existsSync(join(cwd, 'opened'))).toBe(true)
    // Everybody on the machine sees what a program is started with: it is a page that only its owner can read.
    const page = readFileSync(join(cwd, 'opened'), 'utf8')
    expect(readFileSync(page, 'utf8')).toContain(`content="0; url=${url}"`)
    expect([page, dirname(page)].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700])
    const ended = once(child, 'close')
    child.kill('SIGINT')
    await ended
    expect(existsSync(dirname(page))).toBe(false)
    const without = await serving(cwd, { args: ['--open'], env: { BROWSER: join(cwd, 'nothing') } })
    expect(await call(without, 'GET', '/me')).toMatchObject({ status: 200 })
  })
})

describe('--web', () => {
  it('has a window on the run as long as it works, and ends with the code of the run', async () => {
    const cwd = makeProject({ 'script.yaml': SCRIPT })
    const { code, stdout, stderr } = await retinue(['Say it', '--web', '--model', 'scripted/script.yaml'], { cwd })
    expect([code, stdout]).toEqual([0, 'Done.\n'])
    const [run] = lines((await retinue(['runs', '--json'], { cwd })).stdout) as { run_id: string }[]
    expect(stderr).toMatch(
      new RegExp(`^The window of this run: http://127\\.0\\.0\\.1:\\d+/runs/${run?.run_id}#token=[\\w-]{43}$`, 'm'),
    )
    expect(stderr).not.toContain('stays open')
  })

  it('keeps the window at a terminal when the run has ended, until Ctrl-C', async () => {
    const cwd = makeProject({ 'script.yaml': SCRIPT })
    const env = { BROWSER: 'true' }
    const terminal = openTerminal(['Say it', '--web', '--model', 'scripted/script.yaml'], cwd, { env, cols: 200 })
    await terminal.shows('The window stays open. Ctrl-C ends it.')
    const [, url = ''] = /The window of this run: (\S+)/.exec(terminal.screen()) ?? []
    const { origin, pathname, hash } = new URL(url)
    const headers = { authorization: `Bearer ${hash.replace('#token=', '')}` }
    const got = await fetch(`${origin}/api${pathname}`, { headers })
    expect(await got.json()).toMatchObject({ run: { status: 'closed', outcome: 'completed' } })
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(0)
  })

  it('shows the run while it works', async () => {
    const cwd = makeProject({ 'script.yaml': SLOW })
    const child = start(['Wait', '--web', '--model', 'scripted/script.yaml'], { cwd })
    onTestFinished(() => void child.kill('SIGKILL'))
    let url: URL | null = null
    for await (const line of createInterface(child.stderr)) {
      const found = /The window of this run: (\S+)/.exec(line)?.[1]
      if (found) url = new URL(found)
      if (url) break
    }
    const { origin, pathname, hash } = url as URL
    const token = hash.replace('#token=', '')
    const got = await fetch(`${origin}/api${pathname}`, { headers: { authorization: `Bearer ${token}` } })
    expect(await got.json()).toMatchObject({ run: { status: 'running', task: 'Wait' } })
    const gone = once(child, 'close')
    child.kill('SIGINT')
    expect(await gone).toEqual([130, null])
  })

  it.each([['-p'], ['--output-format', 'json']])('is refused where nobody watches (%s)', async (...args) => {
    const cwd = makeProject({ 'script.yaml': SCRIPT })
    expect(await retinue(['Say it', '--web', ...args], { cwd })).toEqual({
      ...{ code: 42, signal: null, stdout: '' },
      stderr: 'retinue: --web is for a person who watches: leave it out with --print and --output-format\n',
    })
  })
})
