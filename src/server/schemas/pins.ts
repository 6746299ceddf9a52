import { z } from 'zod'
import { type PinView, pinScopeSchema } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { sessionIdSchema, time } from './common.js'

export const pinViewSchema = shape<PinView>()(
  z.strictObject({
    scope: pinScopeSchema,
    record_id: z.string(),
    profile_id: z.string(),
    handle: z.string().nullable(),
    fault: z.string().nullable(),
    by: z.string(),
    at: time,
  }),
)

export const putPinSchema = shape<wire.PutPin>()(
  z.strictObject({ name: z.string().min(1), session_id: sessionIdSchema.optional() }),
)

export const pinDoneSchema = shape<wire.PinDone>()(z.strictObject({ pin: pinViewSchema, scope: pinScopeSchema }))
