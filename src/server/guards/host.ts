import type { MiddlewareHandler } from 'hono'
import type { Names } from '../names.js'
import { Refusal } from '../refusal.js'

/**
 * A page whose name an attacker lets lead to this machine (DNS rebinding) is same-origin to a browser, cookies and all
 * but ours. What it cannot change is the name it asks by: that must be one of ours, whatever is asked for.
 */
export function hostGuard({ hosts }: Names): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header('host')?.toLowerCase() ?? ''
    if (!hosts.has(host)) {
      throw new Refusal(
        421,
        'foreign_host',
        'This server does not go by that name. Use the address that it printed; where a proxy stands in front of it, ' +
          'name the origin of the proxy under server.origins in your own configuration.',
      )
    }
    await next()
  }
}
