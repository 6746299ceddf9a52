import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bearer, fault, lab } from './serving-lab.js'

const NOT_OURS = fault(
  'foreign_host',
  'This server does not go by that name. Use the address that it printed; where a proxy stands in front of it, name the ' +
    'origin of the proxy under server.origins in your own configuration.',
)
const CROSS_SITE = fault('cross_site', 'Pages of other sites may not ask anything here.')
const NOBODY = fault(
  'not_known',
  'Nobody knows who asks. Open the address that retinue serve printed, all of it: the key is behind the #.',
)
const NO_TOKEN = fault('not_known', 'That token is none of this server. Each start of retinue serve has a new one.')

const JSON_TYPE = { 'content-type': 'application/json' }

describe('the name by which it is asked', () => {
  it.each(['/', '/icon.svg', '/api/me', '/api/login', '/nothing'])(
    'must be one of its own, for %s too',
    async (path) => {
      const { ask, port, token } = await lab({ origins: ['https://proxy.example'] })
      const foreign = [
        'evil.example',
        `evil.example:${port}`,
        '127.0.0.1',
        'localhost',
        '127.0.0.1:1',
        `127.0.0.1.:${port}`,
      ]
      for (const host of foreign) {
        const { status, json } = await ask({ path, headers: { host, accept: 'text/html', ...bearer(token) } })
        expect([host, status, json]).toEqual([host, 421, NOT_OURS])
      }
      for (const host of [
        `127.0.0.1:${port}`,
        `localhost:${port}`,
        `LOCALHOST:${port}`,
        `[::1]:${port}`,
        'proxy.example',
      ]) {
        expect([host, (await ask({ path, headers: { host, ...bearer(token) } })).status]).not.toEqual([host, 421])
      }
    },
  )
})

