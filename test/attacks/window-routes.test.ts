import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Route } from '../../src/server/route.js'
import { ROUTES } from '../../src/server/routes/index.js'
import { type Asked, ask, stranger } from '../support/raw-http.js'
import { type Served, serving } from '../support/serving.js'
import { type Kept, keptIn, putRecords, settledPlace, tokenOf, usersConfig } from '../support/window-place.js'

const ends: (() => void | Promise<void>)[] = []
const finished = (work: () => void | Promise<void>) => void ends.push(work)
let server: Served
let run_id: string
let before: Kept

beforeAll(async () => {
  const users = usersConfig({ vera: 'viewer', olaf: 'operator', ada: 'admin' })
  const place = await settledPlace({ finished, config: users })
  run_id = place.run_id
  await putRecords(place.cwd, [
    { type: 'policy', id: 'permission:default', value: { deny: ['run_command'] } },
    { type: 'profile', id: 'mine', value: { description: 'Mine.' } },
  ])
  server = await serving(place.cwd, { finished })
  before = await keptIn(place.cwd)
})
afterAll(async () => {
  for (const work of ends.reverse()) await work()
})

const inside = ROUTES.map((route): [string, Route] => [`${route.method} ${route.path}`, route])
const as = (who: string) => ({ authorization: `Bearer ${tokenOf(who)}`, 'content-type': 'application/json' })

/** What each of them takes; those that change something would do so. */
const BODIES: Record<string, unknown> = {
  'POST /runs': { task: 'Do harm' },
  'POST /runs/:run/answers': { agent_id: 'root', call_id: 'c1', kind: 'permission', answer: 'allow' },
  'POST /runs/:run/cancel': {},
  'POST /runs/:run/pause': {},
  'PUT /registry': { text: '{"version":1,"agents":[]}', expected_version: 1 },
  'PUT /pins/:scope': { name: 'reviewer' },
}

/** Ids that exist, so that nothing else is wrong with a request. */
const ids = (): Record<string, string> => ({
  ...{ run: run_id, agent: 'root', position: '1', name: 'reviewer', scope: 'global' },
})

