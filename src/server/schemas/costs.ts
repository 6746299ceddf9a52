import { z } from 'zod'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { usd } from './common.js'

export const costsSchema = shape<wire.Costs>()(
  z.strictObject({
    rows: z.array(
      z.strictObject({
        run_id: z.string(),
        agent_id: z.string(),
        profile: z.string().nullable(),
        model: z.string(),
        day: z.string(),
        calls: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cached_tokens: z.int(),
        cost_usd: usd,
        task: z.string(),
      }),
    ),
    from: z.string(),
    more: z.boolean(),
  }),
)
