import type { Context, Handler } from 'hono'
import type { z } from 'zod'
import { isAtLeast, type Principal } from '../index.js'
import { addressOf, readBody } from './guards/limits.js'
import { Refusal } from './refusal.js'
import type { Route, ServerContext } from './route.js'

/** A route as hono calls it: who asks and what is checked before its own work, and its answer is sent. */
export function mount(route: Route, context: ServerContext, who: (c: Context) => Principal): Handler {
  return async (c) => {
    const principal = who(c)
    if (!isAtLeast(principal.role, route.least)) {
      const needed = route.least === 'admin' ? 'the role admin' : `the role ${route.least} or more`
      throw new Refusal(403, 'denied', `Denied: this needs ${needed}, and ${principal.id} is ${principal.role}.`)
    }
    // It would be answered as a GET is, and nobody would ever read the stream.
    if (route.answers === 'stream' && c.req.method === 'HEAD') {
      throw new Refusal(405, 'no_head', 'A stream has nothing to say beforehand: GET it', { headers: { allow: 'GET' } })
    }
    const asked = {
      params: understood(route.params, c.req.param()),
      query: understood(route.query, c.req.query()),
      body: route.body ? understood(route.body, await jsonOf(c)) : null,
      principal,
      address: addressOf(c),
      last_event_id: c.req.header('last-event-id') ?? null,
      signal: c.req.raw.signal,
    }
    const answer = await route.handle(asked, context)
    if (!(answer instanceof Response)) return c.json(answer as object, route.status, { 'cache-control': 'no-store' })
    answer.headers.set('cache-control', 'no-store')
    return answer
  }
}

export async function jsonOf(c: Context): Promise<unknown> {
  const text = await readBody(c.req.raw)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(400, 'input', text === '' ? 'A body is missing: it must be JSON' : 'The body is no JSON')
  }
}

/** What was sent, as the shape reads it, or every fault of it. */
export function understood<S extends z.ZodType>(shape: S, sent: unknown): z.output<S> {
  const parsed = shape.safeParse(sent)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const said = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  throw new Refusal(400, 'input', `What was sent is not right. ${said.join('. ')}`, { faults })
}
