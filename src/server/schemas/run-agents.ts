import { z } from 'zod'
import { agentStateSchema, budgetSchema, contractSchema, outcomeSchema, resultSchema } from '../../index.js'
import { shape } from '../shape.js'
import type * as wire from '../wire.js'
import { counters, dataOf, earlier, time } from './common.js'

export const agentListSchema = shape<wire.AgentList>()(
  z.strictObject({
    agents: z.array(
      z.strictObject({
        ...counters,
        cost_usd: z.number(),
        run_id: z.string(),
        agent_id: z.string(),
        parent_id: z.string().nullable(),
        depth: z.int(),
        step_idx: z.int(),
        state: agentStateSchema,
        outcome: outcomeSchema.nullable(),
        model: z.string(),
        created_at: time,
        updated_at: time,
      }),
    ),
  }),
)

const amounts = Object.keys(budgetSchema.shape).map((name) => [name, z.number()])

export const agentDetailSchema = shape<wire.AgentDetail>()(
  z.strictObject({
    id: z.string(),
    contract: contractSchema.nullable(),
    title: z.string(),
    task: z.string(),
    asked_by: z.strictObject({ agent_id: z.string(), call_id: z.string() }).nullable(),
    reused_from: earlier.nullable(),
    attempts: z.int(),
    worktree: dataOf('agent.worktree_created').nullable(),
    setups: z.array(dataOf('agent.setup_finished')),
    gates: z.array(dataOf('agent.gate_checked')),
    result: resultSchema.nullable(),
    final_status: z.enum(['completed', 'failed']).nullable(),
    close_reason: z.string().nullable(),
    spent: z
      .strictObject({
        amounts: z.strictObject(Object.fromEntries(amounts) as Record<keyof typeof budgetSchema.shape, z.ZodNumber>),
        priced: z.boolean(),
      })
      .nullable(),
  }),
)

export const diffSchema = shape<wire.DiffText>()(z.strictObject({ diff: z.string(), cut: z.boolean() }))
