import { isAtLeast, type Principal, type PrincipalRole } from '../../domain/index.js'
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

/** Why a principal may not do something, or null. `what`: as in "to pin for global". */
export function denial({ id, role }: Principal, least: PrincipalRole, what: string): ControlRefusal | null {
  if (isAtLeast(role, least)) return null
  const needed = least === 'admin' ? 'the role admin' : `the role ${least} or more`
  return refused('denied', `Denied: ${what} needs ${needed}, and ${id} is ${role}.`)
}
