import type { Env, Hono } from 'hono'
import { z } from 'zod'
import type { Logins } from './guards/login.js'
import { jsonOf, understood } from './mount.js'
import { principalSchema } from './schemas/me.js'
import { shape } from './shape.js'
import type { LoggedIn } from './wire.js'

export const loginBodySchema = z.strictObject({ token: z.string().min(1) })
export const loggedInSchema = shape<LoggedIn>()(
  z.strictObject({
    principal: principalSchema,
    key: z.string().describe('What changes something needs this in the header X-Retinue-Key, besides the cookie.'),
  }),
)
export const loggedOutSchema = z.strictObject({})

/** The two that nobody has to be known for. They are about the cookie, which other routes know nothing of. */
export function addLogin<E extends Env>(app: Hono<E>, logins: Logins): void {
  app.post('/api/login', async (c) => {
    const { token } = understood(loginBodySchema, await jsonOf(c))
    return c.json(logins.enter(c, token), 200, { 'cache-control': 'no-store' })
  })
  app.post('/api/logout', (c) => {
    logins.leave(c)
    return c.json({}, 200, { 'cache-control': 'no-store' })
  })
}
