import { z } from 'zod'
import { contractSchema, planSchema, profileSchema, resultSchema } from '../domain/index.js'
import { VERSION } from '../index.js'
import { loggedInSchema, loggedOutSchema, loginBodySchema } from './login-routes.js'
import { type Route, route } from './route.js'
import { runSummarySchema, storedEventSchema, watchedEventSchema, wireErrorSchema } from './schemas.js'

type Json = Record<string, unknown>

const nothing = z.strictObject({})

/** The document about all routes, itself among them. */
export function openApi(routes: readonly Route[]): Route {
  let written: Json | null = null
  const self = route({
    method: 'GET',
    path: '/openapi.json',
    least: 'viewer',
    summary: 'This document.',
    params: nothing,
    query: nothing,
    body: null,
    answers: z.record(z.string(), z.unknown()),
    handle: async () => {
      written ??= openApiDocument([...routes, self])
      return written
    },
  })
  return self
}

/** OpenAPI 3.1, whose schemas are JSON Schema: what is checked and what is documented are the same shapes. */
function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {}
  for (const one of routes) {
    const path = `/api${one.path.replace(/:(\w+)/g, '{$1}')}`
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: operation(one) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Retinue',
      version: VERSION,
      description: 'Runs, agents, contracts, registry and pins of the folder that retinue serve was started in.',
    },
    paths: { ...loginPaths(), ...paths },
    components: { schemas: components(), securitySchemes: SECURITY },
    security: [{ token: [] }, { cookie: [] }],
  }
}

const SECURITY = {
  token: { type: 'http', scheme: 'bearer', description: 'The token that retinue serve printed, or that of a user.' },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'retinue_<port>',
    description: 'What POST /api/login gives a browser.',
  },
}

/** Shapes that many routes have, under their own names. */
const NAMED: [string, z.ZodType][] = [
  ['AgentResult', resultSchema],
  ['Contract', contractSchema],
  ['Error', wireErrorSchema],
  ['Plan', planSchema],
  ['Profile', profileSchema],
  ['RunSummary', runSummarySchema],
  ['StoredEvent', storedEventSchema],
  ['WatchedEvent', watchedEventSchema],
]

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, $defs, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const name = path.length === 0 ? undefined : NAMED.find(([, one]) => one === (zodSchema as unknown))?.[0]
      if (name === undefined) return
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema]
      jsonSchema.$ref = `#/components/schemas/${name}`
    },
  })
  // The only shape that has itself inside is that of any JSON at all, which has no need to say so.
  return JSON.parse(JSON.stringify(json), (_, value) => (String(value?.$ref).startsWith('#/$defs/') ? {} : value))
}

function components(): Json {
  return Object.fromEntries(NAMED.map(([name, schema]) => [name, jsonSchema(schema, 'output')]))
}

function reference(schema: z.ZodType, io: 'input' | 'output'): Json {
  const name = NAMED.find(([, one]) => one === schema)?.[0]
  return name === undefined ? jsonSchema(schema, io) : { $ref: `#/components/schemas/${name}` }
}

function operation({ method, path, summary, least, params, query, body, answers, status }: Route): Json {
  const faults = [
    400,
    401,
    403,
    ...(path.includes(':') ? [404] : []),
    ...(method === 'GET' ? [] : [409, 413, 415]),
    429,
    500,
  ]
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[/:.](\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    description: `Least role: ${least}.`,
    parameters: [
      ...parameters(params, 'path'),
      ...parameters(query, 'query'),
      ...(answers === 'stream' ? [LAST_EVENT] : []),
    ],
    ...(body
      ? { requestBody: { required: true, content: { 'application/json': { schema: reference(body, 'input') } } } }
      : {}),
    responses: { [status]: { description: 'Done.', content: contentOf(answers) }, ...errors(faults) },
  }
}

const LAST_EVENT = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last message that was received, to go on after it.',
  schema: { type: 'string' },
}

function contentOf(answers: Route['answers']): Json {
  if (answers === 'text') return { 'text/plain': { schema: { type: 'string' } } }
  if (answers === 'stream') return { 'text/event-stream': { schema: { type: 'string' } } }
  return { 'application/json': { schema: reference(answers, 'output') } }
}

function parameters(shape: z.ZodType, where: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = jsonSchema(shape, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema,
  }))
}

const MEANINGS: Record<number, string> = {
  400: 'What was sent is not right; faults say where.',
  401: 'It is not known who asks.',
  403: 'Whoever asks may not do that, or asks from a page of another site.',
  404: 'There is no such thing.',
  409: 'Somebody else was faster, or holds it.',
  413: 'More was sent than is read.',
  415: 'What was sent is not JSON.',
  429: 'Too much was asked at once; Retry-After says how many seconds to wait.',
  500: 'Something went wrong.',
}

function errors(statuses: readonly number[]): Json {
  const content = { 'application/json': { schema: reference(wireErrorSchema, 'output') } }
  return Object.fromEntries(statuses.map((status) => [status, { description: MEANINGS[status], content }]))
}

function loginPaths(): Record<string, Json> {
  const json = (schema: z.ZodType, io: 'input' | 'output') => ({
    'application/json': { schema: jsonSchema(schema, io) },
  })
  return {
    '/api/login': {
      post: {
        operationId: 'postLogin',
        summary: 'Exchanges a token for a cookie, for browsers.',
        security: [],
        requestBody: { required: true, content: json(loginBodySchema, 'input') },
        responses: {
          200: { description: 'Known.', content: json(loggedInSchema, 'output') },
          ...errors([400, 401, 403, 429]),
        },
      },
    },
    '/api/logout': {
      post: {
        operationId: 'postLogout',
        summary: 'Ends the login of the cookie.',
        security: [],
        responses: { 200: { description: 'Done.', content: json(loggedOutSchema, 'output') }, ...errors([403, 429]) },
      },
    },
  }
}
