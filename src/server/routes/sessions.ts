import { type Route, route } from '../route.js'
import { sessionListSchema } from '../schemas/sessions.js'
import { nothing } from './shapes.js'

const MOST_SESSIONS = 200

export const SESSION_ROUTES: Route[] = [
  route({
    method: 'GET',
    path: '/sessions',
    least: 'viewer',
    summary: 'Conversations of this folder, the one that was active last first.',
    params: nothing,
    query: nothing,
    body: null,
    answers: sessionListSchema,
    handle: async (_, { retinue }) => ({ sessions: await retinue.sessions.list({ limit: MOST_SESSIONS }) }),
  }),
]
