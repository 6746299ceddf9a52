import { z } from 'zod'
import { type EventData, type EventType, MANIFEST, SESSION_ID, SESSION_ID_FAULT } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'

/**
 * The shapes of what goes over the wire are a file each subject in this folder: what bodies are checked with, and what
 * the OpenAPI document says. This is what several of them have in them.
 */

export const names = z.array(z.string())
export const time = z.int().describe('Milliseconds since 1970.')
export const usd = z.number().nullable().describe('null: the price of one of the calls is not known.')

export const counters = {
  turns: z.int(),
  tool_calls: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int(),
  unpriced_calls: z.int(),
}

export const earlier = z.strictObject({ run_id: z.string(), agent_id: z.string() })

export const sessionIdSchema = z.string().regex(SESSION_ID, SESSION_ID_FAULT)

export function dataOf<T extends EventType>(type: T): z.ZodType<EventData<T>, EventData<T>> {
  return MANIFEST.get(type)?.data as never
}

export const wireErrorSchema = shape<wire.WireError>()(
  z.strictObject({
    error: z.strictObject({
      code: z.string(),
      message: z.string().describe('What was wrong and what to do.'),
      faults: z
        .array(z.strictObject({ path: z.string(), message: z.string() }))
        .optional()
        .describe('Where, in what was sent.'),
    }),
  }),
)
