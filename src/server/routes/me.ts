import { VERSION } from '../../index.js'
import { type Route, route } from '../route.js'
import { meSchema } from '../schemas/me.js'
import { nameOf, nothing } from './shapes.js'

export const ME_ROUTES: Route[] = [
  route({
    method: 'GET',
    path: '/me',
    least: 'viewer',
    summary: 'Who asks, which folder this is, and what a run has that asks for nothing else.',
    params: nothing,
    query: nothing,
    body: null,
    answers: meSchema,
    handle: async ({ principal }, { retinue }) => {
      const name = nameOf(retinue, principal)
      const choices = await retinue.choices(name === undefined ? {} : { principal: name })
      return { principal, folder: retinue.cwd, version: VERSION, choices }
    },
  }),
]
