import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/index.js'
import { openApi } from '../../src/server/openapi.js'
import { ROUTES } from '../../src/server/routes/index.js'
import { bearer, lab } from './serving-lab.js'

type Operation = {
  operationId: string
  summary: string
  parameters?: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, Answer | { $ref: string }>
}
type Answer = { description: string; content?: Record<string, { schema: object }> }
type Document = {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; responses: Record<string, Answer>; securitySchemes: object }
  security: object[]
}

async function read() {
  const { ask, token } = await lab()
  const { status, json } = await ask({ path: '/api/openapi.json', headers: bearer(token) })
  expect(status).toBe(200)
  const document = json as Document
  const ajv = new Ajv2020({ strict: false })
  ajv.addSchema({ $id: 'doc', components: document.components })
  // References of the document are within it.
  const checks = new Map<string, ValidateFunction>()
  const check = (schema: object): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"doc#/components')
    const known = checks.get(text) ?? ajv.compile(JSON.parse(text))
    checks.set(text, known)
    return known
  }
  const answerOf = (path: string, method: string, status: string): Answer | undefined => {
    const answer = document.paths[path]?.[method]?.responses[status]
    if (answer === undefined || !('$ref' in answer)) return answer
    return document.components.responses[answer.$ref.replace('#/components/responses/', '')]
  }
  return { document, check, answerOf, ask, token }
}

describe('the OpenAPI document', () => {
  it('has every route, with its parameters as its path has them, and the two that are about logins', async () => {
    const { document } = await read()
    expect([document.openapi, document.info.title, document.info.version]).toEqual(['3.1.0', 'Retinue', VERSION])
    const written = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const routes = [...ROUTES, openApi([])].map(
      ({ method, path }) => `${method} /api${path.replace(/:(\w+)/g, '{$1}')}`,
    )
    expect(written.sort()).toEqual([...routes, 'POST /api/login', 'POST /api/logout'].sort())
    const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
      Object.values(byMethod).map((operation) => ({ path, ...operation })),
    )
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    for (const { path, parameters = [], summary } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const said = parameters.filter((parameter) => parameter.in === 'path')
      expect([path, said.map(({ name }) => name)]).toEqual([path, inPath])
      expect(said.every(({ required }) => required)).toBe(true)
      expect(summary).not.toBe('')
    }
  })

  it('has schemas that are sound, whose references lead somewhere', async () => {
    const { document, check, answerOf } = await read()
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { parameters = [], requestBody, responses }] of Object.entries(operations)) {
        for (const { schema } of parameters) check(schema)
        for (const { schema } of Object.values(requestBody?.content ?? {})) check(schema)
        for (const status of Object.keys(responses)) {
          const answer = answerOf(path, method, status)
          expect([path, status, answer?.description]).toEqual([path, status, expect.any(String)])
          for (const { schema } of Object.values(answer?.content ?? {})) check(schema)
        }
      }
    }
    for (const schema of Object.values(document.components.schemas)) check(schema)
  })

  it('says what is answered in truth, refusals too', async () => {
    const { check, answerOf, ask, token } = await read()
    const schemaOf = (path: string, status: string) =>
      answerOf(path, 'get', status)?.content?.['application/json']?.schema as object
    for (const path of [
      '/api/me',
      '/api/runs',
      '/api/sessions',
      '/api/agents',
      '/api/registry',
      '/api/registry/history',
    ]) {
      const { json } = await ask({ path, headers: bearer(token) })
      const valid = check(schemaOf(path, '200'))
      expect([path, valid(json), valid.errors]).toEqual([path, true, null])
    }
    const error = check(schemaOf('/api/me', '401'))
    expect(error((await ask({ path: '/api/me' })).json)).toBe(true)
    expect(error({ error: { code: 'x' } })).toBe(false)
  })

  it('says of each route which refusals it has', async () => {
    const { document } = await read()
    const of = (path: string, method: string) =>
      Object.keys(document.paths[path]?.[method]?.responses ?? {}).map(Number)
    expect(of('/api/me', 'get')).toEqual([200, 400, 401, 403, 421, 429, 500, 503])
    expect(of('/api/runs', 'get')).toContain(404)
    expect(of('/api/runs', 'post')).toEqual([201, 400, 401, 403, 404, 409, 413, 415, 421, 429, 500, 503, 507])
    expect(of('/api/runs/{run}/resume', 'post')).not.toContain(413)
    expect(of('/api/login', 'post')).toEqual([200, 400, 401, 403, 413, 415, 421, 429, 500])
  })

  it('says which messages streams have, and where one can go on', async () => {
    const { document, answerOf, check } = await read()
    const messages = (path: string) => {
      const schema = answerOf(path, 'get', '200')?.content?.['text/event-stream']?.schema as {
        oneOf: { properties: { event: { const: string }; id?: object; data: object } }[]
      }
      check(schema)
      return schema.oneOf.map(({ properties: { event, id, data } }) => [event.const, id !== undefined, data])
    }
    const listOf = (name: string) => ({ type: 'array', items: { $ref: `#/components/schemas/${name}` } })
    expect(messages('/api/runs/live')).toEqual([['runs', false, listOf('ListedRun')]])
    expect(messages('/api/runs/{run}/live')).toEqual([
      ['run', false, expect.objectContaining({ type: 'object' })],
      ['events', true, listOf('WatchedEvent')],
      ['end', false, expect.objectContaining({ type: 'object', properties: {} })],
    ])
    const hears = Object.entries(document.paths).flatMap(([path, { get }]) =>
      get?.parameters?.some(({ name }) => name === 'Last-Event-ID') ? [path] : [],
    )
    expect(hears).toEqual(['/api/runs/{run}/live'])
  })
})
