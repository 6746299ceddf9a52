import { z } from 'zod'
import { contractSchema, planSchema, profileSchema, resultSchema, VERSION } from '../index.js'
import { loggedInSchema, loggedOutSchema, loginBodySchema } from './login-routes.js'
import { type Route, route } from './route.js'
import { wireErrorSchema } from './schemas/common.js'
import { storedEventSchema, watchedEventSchema } from './schemas/events.js'
import { listedRunSchema, runSummarySchema } from './schemas/runs.js'

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
    components: { schemas: components(), responses: refusals(), securitySchemes: SECURITY },
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
  key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Retinue-Key',
    description: 'What it gives besides: needed with the cookie by whatever changes something.',
  },
}

/** Shapes that many routes have, under their own names. */
const NAMED: [string, z.ZodType][] = [
  ['AgentResult', resultSchema],
  ['Contract', contractSchema],
  ['Error', wireErrorSchema],
  ['Plan', planSchema],
  ['Profile', profileSchema],
  ['ListedRun', listedRunSchema],
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

function operation(one: Route): Json {
  const { method, path, summary, least, params, query, body, answers, messages, status } = one
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[/:.](\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    description: `Least role: ${least}.`,
    ...(method === 'GET' ? {} : { security: [{ token: [] }, { cookie: [], key: [] }] }),
    parameters: [
      ...parameters(params, 'path'),
      ...parameters(query, 'query'),
      ...(messages?.goes_on_after ? [LAST_EVENT] : []),
    ],
    ...(body
      ? { requestBody: { required: true, content: { 'application/json': { schema: reference(body, 'input') } } } }
      : {}),
    responses: {
      [status]: { description: 'Done.', content: messages ? streamOf(messages) : contentOf(answers) },
      ...(messages?.goes_on_after ? { 204: { description: 'There is nothing after that: it has ended.' } } : {}),
      ...errors(faultsOf(one)),
    },
  }
}

/** Fields that name something which need not be there. */
const NAMING = ['before', 'session_id', 'agent_id', 'name', 'profile']

function faultsOf({ method, path, query, body }: Route): number[] {
  const named = [query, ...(body ? [body] : [])].flatMap((shape) =>
    Object.keys((jsonSchema(shape, 'input').properties ?? {}) as Json),
  )
  return [
    ...[400, 401, 403],
    ...(path.includes(':') || NAMING.some((name) => named.includes(name)) ? [404] : []),
    ...(method === 'GET' ? [] : [409]),
    ...(body ? [413] : []),
    ...(method === 'GET' ? [] : [415]),
    ...[421, 429, 500, 503],
    ...(method === 'GET' ? [] : [507]),
  ]
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
  if (answers === 'stream') throw new Error('A stream says what its messages are')
  return { 'application/json': { schema: reference(answers, 'output') } }
}

/** Each message of a stream as a client of server-sent events hands it on, its data parsed. */
function streamOf({ data, goes_on_after }: NonNullable<Route['messages']>): Json {
  const messages = Object.entries(data).map(([event, shape]) => {
    const has_id = event === goes_on_after
    return {
      type: 'object',
      properties: {
        event: { const: event },
        ...(has_id ? { id: { type: 'string', description: 'The position of the last event in it.' } } : {}),
        data: reference(shape, 'output'),
      },
      required: ['event', ...(has_id ? ['id'] : []), 'data'],
    }
  })
  const description =
    'Server-sent events. Each message is one of these, with its data as JSON; comments are signs of life.'
  return { 'text/event-stream': { schema: { description, oneOf: messages } } }
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
  409: 'Somebody else was faster, or holds it, or it is closed.',
  413: 'More was sent than is read.',
  415: 'What was sent is not JSON.',
  421: 'The server does not go by the name in Host.',
  429: 'Too much was asked at once; Retry-After says how many seconds to wait.',
  500: 'Something went wrong.',
  503: 'The store cannot be used, or too many streams are open.',
  507: 'The disk of the store is full.',
}

/** Each refusal is described once. */
function refusals(): Json {
  const content = { 'application/json': { schema: reference(wireErrorSchema, 'output') } }
  return Object.fromEntries(Object.entries(MEANINGS).map(([status, description]) => [status, { description, content }]))
}

function errors(statuses: readonly number[]): Json {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]))
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
          ...errors([400, 401, 403, 413, 415, 421, 429, 500]),
        },
      },
    },
    '/api/logout': {
      post: {
        operationId: 'postLogout',
        summary: 'Ends the login of the cookie.',
        security: [],
        responses: {
          200: { description: 'Done.', content: json(loggedOutSchema, 'output') },
          ...errors([401, 403, 415, 421, 429, 500]),
        },
      },
    },
  }
}
