import { z } from 'zod'
import { usageSchema } from './messages.js'
import { outcomeSchema } from './outcome.js'
import { landingSchema, receiptSchema } from './receipt.js'

/** What an agent's work came to. Status comes first because it is what the reader must not miss. */
export const resultSchema = z.strictObject({
  outcome: outcomeSchema,
  /** What ended it, as a name a program can read: the limit that was exceeded, the fault of the model. */
  cause: z.string().nullable(),
  /** The same in words, for a person. null where the outcome says it all. */
  reason: z.string().nullable(),
  text: z.string(),
  turns: z.int(),
  tool_calls: z.int(),
  /** Its own and that of all below it. */
  usage: usageSchema,
  /** Of all its model calls and those below it. null when the price of one of them is not known. */
  cost_usd: z.number().nullable(),
  files_read: z.array(z.string()),
  files_changed: z.array(z.string()),
  duration_ms: z.int(),
  /** How many sub-agents there were below it. Absent: none. */
  sub_agents: z.int().optional(),
  /** The size of its last request. Absent: not known. */
  context_tokens: z.int().optional(),
  /** Of a sub-agent that worked in a worktree of its own. */
  receipt: receiptSchema.optional(),
  /** Work of sub-agents, at any depth, that is in their own trees alone. Absent: none. */
  kept_work: z
    .array(z.strictObject({ agent_id: z.string(), outcome: outcomeSchema, branch: z.string(), path: z.string() }))
    .optional(),
  /** Of a run that worked in a tree of its own. */
  landing: landingSchema.optional(),
})
export type AgentResult = z.infer<typeof resultSchema>
