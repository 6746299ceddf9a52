import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createModels, type ModelsOptions } from '../../src/models/index.js'
import { type Loopback, type LoopbackStep, startLoopback } from '../support/loopback/index.js'
import { ask, KEY, options } from './lab.js'

let closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(closing.map((close) => close()))
  closing = []
})

async function start(steps: LoopbackStep[] | (() => LoopbackStep)): Promise<Loopback> {
  const server = await startLoopback({ protocol: 'chat', steps })
  closing.push(server.close)
  return server
}

async function open(url: string, more: Partial<ModelsOptions> = {}) {
  const settings = { type: 'openai-compatible' as const, base_url: url, api_key_env: 'LAB_KEY' }
  const choice = await createModels({ env: { LAB_KEY: KEY }, providers: { lab: settings }, ...more }).resolve('lab/m')
  if (!choice.ok) throw new Error(choice.message)
  return choice.model
}

test('a hundred calls at once share what connections they can, and all are answered', async () => {
  const server = await start(() => ({ text: 'hi' }))
  const model = await open(server.url)
  for (const streamed of [false, true]) {
    const calls = Array.from({ length: 100 }, () => model.generate(ask(), options(streamed ? { onDelta() {} } : {})))
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ ok: true })
  }
})

test('calls one after the other use one connection', async () => {
  const ports = new Set<number | undefined>()
  const server = createServer((request, response) => {
    ports.add(request.socket.remotePort)
    request.resume()
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    request.on('end', () => response.end(JSON.stringify({ id: 'x', choices })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => server.closeAllConnections())
  const model = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  for (let n = 0; n < 5; n++) expect(await model.generate(ask(), options())).toMatchObject({ ok: true })
  expect(ports.size).toBe(1)
  server.close()
})

test('streams too, once they have ended', async () => {
  const server = await start(() => ({ text: 'hi' }))
  const model = await open(server.url)
  const used = new Set<string | string[] | undefined>()
  for (let n = 0; n < 5; n++) await model.generate(ask(), options({ onDelta() {} }))
  for (const request of server.requests) used.add(request.headers.connection)
  expect([...used]).toEqual(['keep-alive'])
  expect(server.requests.every((request) => !request.aborted)).toBe(true)
})

test('an answer of megabytes arrives whole, whether anybody listens or not', async () => {
  const text = 'word – '.repeat(200_000)
  const server = await start([{ text }])
  const model = await open(server.url)
  const whole = await model.generate(ask(), options())
  expect(whole.ok && whole.parts).toEqual([{ type: 'text', text }])
})

test('a redirect is not followed: the key would go along', async () => {
  const location = 'https://elsewhere.example/v1'
  const server = await start([{ fault: { kind: 'status', status: 308, headers: { location }, body: '' } }])
  const model = await open(server.url)
  expect(await model.generate(ask(), options())).toMatchObject({
    ok: false,
    code: 'bad_request',
    message: `lab/m (HTTP 308): refused the request: it has moved to ${location}; check the base URL`,
  })
})

test('a page where a stream should be says so', async () => {
  const fault = { kind: 'status', status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' } as const
  const server = await start([{ fault }])
  const model = await open(server.url)
  expect(await model.generate(ask(), options({ onDelta() {} }))).toMatchObject({
    code: 'bad_output',
    message: 'lab/m sent text/html instead of a stream; check the base URL',
  })
})

test.each([
  ['HTTP/1.1 999 Odd\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', 'bad_request', /^lab\/m: .*status/],
  ['SSH-2.0-OpenSSH_9.2\r\n', 'network', /^cannot reach .*Parse Error/],
  ['', 'network', /^cannot reach .*socket hang up/],
])('a server that says %j', async (bytes, code, message) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const model = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  for (const streamed of [false, true]) {
    const answer = await model.generate(ask(), options(streamed ? { onDelta() {} } : {}))
    expect(answer).toMatchObject({ ok: false, code, message: expect.stringMatching(message) })
  }
  server.close()
})

test('a key that cannot be sent is no reason to try again, and is not shown', async () => {
  const server = await start([{ text: 'hi' }])
  const answer = await (await open(server.url, { env: { LAB_KEY: 'sk-very\nsecret' } })).generate(ask(), options())
  expect(answer).toMatchObject({ ok: false, code: 'bad_request' })
  expect(JSON.stringify(answer)).not.toContain('secret')
})

test('what broke off says so', async () => {
  const server = await start([{ text: 'a few words', fault: { kind: 'cut', after_bytes: 30, how: 'rst' } }])
  const model = await open(server.url)
  expect(await model.generate(ask(), options())).toMatchObject({
    code: 'network',
    message: expect.stringMatching(/^the connection to lab\/m broke off in the middle of the answer: aborted/),
  })
})

describe("with the platform's own fetch", () => {
  const fetch = globalThis.fetch
  test.each<[string, LoopbackStep, object]>([
    ['an answer', { text: 'hi' }, { ok: true }],
    ['a status', { fault: { kind: 'status', status: 503 } }, { code: 'overloaded' }],
    [
      'a connection that is closed',
      { text: 'hi', fault: { kind: 'cut', after_bytes: 90, how: 'fin' } },
      { code: 'network' },
    ],
    [
      'a connection that is reset',
      { text: 'hi', fault: { kind: 'cut', after_bytes: 90, how: 'rst' } },
      { code: 'network' },
    ],
  ])('%s', async (_, step, expected) => {
    const server = await start(() => step)
    const model = await open(server.url, { fetch })
    expect(await model.generate(ask(), options())).toMatchObject(expected)
    expect(await model.generate(ask(), options({ onDelta() {} }))).toMatchObject(expected)
  })

  test('nobody there, and an abort', async () => {
    const server = await start([{ fault: { kind: 'stall', after_bytes: 0 } }])
    const model = await open(server.url, { fetch })
    const signal = AbortSignal.timeout(50)
    expect(await model.generate(ask(), options({ signal }))).toMatchObject({ code: 'aborted' })
    await server.close()
    expect(await model.generate(ask(), options())).toMatchObject({ code: 'network' })
  })
})
