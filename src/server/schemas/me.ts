import { z } from 'zod'
import { modeSchema, principalRoleSchema } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { pinViewSchema } from './pins.js'

export const principalSchema = z.strictObject({ id: z.string(), role: principalRoleSchema })

export const meSchema = shape<wire.Me>()(
  z.strictObject({
    principal: principalSchema,
    folder: z.string(),
    version: z.string(),
    choices: z.strictObject({
      agents: z.array(z.strictObject({ name: z.string(), description: z.string() })),
      pin: pinViewSchema.nullable(),
      defaults: z.strictObject({ model: z.string().nullable(), mode: modeSchema }),
    }),
  }),
)
