import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Asked, ask, type Reply, speak, stranger } from '../support/raw-http.js'
import { type Served, serving } from '../support/serving.js'
import { type Kept, keptIn, settledPlace } from '../support/window-place.js'

const ends: (() => void | Promise<void>)[] = []
const finished = (work: () => void | Promise<void>) => void ends.push(work)
let server: Served
let run_id: string
let before: Kept
/** A cookie as the browser has it after the page has exchanged the token, and what the page keeps for itself. */
let cookie: string
let key: Record<string, string>

beforeAll(async () => {
  const place = await settledPlace({ finished })
  run_id = place.run_id
  server = await serving(place.cwd, { finished })
  const login = await ask(server.address, {
    ...{ method: 'POST', path: '/api/login', body: JSON.stringify({ token: server.token }) },
    headers: { 'content-type': 'application/json', origin: server.address },
  })
  expect(login.status).toBe(200)
  cookie = String(login.headers['set-cookie']?.[0]).split(';')[0] as string
  key = keyOf(login)
  before = await keptIn(place.cwd)
})
afterAll(async () => {
  for (const work of ends.reverse()) await work()
})

const keyOf = ({ body }: Reply) => ({ 'x-retinue-key': JSON.parse(body).key as string })
const bearer = () => ({ authorization: `Bearer ${server.token}` })
const json = { 'content-type': 'application/json' }
const start = (): Asked => ({
  ...{ method: 'POST', path: '/api/runs', body: JSON.stringify({ task: 'Do harm' }) },
})
const registry = (): Asked => ({
  ...{ method: 'PUT', path: '/api/registry' },
  body: JSON.stringify({ text: '{"version":1,"agents":[]}', expected_version: 1 }),
})
const errorOf = ({ body }: Reply) => (JSON.parse(body) as { error: { code: string } }).error.code

describe('who has no key', () => {
  it.each<[string, () => Record<string, string>]>([
    ['none at all', () => ({})],
    ['an empty one', () => ({ authorization: 'Bearer ' })],
    ['a wrong one', () => ({ authorization: `Bearer ${'A'.repeat(String(server.token).length)}` })],
    ['one that is short of a letter', () => ({ authorization: `Bearer ${server.token?.slice(0, -1)}` })],
    ['one with a letter more', () => ({ authorization: `Bearer ${server.token}A` })],
    ['the right one in another scheme', () => ({ authorization: `Basic ${btoa(`:${server.token}`)}` })],
    ['the key itself as a cookie', () => ({ cookie: `${cookie.split('=')[0]}=${server.token}` })],
    ['a cookie that was made up', () => ({ cookie: `${cookie.split('=')[0]}=${'A'.repeat(43)}` })],
  ])('%s: sees and does nothing', async (_, headers) => {
    for (const asked of [{ path: '/api/me' }, { path: `/api/runs/${run_id}/live` }, start(), registry()]) {
      const sent = { ...json, origin: server.address, ...headers() }
      const reply = await ask(server.address, { ...asked, headers: sent, from: stranger() })
      expect([asked.path, reply.status, errorOf(reply)]).toEqual([asked.path, 401, 'not_known'])
      expect(reply.body).not.toContain(server.cwd)
    }
  })

  it('the twin: with it, or the cookie for it, the same is answered', async () => {
    for (const headers of [bearer(), { cookie }]) {
      expect((await ask(server.address, { path: '/api/me', headers })).status).toBe(200)
      expect((await ask(server.address, { path: `/api/runs/${run_id}/live`, headers })).status).toBe(200)
    }
  })

  it('a key in the address is none', async () => {
    for (const name of ['token', 'key', 'access_token', 'authorization']) {
      expect((await ask(server.address, { path: `/api/me?${name}=${server.token}` })).status).toBe(401)
    }
  })
})

