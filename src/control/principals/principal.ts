import { PRINCIPAL_ID, PRINCIPAL_ID_FAULT, type Principal, type PrincipalRole, quoted } from '../../domain/index.js'
import { type ControlRefusal, refused } from '../done.js'

export type Principals = {
  /** The person whose process this is. */
  local: { id: string }
  /** What others may do, by name. `*`: everybody else. */
  principals: Readonly<Record<string, PrincipalRole>>
}

/**
 * Who somebody is, and what they may do. A name always means somebody else than the person at this machine. One that is
 * called the same is refused, whatever role they would have: records know people by their names alone, so the pins and
 * sessions of the one would be those of the other.
 */
export function principalOf(
  name: string | undefined,
  { local, principals }: Principals,
): { ok: true; principal: Principal } | ControlRefusal {
  if (name === undefined) return { ok: true, principal: { id: local.id, role: 'admin' } }
  if (typeof name !== 'string' || !PRINCIPAL_ID.test(name)) {
    return refused('input', `${quoted(name)} is no name of a principal: ${PRINCIPAL_ID_FAULT}.`)
  }
  if (name === local.id) {
    return refused(
      'denied',
      `${name} is the name of the person at this machine, whose pins and sessions nobody else may have: ask without a ` +
        'name to be that person, or give others another name under principals in your own configuration.',
    )
  }
  const role = Object.hasOwn(principals, name)
    ? principals[name]
    : Object.hasOwn(principals, '*')
      ? principals['*']
      : null
  if (role) return { ok: true, principal: { id: name, role } }
  return refused(
    'denied',
    `${name} may do nothing here: give them a role (viewer, operator or admin) under principals in your own configuration.`,
  )
}

/** The name of a user of this machine as that of a principal. */
export function localPrincipalId(user: string): string {
  const id = user
    .replace(/[^A-Za-z0-9._@-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64)
  return id === '' ? 'local' : id
}
