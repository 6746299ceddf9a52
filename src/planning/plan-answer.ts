import { z } from 'zod'
import { budgetSchema, MAX_STEPS, onFailureSchema, PLAN_BOUNDS } from '../domain/index.js'

const texts = () => z.array(z.string())
const [, MOST_RETRIES] = PLAN_BOUNDS.retries

const step = z.strictObject({
  title: z.string().optional().describe('one line'),
  description: z.string().describe('all that its agent is told: what to do, where, and what to leave alone'),
  agent: z.string().nullable().optional().describe('name or handle; left out: nobody in particular'),
  id: z.string().optional().describe('short name; left out: its number from 1'),
  depends_on: z
    .array(z.union([z.string(), z.int()]))
    .optional()
    .describe('ids or numbers of steps that must be completed first'),
  inputs: z
    .array(z.union([z.string(), z.int()]))
    .optional()
    .describe('of those, whose results it is given; left out: all'),
  owns: texts()
    .optional()
    .describe('globs of files it writes; [] for none. Steps that own different files run side by side'),
  success_criteria: texts().optional().describe('how one sees that it is done'),
  checks: texts().optional().describe('commands that must pass when it is done'),
  budget: budgetSchema.partial().optional().describe('left out: as usual'),
  needs_approval: z.boolean().optional().describe('a person is asked before it begins'),
  retries: z.int().min(0).max(MOST_RETRIES).optional(),
})

const answer = z.strictObject({
  version: z.literal(1),
  goal: z.string(),
  assumptions: texts().optional().describe('what you took for granted'),
  completion_criteria: texts().optional().describe('when the goal is reached; a reviewer looks at each'),
  checks: texts().optional().describe('commands that must pass on the result as a whole'),
  on_failure: onFailureSchema.optional().describe('when a step fails; left out: stop'),
  steps: z.array(step).min(1).max(MAX_STEPS),
})

/** JSON schema of a plan as the planner answers it: what a plan file may have, without what people alone decide. */
export function planJsonSchema(): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(answer, { target: 'draft-7', override: lean })
  return schema
}

/** The bounds of safe integers tell a model nothing, and cost it tokens. */
function lean({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}
