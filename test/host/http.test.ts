import { once } from 'node:events'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createHttp } from '../../src/host/http.js'
import { isSamePlace, readTarget } from '../../src/host/http-url.js'
import type { HttpRequest } from '../../src/host/index.js'
import { loopback } from './loopback.js'

const http = createHttp()
let server: Awaited<ReturnType<typeof loopback>>
let here: string

const plain = 'Grüße. '.repeat(1000)
const PACKED: Record<string, Buffer> = {
  gzip: gzipSync(plain),
  'x-gzip': gzipSync(plain),
  br: brotliCompressSync(plain),
  deflate: deflateSync(plain),
  identity: Buffer.from(plain),
}

beforeAll(async () => {
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024))
  server = await loopback((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const [, what = '', rest = ''] = /^\/(\w+)\/?(.*)$/.exec(pathname) ?? []
    if (what === 'packed') response.writeHead(200, { 'content-encoding': rest }).end(PACKED[rest])
    else if (what === 'raw') response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateRawSync(plain))
    else if (what === 'empty') response.writeHead(200, { 'content-encoding': rest }).end()
    else if (what === 'twice') response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(bomb))
    else if (what === 'bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    else if (what === 'broken')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(PACKED.gzip?.subarray(0, 40))
    else if (what === 'liar') response.writeHead(200, { 'content-encoding': 'gzip' }).end('not packed at all')
    else if (what === 'loop') response.writeHead(302, { location: '/loop' }).end()
    else if (what === 'same' && !pathname.endsWith('/'))
      response.writeHead(Number(searchParams.get('status')), { location: '/same/?x' }).end()
    else if (what === 'go') response.writeHead(Number(rest), { location: searchParams.get('to') ?? '' }).end('moved')
    else if (what === 'big') response.end(Buffer.alloc(Number(rest), 'a'))
    else if (what === 'endless') endless(response)
    else if (what === 'never') return
    else if (what === 'headers') response.writeHead(200, { 'x-large': 'a'.repeat(100_000) }).end()
    else {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        response.setHeader('set-cookie', 'session=1')
        response.writeHead(rest === '' ? 200 : Number(rest))
        response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString('utf8')}`.trim())
      })
    }
  })
  here = `http://127.0.0.1:${server.port}`
})
afterAll(() => server.close())
beforeEach(() => void server.requests.splice(0))

function endless(response: import('node:http').ServerResponse): void {
  const more = () => {
    while (response.write(Buffer.alloc(64 * 1024, 'a'))) {}
  }
  response.on('drain', more)
  more()
}

async function get(path: string, more: Partial<HttpRequest> = {}) {
  const request = { url: path.startsWith('http') ? path : `${here}${path}`, timeout_ms: 20_000, max_bytes: 1_000_000 }
  const answer = await http.fetch({ ...request, allow_private: ['127.0.0.1'], ...more })
  return answer.ok ? { ...answer, body: Buffer.from(answer.body).toString('utf8') } : answer
}