describe('names that lead here and are not ours', () => {
  const port = () => new URL(server.address).port
  it.each<[string, () => string | undefined]>([
    ['a foreign name', () => `foreign.test:${port()}`],
    ['a foreign name without a port', () => 'foreign.test'],
    ['ours as a part of another', () => `127.0.0.1.foreign.test:${port()}`],
    ['ours before a sign', () => `127.0.0.1:${port()}@foreign.test`],
    ['ours with another port', () => '127.0.0.1:1'],
    ['ours without its port', () => '127.0.0.1'],
    ['all addresses', () => `0.0.0.0:${port()}`],
    ['ours as a number', () => `2130706433:${port()}`],
    ['ours with a dot', () => `localhost.:${port()}`],
    ['nothing', () => ''],
    ['none', () => undefined],
  ])('%s as Host: refused before anything else is looked at', async (_, host) => {
    for (const path of ['/', '/index.html', '/api/me', '/api/openapi.json']) {
      const reply = await ask(server.address, { path, headers: { host: host(), ...bearer() } })
      expect([path, reply.status >= 400 && reply.status < 500]).toEqual([path, true])
      expect(reply.body).not.toContain(server.cwd)
      expect(reply.body).not.toContain('<html')
    }
    const reply = await ask(server.address, { ...start(), headers: { ...json, host: host(), ...bearer() } })
    expect(reply.status).toBeGreaterThanOrEqual(400)
  })

  it('several at once, and one that is in the request line, are refused too', async () => {
    const { host } = new URL(server.address)
    const two = `GET /api/me HTTP/1.1\r\nHost: ${host}\r\nHost: foreign.test\r\n${authorization()}\r\n\r\n`
    expect(await speak(server.address, two)).toMatch(/^HTTP\/1\.1 4\d\d /)
    const line = `GET http://foreign.test/api/me HTTP/1.1\r\nHost: foreign.test\r\n${authorization()}\r\n\r\n`
    expect(await speak(server.address, line)).toMatch(/^HTTP\/1\.1 4\d\d /)
  })

  it('the twin: the same with our name', async () => {
    const { host } = new URL(server.address)
    const reply = await speak(server.address, `GET /api/me HTTP/1.1\r\nHost: ${host}\r\n${authorization()}\r\n\r\n`)
    expect(reply).toMatch(/^HTTP\/1\.1 200 /)
    const localhost = `localhost:${port()}`
    expect((await ask(server.address, { path: '/api/me', headers: { host: localhost, ...bearer() } })).status).toBe(200)
  })

  const authorization = () => `Authorization: Bearer ${server.token}`
})

