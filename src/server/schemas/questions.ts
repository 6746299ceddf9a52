import { z } from 'zod'
import { ruleSchema } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { names, time } from './common.js'

const asking = { agent_id: z.string(), call_id: z.string() }

export const questionsSchema = shape<wire.Questions>()(
  z.strictObject({
    questions: z.array(
      z.discriminatedUnion('kind', [
        z.strictObject({
          ...asking,
          asked_at: time,
          kind: z.literal('permission'),
          tool: z.string(),
          summary: z.string(),
          reason: z.string(),
          detail: z.string().nullable(),
          cut: z.boolean(),
          grant: ruleSchema.nullable(),
        }),
        z.strictObject({ ...asking, asked_at: time, kind: z.literal('question'), text: z.string(), options: names }),
        z.strictObject({
          ...asking,
          asked_at: time,
          kind: z.literal('approval'),
          step: z.string().nullable(),
          title: z.string(),
          faults: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
        }),
      ]),
    ),
  }),
)

export const givenAnswerSchema = shape<wire.GivenAnswer>()(
  z.discriminatedUnion('kind', [
    z.strictObject({
      ...asking,
      kind: z.literal('permission'),
      answer: z.enum(['allow', 'deny']),
      standing: z.boolean().optional(),
      note: z.string().nullable().optional(),
    }),
    z.strictObject({ ...asking, kind: z.literal('question'), text: z.string().nullable() }),
    z.strictObject({
      ...asking,
      kind: z.literal('approval'),
      step: z.string().nullable(),
      answer: z.enum(['approve', 'decline']),
      note: z.string().nullable().optional(),
      plan: z.unknown().optional(),
    }),
  ]),
)
