import { z } from 'zod'
import { pinScopeSchema } from '../../index.js'
import { type Route, route } from '../route.js'
import { pinDoneSchema, putPinSchema } from '../schemas/pins.js'
import { placeOf } from './registry.js'
import { inSession, nameOf, nothing } from './shapes.js'

const scoped = { least: 'viewer', params: z.strictObject({ scope: pinScopeSchema }), answers: pinDoneSchema } as const

/** Who may pin where is decided by the control plane, as for the registry. */
export const PIN_ROUTES: Route[] = [
  route({
    ...scoped,
    method: 'PUT',
    path: '/pins/:scope',
    summary: 'Pins a profile or a handle: what runs have there that name none.',
    query: nothing,
    body: putPinSchema,
    handle: async ({ params: { scope }, body, principal }, { retinue }) => {
      const pin = await retinue.control(nameOf(retinue, principal)).pin(body.name, scope, placeOf(body))
      return { pin, scope }
    },
  }),
  route({
    ...scoped,
    method: 'DELETE',
    path: '/pins/:scope',
    summary: 'Takes a pin away.',
    query: inSession,
    body: null,
    handle: async ({ params: { scope }, query, principal }, { retinue }) => {
      const pin = await retinue.control(nameOf(retinue, principal)).unpin(scope, placeOf(query))
      return { pin, scope }
    },
  }),
]
