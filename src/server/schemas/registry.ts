import { z } from 'zod'
import { type ProfileView, profileSchema, type RegistryEntry } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { names, time } from './common.js'
import { pinViewSchema } from './pins.js'

const registryEntrySchema = shape<RegistryEntry>()(
  z.strictObject({
    agentId: z.string(),
    profileId: z.string(),
    description: z.string(),
    defaultForwardSkills: names.optional(),
    allowedForwardSkills: names.optional(),
    defaultMcpServers: names.optional(),
    allowedMcpServers: names.optional(),
    tags: names.optional(),
  }),
)

const profileSourceSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('role') }),
  z.strictObject({ kind: z.literal('file'), scope: z.enum(['project', 'home']), file: z.string() }),
  z.strictObject({ kind: z.literal('config'), scope: z.enum(['project', 'user']), file: z.string() }),
  z.strictObject({ kind: z.literal('options') }),
  z.strictObject({ kind: z.literal('store'), version: z.int() }),
])

const found = {
  name: z.string(),
  source: profileSourceSchema,
  notes: names,
  kept: z.record(z.string(), z.unknown()),
  shadows: z.array(profileSourceSchema),
  handles: names,
}

const profileViewSchema = shape<ProfileView>()(
  z.union([
    z.strictObject({ ...found, profile: profileSchema, fault: z.null() }),
    z.strictObject({ ...found, profile: z.null(), fault: z.string() }),
  ]),
)

export const agentsSchema = shape<wire.Agents>()(
  z.strictObject({
    registry_version: z.int(),
    agents: z.array(registryEntrySchema.extend({ fault: z.string().nullable() })),
    profiles: z.array(profileViewSchema),
    pins: z.array(pinViewSchema),
    in_effect: pinViewSchema.nullable(),
    workspace: z.string(),
  }),
)

/** GET /api/agents/:name */
export const agentProfileSchema = shape<{ profile: ProfileView; entry: RegistryEntry | null }>()(
  z.strictObject({ profile: profileViewSchema, entry: registryEntrySchema.nullable() }),
)

const registryValueSchema = z.strictObject({ version: z.literal(1), agents: z.array(registryEntrySchema) })

export const registrySchema = shape<wire.Registry>()(z.strictObject({ version: z.int(), value: registryValueSchema }))

export const putRegistrySchema = shape<wire.PutRegistry>()(
  z.strictObject({ text: z.string(), expected_version: z.int().min(0) }),
)

export const registryVersionsSchema = shape<wire.RegistryVersions>()(
  z.strictObject({
    versions: z.array(
      z.strictObject({ version: z.int(), value: registryValueSchema.nullable(), by: z.string(), at: time }),
    ),
  }),
)
