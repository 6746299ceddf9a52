import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, stranger } from '../support/raw-http.js'
import { type Served, serving } from '../support/serving.js'
import { keptIn, settledPlace } from '../support/window-place.js'

const ends: (() => void | Promise<void>)[] = []
const finished = (work: () => void | Promise<void>) => void ends.push(work)
let server: Served
let run_id: string

beforeAll(async () => {
  const place = await settledPlace({ finished })
  run_id = place.run_id
  server = await serving(place.cwd, { finished })
})
afterAll(async () => {
  for (const work of ends.reverse()) await work()
})

const json = { 'content-type': 'application/json' }
const bearer = () => ({ authorization: `Bearer ${server.token}` })
const me = async (from?: string) => (await ask(server.address, { path: '/api/me', headers: bearer(), from })).status

/** Sends the head of a request and the beginning of its body, and then nothing: resolves with the first line of the answer. */
function opened(head: string[], body = ''): { socket: Socket; answer: Promise<string> } {
  const { hostname, port, host } = new URL(server.address)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write([...head.slice(0, 1), `Host: ${host}`, ...head.slice(1), '', body].join('\r\n'))
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(String(chunk).split('\r\n')[0] as string))
    socket.once('close', () => resolve('closed'))
  })
  return { socket, answer }
}

describe('bodies that are too large', () => {
  it('are refused by the length they announce, before they are sent', async () => {
    for (const length of [10_000_000, Number.MAX_SAFE_INTEGER]) {
      const head = [
        'POST /api/runs HTTP/1.1',
        `Authorization: Bearer ${server.token}`,
        'Content-Type: application/json',
      ]
      const { socket, answer } = opened([...head, `Content-Length: ${length}`])
      expect(await answer).toBe('HTTP/1.1 413 Payload Too Large')
      socket.destroy()
    }
  })

  it('are refused when they have grown too large, where nothing is announced', async () => {
    const part = Buffer.alloc(64 * 1024, 'x')
    const asked = ask(server.address, {
      ...{ method: 'POST', path: '/api/runs', headers: { ...json, ...bearer() } },
      body: [Buffer.from('{"task":"'), ...Array.from({ length: 160 }, () => part), Buffer.from('"}')],
    })
    // It may hang up on the rest of it before its answer is read.
    expect(await asked.then(({ status }) => status).catch((error: NodeJS.ErrnoException) => error.code)).toSatisfy(
      (end) => [413, 'ECONNRESET', 'EPIPE'].includes(end),
    )
  })

  it('the login, which anybody may ask, takes little', async () => {
    const body = JSON.stringify({ token: 'x'.repeat(2_000_000) })
    const headers = { ...json, origin: server.address }
    const reply = ask(server.address, { method: 'POST', path: '/api/login', headers, body })
    expect(await reply.then(({ status }) => status).catch(() => 413)).toBe(413)
  })

  it('the twin: a body of usual size is taken, and all of the above came to nothing', async () => {
    expect((await keptIn(server.cwd)).runs).toHaveLength(1)
    const body = JSON.stringify({ task: 'x'.repeat(50_000) })
    const reply = await ask(server.address, {
      method: 'POST',
      path: '/api/runs',
      headers: { ...json, ...bearer() },
      body,
    })
    expect(reply.status).toBe(201)
  })
})

it('those who begin a request and never end it keep nobody else waiting', async () => {
  const head = ['POST /api/runs HTTP/1.1', `Authorization: Bearer ${server.token}`, 'Content-Type: application/json']
  const slow = Array.from({ length: 200 }, () => opened([...head, 'Content-Length: 100'], '{"task":"'))
  const mute = Array.from({ length: 200 }, () => opened(['GET /api/me HTTP/1.1']))
  expect(await Promise.all(Array.from({ length: 10 }, () => me()))).toEqual(Array.from({ length: 10 }, () => 200))
  for (const { socket } of [...slow, ...mute]) socket.destroy()
})

it('a thousand who only listen leave room for others, and all of it when they go', async () => {
  const head = [`GET /api/runs/${run_id}/live HTTP/1.1`, `Authorization: Bearer ${server.token}`]
  const idle = (path: string) => opened([path, ...head.slice(1)])
  const listeners = Array.from({ length: 1000 }, (_, i) =>
    idle(i % 2 === 0 ? 'GET /api/runs/live HTTP/1.1' : (head[0] as string)),
  )
  const answers = await Promise.all(listeners.map(({ answer }) => answer))
  const counted = new Map<string, number>()
  for (const answer of answers) counted.set(answer, (counted.get(answer) ?? 0) + 1)
  expect([...counted.keys()].sort()).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 503 Service Unavailable'])
  const from = stranger()
  expect(await Promise.all(Array.from({ length: 20 }, () => me(from)))).toEqual(Array.from({ length: 20 }, () => 200))

  const closed = listeners.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve).destroy()))
  await Promise.all(closed)
  // The server hears of it a little later than we do.
  await expect
    .poll(async () => {
      const { socket, answer } = idle(head[0] as string)
      const first = await answer
      socket.destroy()
      return first
    })
    .toBe('HTTP/1.1 200 OK')
})

it('who tries keys is made to wait, at the login and elsewhere; who has one is not', async () => {
  const wrong = (i: number) => `${'B'.repeat(40)}${i}`
  const login = (i: number) =>
    ask(server.address, {
      ...{ method: 'POST', path: '/api/login', headers: { ...json, origin: server.address } },
      body: JSON.stringify({ token: wrong(i) }),
    })
  const first = await login(0)
  expect(first.status).toBe(401)
  const rest = await Promise.all(Array.from({ length: 200 }, (_, i) => login(i)))
  const late = rest.filter(({ status }) => status === 429)
  expect(late.length).toBeGreaterThan(100)
  expect(Number(late[0]?.headers['retry-after'])).toBeGreaterThan(0)
  expect(new Set(rest.map(({ status }) => status))).toEqual(new Set([401, 429]))
  expect(await me()).toBe(200)
})
