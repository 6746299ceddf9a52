import type { z } from 'zod'
import type { Principal, PrincipalRole, Retinue } from '../index.js'
import type { Live } from './live/live.js'
import type { OwnRuns } from './own-runs.js'

/** What routes work with. */
export type ServerContext = {
  retinue: Retinue
  /** The runs that this process works on. */
  own: OwnRuns
  /** What is sent as it happens. */
  live: Live
  now: () => number
}

/** A request that was understood, of somebody who may ask it. */
export type Asked<P, Q, B> = {
  params: P
  query: Q
  body: B
  principal: Principal
  /** Where they ask from: the address of the connection. */
  address: string
  /** The `Last-Event-ID` of a stream that is taken up again; null: it begins. */
  last_event_id: string | null
  /** Whoever asked is gone. */
  signal: AbortSignal
}

type Shape = z.ZodType

/**
 * One thing that the API does. The one table of these is what is mounted, what is checked (role, parameters, body), what
 * the OpenAPI document is written from, and what the attack tests go through.
 */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below /api, as hono writes it: `/runs/:run`. */
  path: string
  /** The least role that may ask it. */
  least: PrincipalRole
  /** In a sentence, for the OpenAPI document. */
  summary: string
  params: Shape
  query: Shape
  body: Shape | null
  /** What it answers with: JSON of this shape, text, or a stream of events. */
  answers: Shape | 'text' | 'stream'
  /** Of a stream: what its messages have as their data, by their names, and which of them have an id to go on after. */
  messages?: { data: Record<string, Shape>; goes_on_after: string | null }
  status: 200 | 201
  handle: (asked: Asked<unknown, unknown, unknown>, context: ServerContext) => Promise<unknown>
}

type Definition<P extends Shape, Q extends Shape, B extends Shape | null, A extends Shape | 'text' | 'stream'> = Omit<
  Route,
  'params' | 'query' | 'body' | 'answers' | 'status' | 'handle'
> & {
  params: P
  query: Q
  body: B
  answers: A
  status?: 200 | 201
  /** A `Response` is sent as it is: only for `text` and `stream`. Failures are thrown as `RetinueError`. */
  handle: (
    asked: Asked<z.output<P>, z.output<Q>, B extends Shape ? z.output<B> : null>,
    context: ServerContext,
  ) => Promise<A extends Shape ? z.input<A> : Response>
}

export function route<P extends Shape, Q extends Shape, B extends Shape | null, A extends Shape | 'text' | 'stream'>(
  definition: Definition<P, Q, B, A>,
): Route {
  return { status: 200, ...definition } as unknown as Route
}
