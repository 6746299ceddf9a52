import { userOf } from './auth.js'

/** Answers one request. */
export function handle({ method, path, authorization }, { users }) {
  const user = userOf(authorization, users)
  if (user === null) return { status: 401, body: { error: 'who are you?' } }
  if (method === 'GET' && path === '/profile') return { status: 200, body: { user } }
  return { status: 404, body: { error: 'there is nothing here' } }
}