function filled(path: string, values: Record<string, string>): string {
  return `/api${path.replace(/:(\w+)/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the test does not know a :${name}`)
    return value
  })}`
}

function request(name: string, route: Route, values: Record<string, string>, who: string): Asked {
  const body = BODIES[name]
  return {
    ...{ method: route.method, path: filled(route.path, values), headers: as(who), from: stranger() },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

it('the test knows a body for every route that takes one', () => {
  expect(Object.keys(BODIES).sort()).toEqual(
    inside
      .filter(([, { body }]) => body !== null)
      .map(([name]) => name)
      .sort(),
  )
})

it.each(inside)('%s is closed to whoever nobody knows', async (name, route) => {
  const asked = request(name, route, ids(), 'mallory')
  expect((await ask(server.address, asked)).status).toBe(401)
  const headers = { 'content-type': 'application/json', origin: server.address }
  expect((await ask(server.address, { ...asked, headers })).status).toBe(401)
})

it.each(inside.filter(([, { method }]) => method === 'GET'))(
  'HEAD %s opens nothing that stays open',
  async (name, route) => {
    const asked = { ...request(name, route, ids(), 'ada'), method: 'HEAD' }
    // More often than there are places for streams.
    const count = route.answers === 'stream' ? 60 : 1
    for (let i = 0; i < count; i++) {
      const { status } = await ask(server.address, asked)
      if (route.answers === 'stream') expect(status).toBe(405)
      else expect(status).toBe((await ask(server.address, { ...asked, method: 'GET' })).status)
    }
    expect((await ask(server.address, { ...asked, headers: as('mallory') })).status).toBe(401)
    if (route.answers !== 'stream') return
    const metrics = await ask(server.address, { path: '/api/metrics', headers: as('ada') })
    expect(metrics.body).toContain('\nretinue_http_streams 0\n')
  },
)

it.each(inside.filter(([, { path }]) => path.includes(':')))(
  '%s takes no id that is a way somewhere else',
  async (name, route) => {
    const params = [...route.path.matchAll(/:(\w+)/g)].map(([, param]) => param as string)
    for (const param of params) {
      for (const id of WAYS) {
        const reply = await ask(server.address, request(name, route, { ...ids(), [param]: id }, 'ada'))
        const what = [id.slice(0, 60), param]
        expect([...what, reply.status]).toEqual([...what, expect.toSatisfy(isRefusal)])
        expect(reply.body).not.toContain('root:')
        expect(reply.body).not.toContain(run_id)
      }
    }
  },
)

it.each(inside.filter(([, { method }]) => method !== 'GET'))(
  '%s is denied to a viewer, and the twin: not to an admin',
  async (name, route) => {
    const reply = await ask(server.address, request(name, route, ids(), 'vera'))
    expect([reply.status, JSON.parse(reply.body).error.code]).toEqual([403, 'denied'])
    expect(await keptIn(server.cwd)).toEqual(before)
    // With a run that is not there, where one is named, so that nothing is done.
    const harmless = request(name, route, { ...ids(), run: 'no-such-run' }, 'ada')
    const { status } = await ask(server.address, HARMFUL.includes(name) ? { ...harmless, body: '{}' } : harmless)
    expect(status).not.toBe(403)
    expect(status).toBeGreaterThanOrEqual(400)
  },
)

it.each(inside.filter(([, { body }]) => body !== null))('%s takes no body but its own', async (name, route) => {
  const asked = request(name, route, ids(), 'ada')
  const own = JSON.stringify(BODIES[name])
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const more = JSON.stringify({ ...(BODIES[name] as object), more: 1 })
  const proto = `{"__proto__":{"task":"x"}${own === '{}' ? '' : ','}${own.slice(1)}`
  for (const body of ['', '{', 'null', '[]', '"text"', '1', '{"a":', '\u0000', deep, more, proto]) {
    const reply = await ask(server.address, { ...asked, body })
    expect([body.slice(0, 60), reply.status]).toEqual([body.slice(0, 60), 400])
    expect(JSON.parse(reply.body)).toEqual({ error: expect.objectContaining({ message: expect.any(String) }) })
  }
  expect(await keptIn(server.cwd)).toEqual(before)
})

/** As they stand in the address. */
const WAYS = [
  '..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '%252e%252e%252fetc%252fpasswd',
  '..%5c..%5cetc%5cpasswd',
  '%2fetc%2fpasswd',
  '.%00',
  '%00',
  'a%00b',
  '%25',
  '_%25',
  '_',
  '*',
  '%27%20OR%201%3D1%20--',
  '__proto__',
  'constructor',
  '-rf',
  '--help',
  '%0d%0aset-cookie:%20a=b',
  '%ff%fe',
  '%e2%80%ae',
  'x'.repeat(5_000),
]

/** Those that name no run which could be one that is not there: their twin is to send too little. */
const HARMFUL = ['POST /runs', 'PUT /registry', 'PUT /pins/:scope']

const isRefusal = (status: number) => [400, 404, 414].includes(status)

/** Dots and halves of signs, which the path itself is made of: whatever they are taken for, it is nothing of anybody's. */
it.each(['..', '.', '%2e%2e', '%2e', '', '%', '%zz', '~'.repeat(2_000)])(
  'a path with %s in it leads nowhere',
  async (id) => {
    for (const [name, route] of inside.filter(([, { path }]) => path.includes(':'))) {
      if (route.method !== 'GET') continue
      const path = filled(route.path, { run: id, agent: id, position: id, name: id, scope: id })
      const reply = await ask(server.address, { path, headers: as('vera'), from: stranger() })
      expect([name, reply.status < 500]).toEqual([name, true])
      expect(reply.body).not.toContain('root:x:')
    }
    for (const path of [`/${id}/${id}/etc/passwd`, `/assets/${id}/${id}/${id}/package.json`, `//${id}/etc/passwd`]) {
      const reply = await ask(server.address, { path, from: stranger() })
      expect(reply.status).toBeLessThan(500)
      expect(reply.body).not.toMatch(/root:|"dependencies"/)
    }
  },
)

