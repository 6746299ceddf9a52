import { isAtLeast, type PinScope, type Principal, type PrincipalRole } from '../../domain/index.js'
import { type ControlRefusal, refused } from '../done.js'

/** Who may do what: the least role for everything that the control plane does. */
export const LEAST = {
  help: 'viewer',
  agents: 'viewer',
  'agents show': 'viewer',
  'agents registry': 'viewer',
  'agents history': 'viewer',
  'agents registry put': 'operator',
  'agents register': 'operator',
  'agents unregister': 'operator',
  'agents put': 'operator',
  'agents remove': 'operator',
  audit: 'operator',
} as const satisfies Record<string, PrincipalRole>

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

/** Why a principal may not do something, or null. `what`: as in "to pin for global". */
export function denial({ id, role }: Principal, least: PrincipalRole, what: string): ControlRefusal | null {
  if (isAtLeast(role, least)) return null
  const needed = least === 'admin' ? 'the role admin' : `the role ${least} or more`
  return refused('denied', `Denied: ${what} needs ${needed}, and ${id} is ${role}.`)
}
