import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CorruptLogError, ERROR_CODES, type PrincipalRole, RetinueError } from '../../src/index.js'
import { createApp } from '../../src/server/app.js'
import { Limits } from '../../src/server/guards/limits.js'
import { digestOf, Logins } from '../../src/server/guards/login.js'
import { ownNames } from '../../src/server/names.js'
import { type Asked, type Route, route, type ServerContext } from '../../src/server/route.js'
import { shape } from '../../src/server/shape.js'
import { Web } from '../../src/server/static.js'
import { makeProject } from '../support/project.js'

const nothing = z.strictObject({})

/** An app of one's own routes, asked without a socket by somebody of each role: their token is the role's name. */
function app(routes: Route[], now = () => 0) {
  const names = ownNames({ hosts: ['127.0.0.1'], port: 4774 }, [])
  const limits = new Limits(now)
  const holders = (['viewer', 'operator', 'admin'] as const).map((role) => ({
    token_sha256: digestOf(role),
    principal: { id: `the-${role}`, role },
  }))
  const logins = new Logins(holders, { port: 4774, names, limits, now })
  const reports: string[] = []
  const built = createApp({
    context: {} as ServerContext,
    ...{ routes, names, limits, logins, web: new Web(makeProject({})) },
    report: (text) => void reports.push(text),
  })
  type More = { address?: string; origin?: string }
  const ask = async (method: string, path: string, role: PrincipalRole, body?: unknown, more: More = {}) => {
    const headers = {
      host: '127.0.0.1:4774',
      authorization: `Bearer ${role}`,
      'content-type': 'application/json',
      'last-event-id': '7',
      ...(more.origin === undefined ? {} : { origin: more.origin }),
    }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const env = { incoming: { socket: { remoteAddress: more.address ?? '192.0.2.7' } } }
    const response = await built.request(path, init, env)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { ask, reports }
}

function failing(error: unknown): Route {
  return route({
    ...{ method: 'GET', path: '/fails', least: 'viewer', summary: '', params: nothing, query: nothing, body: null },
    answers: nothing,
    handle: async () => {
      throw error
    },
  })
}

describe('a route', () => {
  it('gets what was asked as its shapes read it, with who asks and from where', async () => {
    let got: Partial<Asked<unknown, unknown, unknown>> = {}
    const { ask } = app([
      route({
        ...{ method: 'PUT', path: '/things/:thing', least: 'operator', summary: '', status: 201 },
        params: z.strictObject({ thing: z.string().regex(/^[a-z/]+$/) }),
        query: z.strictObject({ n: z.coerce.number().default(3) }),
        body: z.strictObject({ name: z.string() }),
        answers: z.strictObject({ done: z.boolean() }),
        handle: async ({ signal: _, ...asked }) => {
          got = asked
          return { done: true }
        },
      }),
    ])
    const done = await ask('PUT', '/api/things/a%2Fb?n=5', 'operator', { name: 'x' })
    expect([done.status, done.text, done.headers.get('cache-control')]).toEqual([201, '{"done":true}', 'no-store'])
    expect(got).toEqual({
      params: { thing: 'a/b' },
      query: { n: 5 },
      body: { name: 'x' },
      principal: { id: 'the-operator', role: 'operator' },
      address: '192.0.2.7',
      last_event_id: '7',
    })
    const denied = await ask('PUT', '/api/things/a', 'viewer', { name: 'x' })
    expect([denied.status, JSON.parse(denied.text)]).toEqual([
      403,
      { error: { code: 'denied', message: 'Denied: this needs the role operator or more, and the-viewer is viewer.' } },
    ])
    const wrong = await ask('PUT', '/api/things/A?n=x', 'admin', { name: 'x' })
    expect(JSON.parse(wrong.text)).toMatchObject({ error: { faults: [{ path: 'thing' }] } })
    const unknown = await ask('PUT', '/api/things/a', 'admin', { name: 'x', more: 1 })
    expect(JSON.parse(unknown.text)).toEqual({
      error: {
        code: 'input',
        message: 'What was sent is not right. Unrecognized key: "more"',
        faults: [{ path: '', message: 'Unrecognized key: "more"' }],
      },
    })
  })

  it('sends text and streams as they are, and has none of them kept', async () => {
    const { ask } = app([
      route({
        ...{ method: 'GET', path: '/text', least: 'viewer', summary: '', params: nothing, query: nothing, body: null },
        answers: 'text',
        handle: async () =>
          new Response('<b>', { headers: { 'content-type': 'text/plain', 'cache-control': 'public' } }),
      }),
    ])
    const { status, text, headers } = await ask('GET', '/api/text', 'viewer')
    expect([status, text, headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      200,
      '<b>',
      'no-store',
      'nosniff',
    ])
  })

  it.each([
    ['SQLITE_FULL', 507, 'The disk of the store is full: nothing can be written before there is room again.'],
    ['SQLITE_READONLY_DBMOVED', 503, 'The store cannot be written: its file or folder is read-only, or was moved.'],
    ['SQLITE_BUSY', 503, 'Another process keeps the store locked. End it, or try again later.'],
  ])('says what is wrong with the store (%s)', async (code, status, message) => {
    const inner = Object.assign(new Error('as SQLite says it'), { code })
    for (const error of [inner, new Error('around it', { cause: inner })]) {
      const { ask, reports } = app([failing(error)])
      const got = await ask('GET', '/api/fails', 'viewer')
      expect([got.status, JSON.parse(got.text)]).toEqual([status, { error: { code: 'store', message } }])
      expect(reports).toEqual([message])
    }
  })

  it('fails with what a RetinueError says, and the status of its code', async () => {
    const status: Record<string, number> = {
      input: 400,
      config: 400,
      model: 400,
      denied: 403,
      not_found: 404,
      conflict: 409,
      held: 409,
      store: 503,
    }
    for (const code of ERROR_CODES) {
      const { ask, reports } = app([failing(new RetinueError(code, `What ${code} means.`))])
      const got = await ask('GET', '/api/fails', 'viewer')
      expect([got.status, JSON.parse(got.text)]).toEqual([
        status[code] ?? 500,
        { error: { code, message: `What ${code} means.` } },
      ])
      expect(reports).toEqual([])
    }
    const { ask } = app([
      failing(new CorruptLogError('bad_payload', { run_id: 'r', agent_id: 'root', seq: 3 }, 'a gap')),
    ])
    expect((await ask('GET', '/api/fails', 'viewer')).status).toBe(500)
  })

  it('tells what nobody expected to the person who serves, and to nobody else', async () => {
    const { ask, reports } = app([failing(new Error('the secret is hunter2'))])
    const { status, text } = await ask('GET', '/api/fails', 'viewer')
    const { error } = JSON.parse(text)
    const id = /fault ([0-9a-f]{8})\.$/.exec(error.message)?.[1]
    expect([status, error]).toEqual([
      500,
      {
        code: 'internal',
        message: `Something went wrong in the server. Its terminal says what: look for fault ${id}.`,
      },
    ])
    expect(reports).toEqual([expect.stringMatching(new RegExp(`^fault ${id}: Error: the secret is hunter2\\n`))])
  })
})

it('somebody may ask so much from an address and no more, whoever else asks', async () => {
  let now = 0
  const { ask } = app([], () => now)
  const status = async (more?: { address?: string; origin?: string }) =>
    (await ask('GET', '/api/nothing', 'viewer', undefined, more)).status
  for (let i = 0; i < 1000; i++) expect(await status()).toBe(404)
  const { status: refused, headers, text } = await ask('GET', '/api/nothing', 'viewer')
  expect([refused, headers.get('retry-after'), JSON.parse(text)]).toEqual([
    ...[429, '1'],
    { error: { code: 'too_many', message: 'Too many requests. Try again in 1 second.' } },
  ])
  expect(await status({ address: '192.0.2.8' })).toBe(404)
  // Behind a proxy all have one address.
  expect((await ask('GET', '/api/nothing', 'operator')).status).toBe(404)
  now = 5
  // What other sites ask counts for nothing, one way or the other.
  expect(await status({ origin: 'https://evil.example' })).toBe(403)
  expect([await status(), await status()]).toEqual([404, 429])
})

it('whom nobody knows uses up what their address may ask, and nothing of those who are known there', async () => {
  const { ask } = app([])
  const stranger = 'nobody' as PrincipalRole
  const asked = []
  for (let i = 0; i < 1001; i++) asked.push((await ask('GET', '/', stranger)).status)
  expect([asked.at(0), asked.at(-1)]).toEqual([404, 429])
  expect((await ask('GET', '/api/nothing', 'viewer')).status).toBe(404)
})

it('a shape is that of its type, no key more and none less', () => {
  type Thing = { a: string; b?: number; c: { d: string | null }[] }
  const thing = { a: z.string(), b: z.number().optional(), c: z.array(z.strictObject({ d: z.string().nullable() })) }
  shape<Thing>()(z.strictObject(thing))
  // @ts-expect-error a key is missing that may be absent
  shape<Thing>()(z.strictObject({ a: thing.a, c: thing.c }))
  // @ts-expect-error a key is too much
  shape<Thing>()(z.strictObject({ ...thing, e: z.string().optional() }))
  // @ts-expect-error a key may be absent here and not there
  shape<Thing>()(z.strictObject({ ...thing, a: z.string().optional() }))
  // @ts-expect-error a value is narrower, inside
  shape<Thing>()(z.strictObject({ ...thing, c: z.array(z.strictObject({ d: z.string() })) }))
})
