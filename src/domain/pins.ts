import { z } from 'zod'
import { PRINCIPAL_ID, type PrincipalRole } from './principal.js'

/** Where a pin holds, the strongest first. */
export const PIN_SCOPES = ['session', 'user', 'workspace', 'global'] as const
export const pinScopeSchema = z.enum(PIN_SCOPES)
export type PinScope = z.infer<typeof pinScopeSchema>

/** The value of a pin's record. `agentId`: the handle that was pinned; then what the registry says of it holds. */
export const pinSchema = z.strictObject({ profileId: z.string(), agentId: z.string().optional() })
export type Pin = z.infer<typeof pinSchema>

/** Whose pins could hold. */
export type PinPlace = { session: string | null; user: string; workspace: string }

/** Like that of a principal it fits into the id of a record: nothing in it can begin another part of one. */
export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export const SESSION_ID_FAULT =
  'an id of a session begins with a letter or digit and has at most 64 letters, digits, dots, dashes and underscores'

const PARTS = { session: SESSION_ID, user: PRINCIPAL_ID, workspace: /^[0-9a-f]{16}$/ } as const

const GLOBAL = 'profile-pin:global'

/**
 * The id of a pin's policy record; null where there is nobody for whom it could hold. The one way in which such an id is
 * made: a part that does not look as it must is nobody too, so that no part can lead to another record.
 */
export function pinRecordId(scope: PinScope, place: PinPlace): string | null {
  if (scope === 'global') return GLOBAL
  if (!Object.hasOwn(PARTS, scope)) return null
  const id = place[scope]
  return id !== null && PARTS[scope].test(id) ? `profile-pin:${scope}:${id}` : null
}

/** The other way round; null where the id is that of no pin. `of`: whose, null for everybody's. */
export function parsePinRecordId(record_id: string): { scope: PinScope; of: string | null } | null {
  if (record_id === GLOBAL) return { scope: 'global', of: null }
  for (const scope of ['session', 'user', 'workspace'] as const) {
    const prefix = `profile-pin:${scope}:`
    const of = record_id.slice(prefix.length)
    if (record_id.startsWith(prefix) && PARTS[scope].test(of)) return { scope, of }
  }
  return null
}

/** For whom a pin holds. `of` null: for whoever asks, where they ask. */
export function scopeInWords(scope: PinScope, of: string | null): string {
  if (scope === 'session') return of === null ? 'for this session' : `for the session ${of}`
  if (scope === 'user') return of === null ? 'for you' : `for ${of}`
  if (scope === 'workspace') return of === null ? 'for this workspace' : `for the workspace ${of}`
  return 'for everybody (global)'
}

/** Of a viewer, only its own sessions and itself: whose a session is, is asked where it is known. */
const LEAST_TO_PIN: Record<PinScope, PrincipalRole> = {
  session: 'viewer',
  user: 'viewer',
  workspace: 'operator',
  global: 'operator',
}

export function leastToPin(scope: PinScope): PrincipalRole {
  // A scope that there is not is refused as such, to whoever asks.
  return Object.hasOwn(LEAST_TO_PIN, scope) ? LEAST_TO_PIN[scope] : 'viewer'
}