describe('pages of other sites', () => {
  it('may ask nothing, by any method and for any path, even with the token', async () => {
    const { ask, token, port } = await lab()
    for (const origin of [
      'https://evil.example',
      'null',
      `http://127.0.0.1:${port + 1}`,
      `https://127.0.0.1:${port}`,
      '',
    ]) {
      for (const [method, path] of [
        ['GET', '/api/me'],
        ['GET', '/'],
        ['POST', '/api/login'],
        ['OPTIONS', '/api/runs'],
      ] as const) {
        const got = await ask({ method, path, headers: { origin, ...bearer(token) } })
        expect([origin, got.status, got.json]).toEqual([origin, 403, CROSS_SITE])
        expect(Object.keys(got.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      }
    }
    expect(
      await ask({ path: '/api/me', headers: { origin: `http://127.0.0.1:${port}`, ...bearer(token) } }),
    ).toMatchObject({ status: 200 })
  })

  it.each(['cross-site', 'same-site'])(
    'may lead to a page of ours by a link and do nothing else (%s)',
    async (site) => {
      const { ask, token } = await lab()
      const link = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
      const asked = async (path: string, headers: Record<string, string>) =>
        (await ask({ path, headers: { accept: 'text/html', ...headers, ...bearer(token) } })).status
      expect(await asked('/runs/x', link)).not.toBe(403)
      expect(await asked('/api/me', link)).toBe(403)
      expect(await asked('/', { ...link, 'sec-fetch-dest': 'iframe' })).toBe(403)
      expect(
        await asked('/icon.svg', { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }),
      ).toBe(403)
    },
  )

  it('learns first that nobody knows who asks, where that is so', async () => {
    const { ask, address, token } = await lab()
    const body = JSON.stringify({ task: 'x' })
    const post = (headers: Record<string, string>) =>
      ask({ method: 'POST', path: '/api/runs', headers: { ...JSON_TYPE, ...headers }, body })
    expect(await post({})).toMatchObject({ status: 401, json: { error: { code: 'not_known' } } })
    const entered = await ask({
      ...{ method: 'POST', path: '/api/login', headers: { ...JSON_TYPE, origin: address } },
      body: JSON.stringify({ token }),
    })
    const cookie = String(entered.headers['set-cookie']).split(';')[0] as string
    expect(await post({ cookie })).toMatchObject({ status: 403, json: { error: { code: 'no_origin' } } })
  })

  it('may not post a form, and nobody posts without saying who asks', async () => {
    const { ask, token, address } = await lab()
    const post = (headers: Record<string, string>, body = JSON.stringify({ token })) =>
      ask({ method: 'POST', path: '/api/login', headers, body })
    expect(await post(JSON_TYPE)).toMatchObject({
      status: 403,
      json: fault(
        'no_origin',
        'It cannot be seen who asks: programs send Authorization: Bearer and the token, browsers their Origin.',
      ),
    })
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data; boundary=x',
      'text/json',
    ]) {
      expect(await post({ origin: address, 'content-type': type })).toMatchObject({
        status: 415,
        json: fault('no_json', 'What is sent must be JSON, with the header content-type: application/json'),
      })
    }
    expect((await post({ origin: address })).status).toBe(415)
    expect((await post({ ...JSON_TYPE, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await post({ ...JSON_TYPE, origin: address })).status).toBe(200)
  })
})

describe('every answer', () => {
  it('says what a page may do, refusals too, with another nonce each time', async () => {
    const { ask, token } = await lab()
    const answers = [
      await ask({ headers: { accept: 'text/html' } }),
      await ask({ path: '/api/me', headers: bearer(token) }),
      await ask({ path: '/api/me' }),
      await ask({ headers: { host: 'evil.example' } }),
      await ask({ path: '/nothing' }),
    ]
    const nonces = answers.map(({ headers }) => {
      const nonce = /'nonce-([\w-]{43})'/.exec(headers['content-security-policy'] as string)?.[1] ?? ''
      expect(headers).toMatchObject({
        'content-security-policy':
          `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self'; font-src 'self'; ` +
          "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; " +
          "require-trusted-types-for 'script'; trusted-types 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-frame-options': 'DENY',
        'permissions-policy': expect.stringContaining('camera=()'),
        'cache-control': 'no-store',
      })
      return nonce
    })
    expect(new Set(nonces).size).toBe(answers.length)
  })
})

describe('who asks', () => {
  it('is nobody without the token, and learns nothing', async () => {
    const { ask, token, address } = await lab()
    for (const path of ['/api/me', '/api/runs', '/api/openapi.json', '/api/nothing', '/api/runs/../me', '/api']) {
      expect([path, await ask({ path })]).toMatchObject([path, { status: 401, json: NOBODY }])
    }
    expect(await ask({ method: 'POST', path: '/api/runs', headers: { origin: address } })).toMatchObject({
      status: 401,
    })
    for (const wrong of ['x', `${token}x`, token?.slice(1) ?? '', token?.toUpperCase() ?? '']) {
      expect(await ask({ path: '/api/me', headers: bearer(wrong) })).toMatchObject({ status: 401, json: NO_TOKEN })
    }
    expect(await ask({ path: `/api/me?token=${token}` })).toMatchObject({ status: 401 })
    expect(await ask({ path: '/api/me', headers: bearer(token) })).toMatchObject({ status: 200 })
  })

  it('gets a cookie for the token that no script can read, until they leave', async () => {
    const { ask, token, address, port } = await lab()
    const post = (path: string, body: unknown, headers = {}) =>
      ask({ method: 'POST', path, headers: { ...JSON_TYPE, origin: address, ...headers }, body: JSON.stringify(body) })
    const entered = await post('/api/login', { token })
    expect(entered).toMatchObject({ status: 200, json: { principal: { role: 'admin' } } })
    const { key } = entered.json as { key: string }
    const [set = ''] = entered.headers['set-cookie'] ?? []
    expect(set.replace(/=[\w-]{43};/, '=…;')).toBe(`retinue_${port}=…; Path=/; HttpOnly; SameSite=Strict`)
    const cookie = set.split(';')[0] as string
    expect(cookie).not.toContain(token)
    expect(await ask({ path: '/api/me', headers: { cookie } })).toMatchObject({ status: 200 })
    expect(await ask({ path: '/api/me', headers: { cookie: `${cookie}x` } })).toMatchObject({ status: 401 })
    // A token that is wrong is not made good by a cookie that is right.
    expect(await ask({ path: '/api/me', headers: { cookie, ...bearer('x') } })).toMatchObject({ status: 401 })
    const no_key = { status: 403, json: { error: { code: 'no_key' } } }
    for (const wrong of [{}, { 'x-retinue-key': `${key}x` }, { 'x-retinue-key': cookie.split('=')[1] as string }]) {
      expect(await post('/api/runs', {}, { cookie, ...wrong })).toMatchObject(no_key)
      expect(await post('/api/logout', {}, { cookie, ...wrong })).toMatchObject(no_key)
    }
    const other = (await post('/api/login', { token })).json as { key: string }
    expect(await post('/api/runs', {}, { cookie, 'x-retinue-key': other.key })).toMatchObject(no_key)
    expect(await post('/api/runs', {}, { cookie, 'x-retinue-key': key })).toMatchObject({ status: 400 })
    expect(await post('/api/logout', {}, { cookie, 'x-retinue-key': key })).toMatchObject({ status: 200, json: {} })
    expect(await ask({ path: '/api/me', headers: { cookie } })).toMatchObject({ status: 401 })
  })

  it('is forgotten after twelve hours in which nothing was asked, and not before', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask, token, address } = await lab()
    const entered = await ask({
      ...{ method: 'POST', path: '/api/login', headers: { ...JSON_TYPE, origin: address } },
      body: JSON.stringify({ token }),
    })
    const cookie = entered.headers['set-cookie']?.[0]?.split(';')[0] as string
    const hours = async (n: number) => {
      vi.setSystemTime(Date.now() + n * 3_600_000)
      return (await ask({ path: '/api/me', headers: { cookie } })).status
    }
    expect([await hours(11), await hours(11), await hours(12.1), await hours(0)]).toEqual([200, 200, 401, 401])
  })

  it('is asked for the cookie over encrypted connections alone where a proxy has https', async () => {
    const { ask, token } = await lab({ origins: ['https://proxy.example'] })
    const entered = await ask({
      ...{ method: 'POST', path: '/api/login', body: JSON.stringify({ token }) },
      headers: { ...JSON_TYPE, host: 'proxy.example', origin: 'https://proxy.example' },
    })
    expect(entered.headers['set-cookie']?.[0]).toContain('; Secure')
  })

  it('is a user of the configuration, with the role they have there and no more', async () => {
    const digest = (token: string) => ({ token_sha256: createHash('sha256').update(token).digest('hex') })
    const users = { vera: digest('v-token'), olga: digest('o-token') }
    const { ask, token, url, address } = await lab({ users }, { principals: { vera: 'viewer', olga: 'operator' } })
    expect([token, url]).toEqual([null, `${address}/`])
    const me = async (token: string) => (await ask({ path: '/api/me', headers: bearer(token) })).json
    expect(await me('v-token')).toMatchObject({ principal: { id: 'vera', role: 'viewer' } })
    expect(await me('o-token')).toMatchObject({ principal: { id: 'olga', role: 'operator' } })
    expect(await me(users.vera.token_sha256)).toEqual(NO_TOKEN)
    const start = (token: string) =>
      ask({ method: 'POST', path: '/api/runs', headers: { ...JSON_TYPE, ...bearer(token) }, body: '{"task":""}' })
    expect(await start('v-token')).toMatchObject({
      status: 403,
      json: fault('denied', 'Denied: this needs the role operator or more, and vera is viewer.'),
    })
    expect(await start('o-token')).toMatchObject({ status: 400 })
  })
})

