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
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>
}
type Document = {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: object }
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
  return { document, check, ask, token }
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
    const { document, check } = await read()
    for (const operations of Object.values(document.paths)) {
      for (const { parameters = [], requestBody, responses } of Object.values(operations)) {
        for (const { schema } of parameters) check(schema)
        for (const { schema } of Object.values(requestBody?.content ?? {})) check(schema)
        for (const { content } of Object.values(responses))
          for (const { schema } of Object.values(content)) check(schema)
      }
    }
    for (const schema of Object.values(document.components.schemas)) check(schema)
  })

  it('says what is answered in truth, refusals too', async () => {
    const { document, check, ask, token } = await read()
    const schemaOf = (path: string, status: string) =>
      document.paths[path]?.get?.responses[status]?.content['application/json']?.schema as object
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
})
