import { z } from 'zod'
import { modeSchema } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { names, time, usd } from './common.js'

export const sessionListSchema = shape<wire.SessionList>()(
  z.strictObject({
    sessions: z.array(
      z.strictObject({
        session_id: z.string(),
        owner: z.string().nullable(),
        title: z.string(),
        created_at: time,
        workspace_root: z.string(),
        model: z.string().nullable(),
        mode: modeSchema.nullable(),
        tasks: names,
        runs: z.int(),
        cost_usd: usd,
        last_at: time,
      }),
    ),
  }),
)