describe('what is sent', () => {
  const big = 'x'.repeat(1024 * 1024)

  it('is refused with every fault and where it is', async () => {
    const { ask, token } = await lab()
    const post = (body: string) =>
      ask({ method: 'POST', path: '/api/runs', headers: { ...JSON_TYPE, ...bearer(token) }, body })
    expect(await post('{"task": 1, "budget": {"turns": -1}}')).toMatchObject({
      status: 400,
      json: { error: { code: 'input', faults: [{ path: 'task' }, { path: 'budget.turns' }] } },
    })
    expect(await post('{task}')).toMatchObject({ status: 400, json: fault('input', 'The body is no JSON') })
    expect(await post('')).toMatchObject({ status: 400, json: fault('input', 'A body is missing: it must be JSON') })
    expect(await ask({ path: '/api/runs?limit=x', headers: bearer(token) })).toMatchObject({
      status: 400,
      json: { error: { code: 'input', faults: [{ path: 'limit' }] } },
    })
  })

  it('is read as far as it may be long, whatever its length was said to be', async () => {
    const { ask, token, port } = await lab()
    const headers = { ...JSON_TYPE, ...bearer(token) }
    const refusal = { status: 413, json: fault('too_large', 'What is sent must be at most 1048576 bytes') }
    const task = `{"task": "${big}"}`
    expect(await ask({ method: 'POST', path: '/api/runs', headers, body: task })).toMatchObject(refusal)
    // In chunks, without a length.
    const status = await new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, method: 'POST', path: '/api/runs', headers, agent: false })
      asked.on('response', (response) => resolve(response.statusCode)).on('error', reject)
      asked.write('{"task": "')
      const more = () => asked.writable && asked.write(big.slice(0, 65_536)) && setImmediate(more)
      asked.on('drain', more)
      more()
      onTestFinished(() => void asked.destroy())
    })
    expect(status).toBe(413)
    expect(await ask({ path: '/api/me', headers })).toMatchObject({ status: 200 })
  })
})

describe('how much is asked', () => {
  it('may be a page of fifty requests at once', async () => {
    const { address } = await lab()
    const page = await Promise.all(Array.from({ length: 50 }, () => fetch(`${address}/nothing.txt`)))
    expect(new Set(page.map(({ status }) => status))).toEqual(new Set([404]))
  })

  it('ends sooner with tokens that are none, by header or by login; whoever has one goes on', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask, token, address } = await lab()
    const login = (token: string | null) =>
      ask({
        ...{ method: 'POST', path: '/api/login', headers: { ...JSON_TYPE, origin: address } },
        body: JSON.stringify({ token }),
      })
    const cookie = (await login(token)).headers['set-cookie']?.[0]?.split(';')[0] as string
    for (let i = 0; i < 5; i++) {
      expect((await ask({ path: '/api/me', headers: bearer(`wrong${i}`) })).status).toBe(401)
      expect((await login(`wrong${i}`)).status).toBe(401)
    }
    const wait = { status: 429, headers: { 'retry-after': '6' } }
    expect(await login('wrong')).toMatchObject({
      ...wait,
      json: fault('too_many', 'Too many tokens that are none. Try again in 6 seconds.'),
    })
    expect(await ask({ path: '/api/me', headers: bearer('wrong') })).toMatchObject(wait)
    expect(await ask({ path: '/api/me', headers: bearer(token) })).toMatchObject({ status: 200 })
    expect(await ask({ path: '/api/me', headers: { cookie } })).toMatchObject({ status: 200 })
    vi.setSystemTime(Date.now() + 6000)
    expect(await ask({ path: '/api/me', headers: bearer('wrong') })).toMatchObject({ status: 401 })
  })
})