describe('http', () => {
  it('gives status, headers and body, whatever the status', async () => {
    expect(await get('/echo?a=1#part')).toMatchObject({
      ok: true,
      url: `${here}/echo?a=1`,
      status: 200,
      body: 'GET /echo?a=1',
      truncated: false,
    })
    expect(await get('/echo/404')).toMatchObject({ ok: true, status: 404, body: 'GET /echo/404' })
    expect(await get('/echo', { method: 'POST', body: 'grüße' })).toMatchObject({ body: 'POST /echo grüße' })
  })

  it('says who it is, sends what it is told to and nothing else, and keeps no cookies', async () => {
    await get('/echo', { headers: { 'x-key': '1', host: 'elsewhere.test' } })
    await get('/echo')
    const host = `127.0.0.1:${server.port}`
    const usual = {
      'user-agent': 'Mozilla/5.0 (compatible; Retinue)',
      'accept-encoding': 'gzip, deflate, br',
      host,
      connection: 'close',
    }
    expect(server.requests.map(({ headers }) => headers)).toEqual([{ ...usual, 'x-key': '1' }, usual])
  })

  it('unpacks what is packed', async () => {
    for (const name of Object.keys(PACKED))
      expect(await get(`/packed/${name}`)).toMatchObject({ ok: true, body: plain })
    expect(await get('/raw')).toMatchObject({ ok: true, body: plain })
    for (const name of ['gzip', 'br', 'deflate'])
      expect(await get(`/empty/${name}`)).toMatchObject({ ok: true, body: '' })
  })

  it('refuses what is packed wrongly, twice or in a way it does not know', async () => {
    for (const path of ['/broken', '/liar', '/twice', '/empty/zstd']) {
      expect([path, await get(path)]).toEqual([path, { ok: false, code: 'network', message: expect.any(String) }])
    }
  })

  it('cuts a body at max_bytes, unpacked, without holding more', async () => {
    expect(await get('/big/1000', { max_bytes: 1000 })).toMatchObject({ ok: true, truncated: false })
    const cut = await get('/big/1001', { max_bytes: 1000 })
    expect(cut).toMatchObject({ ok: true, truncated: true, body: 'a'.repeat(1000) })
    expect(await get('/endless', { max_bytes: 100_000 })).toMatchObject({ truncated: true, body: 'a'.repeat(100_000) })
    const before = process.memoryUsage().arrayBuffers
    expect(await get('/bomb', { max_bytes: 100_000 })).toMatchObject({ truncated: true, body: '\0'.repeat(100_000) })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 * 1024)
  })

  it('refuses headers that are too large', async () => {
    expect(await get('/headers')).toMatchObject({ ok: false, code: 'too_large' })
  })

  it('ends at the deadline, and when it is stopped', async () => {
    expect(await get('/never', { timeout_ms: 200 })).toEqual({
      ok: false,
      code: 'timeout',
      message: '127.0.0.1 did not answer within 200 ms',
    })
    expect(await get('/endless', { timeout_ms: 200, max_bytes: 1e12 })).toMatchObject({ ok: false, code: 'timeout' })
    const stop = new AbortController()
    const answer = get('/never', { signal: stop.signal })
    while (server.requests.length < 3) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    expect(await answer).toMatchObject({ ok: false, code: 'aborted' })
    expect(await get('/echo', { signal: stop.signal })).toMatchObject({ ok: false, code: 'aborted' })
    expect(server.requests.length).toBe(3)
  })

  it('is not kept by a name server that never answers', async () => {
    const deaf = createHttp({ resolve: () => new Promise(() => {}) })
    const url = 'http://slow.test/'
    expect(await deaf.fetch({ url, timeout_ms: 100, max_bytes: 1 })).toMatchObject({ ok: false, code: 'timeout' })
    const none = createHttp({ resolve: () => Promise.reject(new Error('no')) })
    expect(await none.fetch({ url, timeout_ms: 20_000, max_bytes: 1 })).toEqual({
      ok: false,
      code: 'network',
      message: 'there is no address for the name slow.test',
    })
  })

  it('survives servers that speak something else, hang up or drip', async () => {
    const sockets: Socket[] = []
    const answers = ['SSH-2.0-OpenSSH_9\r\n', '', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n']
    const cut = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'
    const strange = createTcpServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => {})
      const answer = [...answers, cut][sockets.length - 1]
      socket.once('data', () => {
        if (answer !== undefined) socket.end(answer)
        else drip(socket)
      })
    }).listen(0, '127.0.0.1')
    await once(strange, 'listening')
    const { port } = strange.address() as import('node:net').AddressInfo
    const url = `http://127.0.0.1:${port}/`
    for (const _ of [...answers, cut]) expect(await get(url)).toMatchObject({ ok: false, code: 'network' })
    expect(await get(url, { timeout_ms: 300 })).toMatchObject({ ok: false, code: 'timeout' })
    expect(sockets.length).toBe(5)
    await new Promise((resolve) => strange.close(resolve))
    expect(await get(url)).toEqual({
      ok: false,
      code: 'network',
      message: '127.0.0.1 refuses connections there',
    })
  })

  it('does not take a server without TLS for one with it', async () => {
    expect(await get(here.replace('http:', 'https:'))).toMatchObject({ ok: false, code: 'network' })
  })

  it('follows redirects to the same host and path, five of them', async () => {
    const twice = await get('/go/301?to=/go/301%3Fto=/echo')
    expect(twice).toMatchObject({ status: 301, url: `${here}/go/301?to=/echo` })
    expect(await get('/same?status=302')).toMatchObject({ status: 200, url: `${here}/same/?x` })
    expect(await get('/loop')).toEqual({
      ok: false,
      code: 'too_many_redirects',
      message: '127.0.0.1 redirects more than 5 times',
    })
    expect(server.requests.length).toBe(2 + 2 + 6)
  })

  it('repeats a body only where the redirect says so', async () => {
    const post = { method: 'POST', body: 'x' } as const
    expect(await get('/same?status=307', post)).toMatchObject({ body: 'POST /same/?x x' })
    for (const status of [301, 302, 303]) {
      expect(await get(`/same?status=${status}`, post)).toMatchObject({ body: 'GET /same/?x' })
    }
  })

  it('gives a redirect to another host, port, scheme or path back as it is', async () => {
    const elsewhere = [
      '/echo',
      '/go',
      '/go/302/more',
      '/Go/302',
      '/go/302//',
      'http://example.org/',
      '//example.org/',
      'http://127.0.0.1:1/',
      'https://127.0.0.1/',
      'ftp://x/',
      'http://',
    ]
    for (const to of elsewhere) {
      const answer = await get(`/go/302?to=${encodeURIComponent(to)}`, { allow_private: ['127.0.0.1', 'example.org'] })
      expect([to, answer]).toEqual([to, expect.objectContaining({ ok: true, status: 302, body: 'moved' })])
      expect(answer.ok && answer.headers.location).toBe(to)
    }
    expect(server.requests.length).toBe(elsewhere.length)
  })

  it('takes https for the same place as http, and not the other way', () => {
    const same = (from: string, to: string) => {
      const [a, b] = [readTarget(from), readTarget(to)]
      return a.ok && b.ok && isSamePlace(a.target, b.target)
    }
    expect(same('http://a.org/x', 'https://a.org/x/')).toBe(true)
    expect(same('http://a.org', 'https://A.org./?q')).toBe(true)
    expect(same('https://a.org/x', 'http://a.org/x')).toBe(false)
    expect(same('http://a.org/x', 'https://a.org/y')).toBe(false)
    expect(same('http://a.org/x', 'https://a.org:444/x')).toBe(false)
  })

  it('never rejects, whatever it is given', async () => {
    expect(await get('/echo', { headers: { 'x-key': 'a\nb' } })).toEqual({
      ok: false,
      code: 'network',
      message: 'the request could not be made: Invalid character in header content ["x-key"]',
    })
  })
})

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n')
  const timer = setInterval(() => socket.write('x-a: b\r\n'), 20)
  socket.once('close', () => clearInterval(timer))
}
