import { z } from 'zod'
import { authoritySchema } from './authority.js'
import { budgetFaults, budgetSchema } from './budget.js'
import { globFault } from './glob-fault.js'
import { labelSchema } from './label.js'
import { narrowerMode } from './modes.js'
import { outcomeSchema } from './outcome.js'
import { isolationSchema } from './workspace.js'

/** One clamp or refusal made while a contract was derived. */
export const adjustmentSchema = z.strictObject({
  field: z.string(),
  asked: z.string(),
  given: z.string(),
  reason: z.string(),
})
export type Adjustment = z.infer<typeof adjustmentSchema>

function globsIn(where: string) {
  const glob = z.string().superRefine((text, context) => {
    const message = globFault(text, where)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
  return z.array(glob)
}

/** A gate: what code checks before a sub-agent counts as completed. */
export const checkSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('command'), command: z.string().min(1) }),
  /** JSON schema that the answer, read as JSON, must fit. */
  z.strictObject({ kind: z.literal('schema'), schema: z.record(z.string(), z.json()) }),
  /** Files that must be there afterwards, each glob with at least one, and what must not have been changed. */
  z
    .strictObject({
      kind: z.literal('paths'),
      exist: globsIn('exist').optional(),
      unchanged: globsIn('unchanged').optional(),
      /** Files, by name, in which no conflict may be marked any more. */
      unmarked: z.array(z.string()).optional(),
    })
    .refine(({ exist = [], unchanged = [], unmarked = [] }) => exist.length + unchanged.length + unmarked.length > 0, {
      message: 'a check of paths says what must exist or be unchanged: give at least one path',
    }),
])
export type Check = z.infer<typeof checkSchema>

/** Where the choice of a model came from, so that a pin that was not honoured can be seen. */
export const modelSourceSchema = z.enum(['request', 'profile', 'project', 'user', 'environment', 'inherited'])
export type ModelSource = z.infer<typeof modelSourceSchema>

/** The immutable document that binds an agent. Its core and names are those of the sub-agent execution spec. */
export const contractSchema = z
  .strictObject({
    version: z.literal(1),
    parent: z.strictObject({
      run_id: z.string(),
      /** null for the root agent, whose parent is a person or a program. */
      agent_id: z.string().nullable(),
      depth: z.int().min(0),
      step_idx: z.int().min(0),
      task_prompt: z.string(),
      goal_summary: z.string(),
    }),
    agent: z.strictObject({
      handle: z.string().nullable(),
      profile_id: z.string().nullable(),
      profile_digest: z.string().nullable(),
      prompt_digest: z.string(),
    }),
    step: z.strictObject({
      title: z.string(),
      description: z.string(),
      success_criteria: z.array(z.string()),
      /** Whose results the agent was given; they are in its task. */
      inputs: z.array(z.strictObject({ from: z.string(), outcome: outcomeSchema })).optional(),
      checks: z.array(checkSchema).optional(),
    }),
    permissions: authoritySchema,
    model: z.strictObject({
      provider: z.string(),
      model: z.string(),
      source: modelSourceSchema,
      allowed: z.array(z.string()).min(1),
    }),
    execution: z.strictObject({
      attempt_timeout_ms: z.int(),
      max_retries: z.int().min(0),
      close_on_completion: z.literal(true),
      /** Of its own sub-agents, at work at once. Absent: as many as the engine lets. */
      max_concurrent: z.int().min(1).optional(),
      /** Which workers may have it: those with that label. Absent: any. */
      label: labelSchema.optional(),
      budget: budgetSchema,
    }),
    workspace: z.strictObject({
      isolation: isolationSchema,
      /** The commit the agent started from, null outside git. */
      base: z.string().nullable(),
      owns: z.array(z.string()),
      /** How the result of a run reaches the person's folder. Absent: as changes. */
      land: z.enum(['changes', 'commit', 'branch']).optional(),
    }),
    outputs: z.strictObject({
      report_format: z.literal('markdown'),
      /** null: the report is in the log alone. */
      report_path_pattern: z.string().nullable(),
    }),
    adjustments: z.array(adjustmentSchema),
  })
  .superRefine((contract, context) => {
    const narrowest = contract.permissions.rules.map((layer) => layer.mode).reduce(narrowerMode)
    if (narrowest !== contract.permissions.mode) {
      const message = `mode is ${contract.permissions.mode}, but the narrowest layer of rules is in ${narrowest} mode`
      context.addIssue({ code: 'custom', message, path: ['permissions', 'mode'] })
    }
    for (const message of budgetFaults(contract.execution.budget)) {
      context.addIssue({ code: 'custom', message, path: ['execution', 'budget'] })
    }
  })
export type Contract = z.infer<typeof contractSchema>
