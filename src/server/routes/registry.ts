import { z } from 'zod'
import type { AgentRegistry } from '../../index.js'
import { type Route, route } from '../route.js'
import {
  agentProfileSchema,
  agentsSchema,
  putRegistrySchema,
  registrySchema,
  registryVersionsSchema,
} from '../schemas/registry.js'
import { inSession, nameOf, nothing } from './shapes.js'

/** What may be done here is decided by the control plane alone, which writes it down too; so every role may ask. */
const look = { method: 'GET', least: 'viewer', body: null } as const

const profileName = z
  .string()
  .regex(/^@?[a-z0-9][a-z0-9_.:-]{0,63}$/, 'must be the name of a profile, or a handle such as @writer')

export const REGISTRY_ROUTES: Route[] = [
  route({
    ...look,
    path: '/agents',
    summary: 'Handles, profiles and pins with what is in effect.',
    params: nothing,
    query: inSession,
    answers: agentsSchema,
    handle: async ({ query, principal }, { retinue }) =>
      retinue.control(nameOf(retinue, principal)).agents(placeOf(query)),
  }),
  route({
    ...look,
    path: '/agents/:name',
    summary: 'A profile by its name or a handle, with the entry of the registry where there is one.',
    params: z.strictObject({ name: profileName }),
    query: nothing,
    answers: agentProfileSchema,
    handle: async ({ params, principal }, { retinue }) => retinue.control(nameOf(retinue, principal)).show(params.name),
  }),
  route({
    ...look,
    path: '/registry',
    summary: 'The agent registry and its version.',
    params: nothing,
    query: nothing,
    answers: registrySchema,
    handle: async ({ principal }, { retinue }) => retinue.control(nameOf(retinue, principal)).registry(),
  }),
  route({
    ...look,
    path: '/registry/history',
    summary: 'Every version of the agent registry, oldest first.',
    params: nothing,
    query: nothing,
    answers: registryVersionsSchema,
    handle: async ({ principal }, { retinue }) => {
      const records = await retinue.control(nameOf(retinue, principal)).history()
      const versions = records.map(({ version, value, by, at }) => ({
        version,
        value: value as AgentRegistry | null,
        by,
        at,
      }))
      return { versions }
    },
  }),
  route({
    method: 'PUT',
    path: '/registry',
    least: 'viewer',
    summary: 'Replaces the agent registry, if it still has the version that was seen.',
    params: nothing,
    query: nothing,
    body: putRegistrySchema,
    answers: registrySchema,
    handle: async ({ body, principal }, { retinue }) =>
      retinue.control(nameOf(retinue, principal)).putRegistry(body.text, body.expected_version),
  }),
]

export function placeOf({ session_id }: { session_id?: string | undefined }): { session_id?: string } {
  return session_id === undefined ? {} : { session_id }
}
