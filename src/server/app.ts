import { type Context, Hono } from 'hono'
import { headersGuard, type NonceVariable } from './guards/headers.js'
import { hostGuard } from './guards/host.js'
import type { Limits } from './guards/limits.js'
import { type Logins, newToken } from './guards/login.js'
import { originGuard } from './guards/origin.js'
import { addLogin } from './login-routes.js'
import { mount } from './mount.js'
import type { Names } from './names.js'
import { openApi } from './openapi.js'
import { answerTo, Refusal } from './refusal.js'
import type { Route, ServerContext } from './route.js'
import type { Web } from './static.js'

export type AppParts = {
  context: ServerContext
  routes: readonly Route[]
  names: Names
  logins: Logins
  limits: Limits
  web: Web
  /** What went wrong and nobody expected, for the person who serves. */
  report: (text: string) => void
}

/**
 * The guards before everything, then the API, then the web app. What comes from other sites is refused before it is
 * counted, so that no page of theirs can use up what the person's own may ask.
 */
export function createApp({ context, routes, names, logins, limits, web, report }: AppParts): Hono<NonceVariable> {
  const app = new Hono<NonceVariable>()
  app.onError((error, c) => answerTo(error, c, report))
  const who = (c: Context) => logins.principal(c)
  app.use(
    headersGuard(newToken),
    hostGuard(names),
    originGuard(names, who),
    limits.guard((c) => logins.known(c)),
  )

  addLogin(app, logins)
  for (const route of [...routes, openApi(routes)]) {
    app.on(
      route.method,
      `/api${route.path}`,
      mount(route, context, (c) => logins.asker(c)),
    )
  }
  app.all('/api/*', (c) => {
    // Whoever is not known learns nothing, not even what there is.
    who(c)
    throw new Refusal(404, 'not_found', `There is no ${c.req.method} ${c.req.path}: see /api/openapi.json`)
  })

  app.get('*', (c) => web.answer(c))
  app.notFound(() => {
    throw new Refusal(404, 'not_found', 'There is no such thing here')
  })
  return app
}