describe('pages of others, in the browser of somebody who has the cookie', () => {
  const origins: [string, () => Record<string, string>][] = [
    ['a foreign origin', () => ({ origin: 'http://foreign.test' })],
    ['a foreign origin that ends as ours', () => ({ origin: `${server.address}.foreign.test` })],
    ['another port of this machine', () => ({ origin: 'http://127.0.0.1:1' })],
    ['ours with another scheme', () => ({ origin: server.address.replace('http:', 'https:') })],
    ['null, as of a sandboxed frame', () => ({ origin: 'null' })],
    ['an empty origin', () => ({ origin: '' })],
    ['no origin, but what the browser says of it', () => ({ 'sec-fetch-site': 'cross-site' })],
    ['a page of a neighbour on this site', () => ({ 'sec-fetch-site': 'same-site' })],
    [
      'our origin, and what the browser says of it',
      () => ({
        ...{ origin: server.address, 'sec-fetch-site': 'cross-site' },
      }),
    ],
  ]

  it.each(origins)('%s: does nothing', async (_, headers) => {
    for (const asked of [start(), registry(), { method: 'DELETE', path: '/api/pins/workspace' }]) {
      const reply = await ask(server.address, { ...asked, headers: { ...json, cookie, ...headers() } })
      expect([asked.path, reply.status]).toEqual([asked.path, 403])
    }
  })

  it.each(origins)('%s: reads nothing', async (_, headers) => {
    for (const path of ['/api/me', '/api/runs', `/api/runs/${run_id}/live`]) {
      const reply = await ask(server.address, { path, headers: { cookie, ...headers() } })
      expect([path, reply.status]).toEqual([path, 403])
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })

  it('nobody is told that they may ask: there is no CORS', async () => {
    const reply = await ask(server.address, {
      ...{ method: 'OPTIONS', path: '/api/runs' },
      headers: {
        origin: 'http://foreign.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    })
    expect(reply.status).toBeGreaterThanOrEqual(400)
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', undefined])(
    'a form of type %s is no request, whoever sends it',
    async (type) => {
      for (const who of [{ cookie }, { cookie, origin: server.address }, bearer()]) {
        const reply = await ask(server.address, { ...start(), headers: { ...who, 'content-type': type } })
        expect(reply.status).toBeGreaterThanOrEqual(400)
        expect(reply.status).toBeLessThan(500)
      }
    },
  )

  it('another server of this machine, which gets to see the cookie and sends what it likes: changes nothing', async () => {
    const browser = { origin: server.address, 'sec-fetch-site': 'same-origin' }
    const value = cookie.split('=')[1] as string
    for (const more of [{}, { 'x-retinue-key': '' }, { 'x-retinue-key': value }, { 'x-retinue-key': 'A'.repeat(43) }]) {
      for (const asked of [start(), registry(), { method: 'DELETE', path: '/api/pins/workspace' }]) {
        const reply = await ask(server.address, { ...asked, headers: { ...json, cookie, ...browser, ...more } })
        expect([asked.path, reply.status, errorOf(reply)]).toEqual([asked.path, 403, 'no_key'])
      }
      const leaving = { method: 'POST', path: '/api/logout', body: '{}' }
      const reply = await ask(server.address, { ...leaving, headers: { ...json, cookie, ...browser, ...more } })
      expect([reply.status, errorOf(reply)]).toEqual([403, 'no_key'])
    }
  })

  it('the twin: our own page may', async () => {
    const headers = { cookie, ...key, origin: server.address, 'sec-fetch-site': 'same-origin' }
    expect((await ask(server.address, { path: '/api/runs', headers })).status).toBe(200)
    const reply = await ask(server.address, {
      ...{ method: 'PUT', path: '/api/registry', headers: { ...headers, ...json } },
      body: JSON.stringify({ text: '{"version":1,"agents":[]}', expected_version: 99 }),
    })
    // Past the door: what is refused now is the version.
    expect([reply.status, errorOf(reply)]).toEqual([409, 'conflict'])
  })
})

describe('requests that are two things at once', () => {
  const head = (method: string, path: string, ...more: string[]) =>
    [`${method} ${path} HTTP/1.1`, `Host: ${new URL(server.address).host}`, ...more, '', ''].join('\r\n')
  const who = () => `Authorization: Bearer ${server.token}`
  const hidden = () => head('DELETE', '/api/pins/workspace', who(), 'Content-Length: 0')

  it.each<[string, () => string]>([
    [
      'a length and chunks',
      () =>
        `${head('POST', '/api/runs', 'Content-Type: application/json', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${hidden()}`,
    ],
    [
      'two lengths',
      () =>
        `${head('POST', '/api/runs', 'Content-Type: application/json', 'Content-Length: 0', `Content-Length: ${hidden().length}`)}${hidden()}`,
    ],
    [
      'chunks by another name',
      () =>
        `${head('POST', '/api/runs', 'Content-Type: application/json', 'Transfer-Encoding: xchunked')}0\r\n\r\n${hidden()}`,
    ],
    ['a length below zero', () => `${head('POST', '/api/runs', 'Content-Length: -1')}${hidden()}`],
    ['a line that ends early', () => `GET /api/me HTTP/1.1\nHost: x\n\n${hidden()}`],
    ['a header on two lines', () => head('GET', '/api/me', 'X-A: b', ` Authorization: Bearer ${server.token}`)],
    ['a space before the colon', () => head('GET', '/api/me', `Authorization : Bearer ${server.token}`)],
  ])('%s: refused, and the connection with it', async (_, bytes) => {
    const heard = await speak(server.address, bytes())
    expect(heard.match(/HTTP\/1\.1 /g) ?? []).toHaveLength(heard === '' ? 0 : 1)
    expect(heard).toMatch(/^$|^HTTP\/1\.1 4\d\d /)
  })

  it('the twin: two honest ones after each other are both answered', async () => {
    const one = head('GET', '/api/me', who())
    expect((await speak(server.address, one + one)).match(/HTTP\/1\.1 200 /g)).toHaveLength(2)
  })

  it('an answer has no headers that a request put there', async () => {
    const put = encodeURIComponent('x\r\nset-cookie: owned=1\r\n\r\n<script>')
    for (const path of [`/${put}`, `/api/${put}`, `/api/runs/${put}`, `/api/agents/${put}`, `/api/runs?q=${put}`]) {
      const reply = await ask(server.address, { path, headers: bearer() })
      expect(reply.headers['set-cookie']).toBeUndefined()
      expect(reply.headers['content-type']).not.toMatch(path.startsWith('/api') ? /html/ : /^$/)
    }
  })
})

describe('what the window gives away', () => {
  it('a cookie that no script and no other site gets', async () => {
    const reply = await ask(server.address, {
      ...{ method: 'POST', path: '/api/login', body: JSON.stringify({ token: server.token }) },
      headers: { ...json, origin: server.address },
    })
    const [set, ...others] = reply.headers['set-cookie'] ?? []
    expect(others).toEqual([])
    const words = String(set)
      .split(';')
      .slice(1)
      .map((word) => word.trim().toLowerCase())
    expect(words).toEqual(expect.arrayContaining(['httponly', 'samesite=strict', 'path=/']))
    expect(set).not.toContain(String(server.token))
    expect(reply.body).not.toContain(String(server.token))
  })

  it('after the logout the cookie is worth nothing', async () => {
    const login = await ask(server.address, {
      ...{ method: 'POST', path: '/api/login', body: JSON.stringify({ token: server.token }) },
      headers: { ...json, origin: server.address },
    })
    const mine = String(login.headers['set-cookie']?.[0]).split(';')[0]
    const me = () => ask(server.address, { path: '/api/me', headers: { cookie: mine } })
    expect((await me()).status).toBe(200)
    const headers = { ...json, cookie: mine, ...keyOf(login), origin: server.address }
    expect((await ask(server.address, { method: 'POST', path: '/api/logout', headers, body: '{}' })).status).toBe(200)
    expect((await me()).status).toBe(401)
  })

  it('headers on every answer that keep the page to itself', async () => {
    for (const path of ['/', '/icon.svg', '/no/such/page', '/api/me', '/api/nothing']) {
      const { headers } = await ask(server.address, { path })
      expect([path, headers]).toEqual([
        path,
        expect.objectContaining({
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'content-security-policy': expect.stringContaining("default-src 'none'"),
        }),
      ])
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('unsafe-inline')
      expect(policy).not.toContain('unsafe-eval')
      expect(policy).not.toContain('*')
    }
  })

  it('answers of the API are kept by nobody', async () => {
    const reply = await ask(server.address, { path: '/api/runs', headers: bearer() })
    expect(reply.headers['cache-control']).toContain('no-store')
  })

  it('nothing of the key in what the server writes, but for the address it prints once', () => {
    expect(server.output().split(String(server.token)).length - 1).toBeLessThanOrEqual(2)
    expect(server.url).toBe(`${server.address}/#token=${server.token}`)
  })
})

it('after all of it, everything is as it was', async () => {
  expect(await keptIn(server.cwd)).toEqual(before)
})
