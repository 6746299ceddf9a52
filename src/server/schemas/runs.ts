import { z } from 'zod'
import {
  contractSchema,
  modeSchema,
  outcomeSchema,
  type RunSummary,
  resultSchema,
  type SpawnResult,
} from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { counters, earlier, names, sessionIdSchema, time, usd } from './common.js'

export const runSummarySchema = shape<RunSummary>()(
  z.strictObject({
    ...counters,
    cost_usd: usd,
    agents: z.int(),
    run_id: z.string(),
    session_id: z.string(),
    task: z.string(),
    workspace_root: z.string(),
    status: z.enum(['running', 'interrupted', 'closed']),
    paused: z.strictObject({ by: z.string(), reason: z.string() }).optional(),
    waits_for_worker: z.literal(true).optional(),
    outcome: outcomeSchema.nullable(),
    text: z.string().nullable(),
    created_at: time,
    updated_at: time,
    last_position: z.int(),
    fan_out: z.boolean(),
    plan: z.boolean(),
    said: z.string().nullable(),
  }),
)

export const listedRunSchema = runSummarySchema.extend({ asks: z.int() })

export const runListSchema = shape<wire.RunList>()(
  z.strictObject({ runs: z.array(listedRunSchema), more: z.boolean() }),
)

export const startRunSchema = shape<wire.StartRun>()(
  z.strictObject({
    task: z.string().min(1),
    plan: z.boolean().optional(),
    profile: z.string().min(1).nullable().optional(),
    model: z.string().min(1).optional(),
    mode: modeSchema.optional(),
    session_id: sessionIdSchema.optional(),
    budget: z
      .strictObject({
        turns: z.int().positive().optional(),
        tool_calls: z.int().positive().optional(),
        total_tokens: z.int().positive().optional(),
        cost_usd: z.number().positive().optional(),
        wall_ms: z.int().positive().optional(),
      })
      .optional(),
  }),
)

export const startedSchema = shape<wire.Started>()(z.strictObject({ run_id: z.string() }))

const runResultSchema = resultSchema.extend({
  run_id: z.string(),
  session_id: z.string(),
  adjustments: contractSchema.shape.adjustments,
})

export const runDetailSchema = shape<wire.RunDetail>()(
  z.strictObject({
    run: runSummarySchema,
    result: runResultSchema.nullable(),
    owned_here: z.boolean(),
    by: z.string().nullable(),
  }),
)

export const reportSchema = shape<wire.Report>()(z.strictObject({ report: z.string() }))

/** GET /api/runs/:run/results */
export const spawnResultsSchema = shape<{ results: SpawnResult[]; more: boolean }>()(
  z.strictObject({
    more: z.boolean(),
    results: z.array(
      z.strictObject({
        run_id: z.string(),
        agent_id: z.string().nullable(),
        success: z.boolean(),
        outcome: outcomeSchema,
        summary: z.string(),
        details: z.string(),
        tool_calls: z.int(),
        tokens: z.int(),
        context_tokens: z.int().nullable(),
        cost_usd: usd,
        duration_ms: z.number(),
        files_read: names,
        files_changed: names,
        receipt: resultSchema.shape.receipt.unwrap().nullable(),
        adjustments: contractSchema.shape.adjustments,
        cached_from: earlier.nullable(),
        error: z.string().nullable(),
      }),
    ),
  }),
)
