import { z } from 'zod'
import { type EventData, findingSchema, planSchema, stageSchema, stepStatusSchema } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { dataOf, names, usd } from './common.js'

const authorSchema = (
  dataOf('plan.adopted') as unknown as z.ZodObject<{ by: z.ZodType<EventData<'plan.adopted'>['by']> }>
).shape.by

const used = { tool_calls: z.int(), tokens: z.int(), cost_usd: usd, duration_ms: z.number() }

export const planDetailSchema = shape<wire.PlanDetail>()(
  z.strictObject({
    run_id: z.string(),
    call_id: z.string(),
    status: z.enum(['running', 'completed', 'failed', 'made', 'left']),
    reason: z.string().nullable(),
    goal: z.string(),
    plan: planSchema.nullable(),
    revision: z.int(),
    revisions: z.array(z.strictObject({ revision: z.int(), by: authorSchema, reason: z.string().nullable() })),
    steps: z.array(
      z.strictObject({
        id: z.string(),
        stage: stageSchema,
        title: z.string(),
        agent: z.string().nullable(),
        depends_on: names,
        owns: names.nullable(),
        status: z.enum([...stepStatusSchema.options, 'waiting', 'running']),
        reason: z.string().nullable(),
        incomplete: z.boolean(),
        agent_id: z.string().nullable(),
        attempts: z.int(),
        failures: names,
        summary: z.string(),
        files_changed: names,
        files_kept: names,
        gates: z.array(
          z.strictObject({ what: z.string(), passed: z.boolean(), stage: z.enum(['before_merge', 'after_merge']) }),
        ),
        ...used,
      }),
    ),
    checks: z.array(z.strictObject({ what: z.string(), passed: z.boolean(), detail: z.string() })),
    reviews: z.array(
      z.strictObject({ step: z.string(), round: z.int(), summary: z.string(), findings: z.array(findingSchema) }),
    ),
    findings: z.array(findingSchema),
    totals: z.strictObject({ agents: z.int(), ...used }),
    report: z.string(),
  }),
)
