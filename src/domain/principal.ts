import { z } from 'zod'

/** What a caller may do, least first: look; make agents work; decide which agents there are. */
export const PRINCIPAL_ROLES = ['viewer', 'operator', 'admin'] as const
export const principalRoleSchema = z.enum(PRINCIPAL_ROLES)
export type PrincipalRole = z.infer<typeof principalRoleSchema>

/** Fits into the id of a record as it is: nothing in it can begin another part of one. */
export const PRINCIPAL_ID = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/

export const PRINCIPAL_ID_FAULT =
  'a name of a principal begins with a letter or digit and has at most 64 letters, digits, dots, dashes, underscores and @'

/** Whoever asks for something: a person at a terminal, a program, a user of the server. */
export type Principal = { id: string; role: PrincipalRole }

export function isAtLeast(role: PrincipalRole, least: PrincipalRole): boolean {
  return PRINCIPAL_ROLES.indexOf(role) >= PRINCIPAL_ROLES.indexOf(least)
}
