import type { Context, MiddlewareHandler } from 'hono'
import type { Principal } from '../../index.js'
import type { Names } from '../names.js'
import { Refusal } from '../refusal.js'
import { bearerToken, isReading } from './login.js'

/**
 * No other site's page may ask anything, with or without our cookie. Browsers say who asks; programs that have a token
 * say nothing, and need not.
 */
export function originGuard({ origins }: Names, who: (c: Context) => Principal): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('origin')
    if (origin !== undefined && !origins.has(origin)) throw crossSite()
    if (isOfOtherSite(c)) throw crossSite()
    if (!isReading(c)) {
      const said = origin !== undefined || c.req.header('sec-fetch-site') === 'same-origin'
      if (!said && bearerToken(c) === null) {
        // Whoever is not known at all is told that first.
        if (c.req.path !== '/api/login') who(c)
        throw new Refusal(
          403,
          'no_origin',
          'It cannot be seen who asks: programs send Authorization: Bearer and the token, browsers their Origin.',
        )
      }
      refuseForms(c)
    }
    await next()
  }
}

function crossSite(): Refusal {
  return new Refusal(403, 'cross_site', 'Pages of other sites may not ask anything here.')
}

/** A link on another page may lead to a page of ours; nothing else may be asked from there. */
function isOfOtherSite(c: Context): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== 'cross-site' && site !== 'same-site') return false
  const isLink =
    isReading(c) && c.req.header('sec-fetch-mode') === 'navigate' && c.req.header('sec-fetch-dest') === 'document'
  return !isLink || c.req.path === '/api' || c.req.path.startsWith('/api/')
}

/** Forms of other sites can send three kinds of content, and JSON is none of them. */
function refuseForms(c: Context): void {
  const length = c.req.header('content-length') ?? '0'
  if (length === '0' && c.req.header('transfer-encoding') === undefined) return
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new Refusal(415, 'no_json', 'What is sent must be JSON, with the header content-type: application/json')
  }
}