it('a viewer pins for nobody else, in no scope and in no session of theirs', async () => {
  const session_id = before.runs[0]?.session_id
  for (const [scope, body, query] of [
    ['global', {}, ''],
    ['workspace', {}, ''],
    ['session', { session_id }, `?session_id=${session_id}`],
  ]) {
    const path = `/api/pins/${scope}`
    const put = {
      method: 'PUT',
      path,
      headers: as('vera'),
      body: JSON.stringify({ name: 'reviewer', ...(body as object) }),
    }
    expect([scope, (await ask(server.address, put)).status]).toEqual([scope, 403])
    const remove = { method: 'DELETE', path: path + query, headers: as('vera') }
    expect([scope, (await ask(server.address, remove)).status]).toEqual([scope, 403])
  }
  expect(await keptIn(server.cwd)).toEqual(before)
})

/** Of all policies, these may be written here. */
const MAY_CHANGE = /^(agent-registry:default|profile-pin:(global|(user|session|workspace):.+))$/

it('of all records, only the registry and pins can be written, whatever ids are sent', async () => {
  const victims = [
    'permission:default',
    'mine',
    'profile:mine',
    'agent-registry:other',
    'profile-pin:',
    'profile:reviewer',
    'policy:x',
    'reviewer',
  ]
  const values = victims.map(encodeURIComponent)
  for (const [name, route] of inside) {
    // Runs would be begun and ended by these; what they are asked to change is in the test of their ids above.
    if (route.answers === 'stream' || name === 'POST /runs') continue
    for (const [i, value] of values.entries()) {
      const victim = victims[i] as string
      const params = { run: value, agent: value, position: value, name: value, scope: value }
      const body = bodyFor(name, victim)
      const query = `?record_id=${value}&policy_id=${value}&id=${value}&type=policy&session_id=${value}`
      for (const path of [filled(route.path, params), filled(route.path, { ...params, scope: 'user' })]) {
        for (const more of ['', query]) {
          const asked = { method: route.method, path: path + more, headers: as('ada'), from: stranger() }
          const reply = await ask(server.address, {
            ...asked,
            ...(body === null ? {} : { body: JSON.stringify(body) }),
          })
          expect([name, victim, reply.status < 500]).toEqual([name, victim, true])
        }
      }
    }
  }
  const after = await keptIn(server.cwd)
  const rest = ({ records }: Kept) => records.filter(({ type, id }) => type !== 'policy' || !MAY_CHANGE.test(id))
  expect(rest(after)).toEqual(rest(before))
  expect(after.runs).toEqual(before.runs)
})

/** Every text in it is the id that is to be written. */
function bodyFor(name: string, victim: string): unknown {
  const own = BODIES[name]
  if (own === undefined) return null
  if (name === 'PUT /registry') {
    return { text: JSON.stringify({ version: 1, agents: [], id: victim, record_id: victim }), expected_version: 1 }
  }
  if (name === 'PUT /pins/:scope') return { name: victim, session_id: victim }
  return { ...(own as object), ...{ id: victim, record_id: victim, policy_id: victim } }
}

it('the twin: what may be written is written by the same routes', async () => {
  const pin = { method: 'PUT', path: '/api/pins/global', headers: as('ada'), body: '{"name":"reviewer"}' }
  expect((await ask(server.address, pin)).status).toBe(200)
  const ids = (await keptIn(server.cwd)).records.map(({ id }) => id)
  expect(ids).toContain('profile-pin:global')
})
