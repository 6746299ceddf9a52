import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { hostname, networkInterfaces, userInfo } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RetinueError } from '../../src/index.js'
import { bearer, lab } from './serving-lab.js'

const DIGEST = 'a1'.repeat(32)

async function refused(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const { code, message } = (await work.then(
    () => ({ code: 'none', message: 'it was let' }),
    (error: RetinueError) => error,
  )) as RetinueError
  return { code, message }
}

describe('serving', () => {
  it('gives an address with a token of 256 bits, which is another one each time', async () => {
    const [one, two] = [await lab(), await lab()]
    expect(one.url).toBe(`http://127.0.0.1:${one.port}/#token=${one.token}`)
    expect(one.address).toBe(`http://127.0.0.1:${one.port}`)
    expect([one.local, one.token]).toEqual([true, expect.stringMatching(/^[\w-]{43}$/)])
    expect(two.token).not.toBe(one.token)
    expect((await two.ask({ path: '/api/me', headers: bearer(one.token) })).status).toBe(401)
  })

  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.org', '127.0.0.1.example.org', '0'])(
    'on %s without users is refused',
    async (host) => {
      expect(await refused(lab({ host }))).toEqual({
        code: 'config',
        message:
          `Others could reach ${host}, and nobody is configured who may: name users under server.users in your own ` +
          'configuration (retinue serve --new-token <name> makes a token), or serve on 127.0.0.1.',
      })
    },
  )

  it.each(['', 'a b', 'fe80::1%eth0', '[::1'])('on what is no address is refused: %s', async (host) => {
    expect(await refused(lab({ host }))).toEqual({
      code: 'config',
      message: `"${host}" is no address to listen on: write one as in 127.0.0.1 or ::1.`,
    })
  })

  it('on every address works with users', async () => {
    const { ask, local } = await lab(
      { host: '0.0.0.0', users: { vera: { token_sha256: DIGEST } } },
      { principals: { vera: 'viewer' } },
    )
    expect([local, (await ask({ path: '/api/me' })).status]).toEqual([false, 401])
  })

  it('on every address is reached by each of the machine, and by its name', async () => {
    const { ask, port, address, addresses, url } = await lab(
      { host: '0.0.0.0', users: { vera: { token_sha256: DIGEST } } },
      { principals: { vera: 'viewer' } },
    )
    const others = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map((one) => one.address)
    const names = [...(others.length === 0 ? ['127.0.0.1'] : others), hostname()]
    expect(addresses).toEqual(names.map((name) => `http://${name}:${port}`))
    expect([address, url]).toEqual([addresses[0], `${addresses[0]}/`])
    const status = async (host: string, origin: string) =>
      (await ask({ path: '/api/me', headers: { host, origin } })).status
    for (const name of [...names, 'localhost']) {
      const host = `${name}:${port}`.toLowerCase()
      expect([name, await status(host, `http://${host}`)]).toEqual([name, 401])
    }
    expect(await status(`example.org:${port}`, address)).toBe(421)
    expect(await status(`localhost:${port}`, `http://example.org:${port}`)).toBe(403)
  })

  it('tells every fault of its users at once: roles, tokens that two have, and the name of the person here', async () => {
    const here = userInfo().username
    const users = {
      ada: { token_sha256: DIGEST },
      bea: { token_sha256: 'b2'.repeat(32) },
      cleo: { token_sha256: DIGEST },
      [here]: { token_sha256: 'c3'.repeat(32) },
    }
    const { code, message } = await refused(lab({ users }, { principals: { cleo: 'viewer', [here]: 'admin' } }))
    const noRole = (name: string) =>
      `The user ${name} of the server cannot be let in. ${name} may do nothing here: give them a role (viewer, operator or ` +
      'admin) under principals in your own configuration.'
    expect([code, ...message.split('\n')]).toEqual([
      'config',
      noRole('ada'),
      noRole('bea'),
      'ada and cleo have the same token_sha256, so that nobody could tell who of them it is.',
      `The user ${here} has the name of the person at this machine, who has all rights without a token: choose another name ` +
        'under server.users and principals, for yourself too.',
    ])
  })

  it('refuses users of whom nobody said what they may do, or who have no digest', async () => {
    const users = { vera: { token_sha256: DIGEST } }
    expect(await refused(lab({ users }))).toEqual({
      code: 'config',
      message:
        'The user vera of the server cannot be let in. vera may do nothing here: give them a role (viewer, operator or ' +
        'admin) under principals in your own configuration.',
    })
    expect(
      await refused(lab({ users: { vera: { token_sha256: 'hunter2' } } }, { principals: { vera: 'viewer' } })),
    ).toEqual({
      code: 'config',
      message: 'token_sha256 of the user vera is no SHA-256 digest: 64 of 0-9 and a-f.',
    })
  })

  it('says so where the port is taken, or takes another where it may', async () => {
    const { port } = await lab()
    expect(await refused(lab({ port }))).toEqual({
      code: 'config',
      message: `Port ${port} of 127.0.0.1 is taken: choose another with --port, or --port 0 for any that is free.`,
    })
    const other = await lab({ port, or_free: true })
    expect(other.port).not.toBe(port)
    expect((await other.ask({ path: '/api/me', headers: bearer(other.token) })).status).toBe(200)
  })

  it('says so where the address is none of this machine', async () => {
    const users = { vera: { token_sha256: DIGEST } }
    expect(await refused(lab({ host: '192.0.2.1', users }, { principals: { vera: 'viewer' } }))).toEqual({
      code: 'config',
      message: '192.0.2.1 is no address of this machine: choose another with --host.',
    })
  })

  it('ends streams and idle connections when it is closed, and answers nobody any more', async () => {
    const { address, token, close, port } = await lab()
    const stream = await fetch(`${address}/api/runs/live`, { headers: bearer(token) })
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const read = stream.text()
    const idle = connect(port, '127.0.0.1')
    await once(idle, 'connect')
    const gone = once(idle, 'close')
    expect(await close('the test wants it')).toEqual([])
    await Promise.all([read.catch(() => {}), gone])
    await expect(fetch(address)).rejects.toThrow()
    // The port is free again.
    const next = createServer()
    onTestFinished(() => void next.close())
    await once(next.listen(port, '127.0.0.1'), 'listening')
  })

  it('gives slow clients so long for what they send, and streams as long as they like', async () => {
    const { port, address, token } = await lab({
      times: { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 },
    })
    const stream = await fetch(`${address}/api/runs/live`, { headers: bearer(token) })
    const reader = stream.body?.getReader()
    await reader?.read()
    let ended = false
    const end = reader?.read().then(() => {
      ended = true
    })
    const head = `POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`
    const body = `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
    for (const sent of [`${head}X-Slow: `, body]) {
      const slow = connect(port, '127.0.0.1')
      onTestFinished(() => void slow.destroy())
      slow.write(sent)
      await once(slow, 'data').then(([answer]) => expect(String(answer)).toContain('408 Request Timeout'))
    }
    expect(ended).toBe(false)
    await reader?.cancel()
    await end
  })

  it('does not take headers without end', async () => {
    const { ask } = await lab()
    expect((await ask({ headers: { 'x-long': 'x'.repeat(20_000) } })).status).toBe(431)
  })

  it('survives clients that go away in the middle', async () => {
    const { port, token, ask } = await lab()
    const asked = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/api/runs',
      headers: { ...bearer(token), 'content-type': 'application/json', 'content-length': '100' },
    })
    asked.on('error', () => {})
    asked.write('{"task"')
    await once(asked, 'socket')
    asked.destroy()
    expect((await ask({ path: '/api/me', headers: bearer(token) })).status).toBe(200)
  })
})
