import { isAtLeast, leastToPin, type PinScope, type Principal } from '#domain'
import type { Session } from '../data'

/** Why somebody may not pin there, in the server's words, or null. The server decides; this is for what is offered. */
export function whyNotPin({ id, role }: Principal, scope: PinScope): string | null {
  const least = leastToPin(scope)
  return isAtLeast(role, least) ? null : `needs the role ${least} or more, and ${id} is ${role}`
}

/** The sessions in which somebody may pin: a viewer, in its own. */
export function sessionsToPinIn(sessions: readonly Session[], { id, role }: Principal): Session[] {
  return isAtLeast(role, 'operator') ? [...sessions] : sessions.filter(({ owner }) => owner === id)
}

/** A session as people know it again. */
export function sessionName({ session_id, title }: Pick<Session, 'session_id' | 'title'>): string {
  return title === '' ? session_id : `${title} (${session_id.slice(0, 12)})`
}
