import { z } from 'zod'
import { budgetSchema } from './budget.js'
import { checkSchema } from './contract.js'
import { DELEGATION_BOUNDS } from './delegation.js'
import { labelSchema } from './label.js'

/** What becomes of the rest when a step fails. `replan`: the planner is asked for another rest. */
export const onFailureSchema = z.enum(['stop', 'continue', 'replan'])
export type OnFailure = z.infer<typeof onFailureSchema>

/** How a person refers to a step: its number, or a short name. */
export const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/

/** Many more make no plan that somebody reads before they say yes to it. */
export const MAX_STEPS = 100

export const PLAN_BOUNDS = { retries: [0, 5], repair_rounds: [0, 5], replans: [0, 5] } as const

const within = ([least, most]: readonly [number, number]) => z.int().min(least).max(most)
const lines = z.array(z.string().min(1))
const stepId = z.string().regex(STEP_ID)

/** One unit of a plan: becomes one sub-agent, and another for each time that it is tried again. */
export const planStepSchema = z.strictObject({
  id: stepId,
  title: z.string().min(1),
  /** What the sub-agent is told to do. */
  description: z.string().min(1),
  /** A role, another profile, or a handle of the agent registry. null: nobody in particular. */
  agent: z.string().nullable(),
  /** Steps that must be completed first. */
  depends_on: z.array(stepId),
  /** Of the workers that may have its sub-agent. */
  label: labelSchema.optional(),
  /** Globs of what it may write. Absent: all that its agent may. Empty: nothing. */
  owns: z.array(z.string()).optional(),
  /** Of the steps that it comes after, those whose results it is given. */
  inputs: z.array(stepId),
  success_criteria: lines,
  checks: z.array(checkSchema),
  budget: budgetSchema.partial(),
  /** A person is asked before it begins. */
  needs_approval: z.boolean(),
  /** How often it is tried again, by another sub-agent that is told why the one before failed. */
  retries: within(PLAN_BOUNDS.retries),
})
export type PlanStep = z.infer<typeof planStepSchema>

/**
 * How a goal is to be reached, with everything said that a file may leave out. What must also hold, such as that there
 * are no circles, is for `planning` to say.
 */
export const planSchema = z.strictObject({
  version: z.literal(1),
  goal: z.string().min(1),
  /** What whoever made it took for granted. */
  assumptions: lines,
  /** When the goal is reached, in words: a reviewer holds the result against them. */
  completion_criteria: lines,
  /** The same for code: what must pass on the result as a whole. */
  checks: z.array(checkSchema),
  on_failure: onFailureSchema,
  /** How often the planner may change the rest of it, where `on_failure` is `replan`. */
  replans: within(PLAN_BOUNDS.replans),
  /** How often what the reviewer finds is mended. 0: it is only reported. */
  repair_rounds: within(PLAN_BOUNDS.repair_rounds),
  /** Steps at work at once. Absent: as many as the run lets. */
  max_concurrent: within(DELEGATION_BOUNDS.max_concurrent).optional(),
  steps: z.array(planStepSchema).min(1).max(MAX_STEPS),
})
export type Plan = z.infer<typeof planSchema>

/** What a plan has that does not say otherwise. */
export const PLAN_DEFAULTS = {
  assumptions: [],
  completion_criteria: [],
  checks: [],
  on_failure: 'stop',
  replans: 1,
  repair_rounds: 2,
} as const satisfies Partial<Plan>

/** The same for one of its steps, where its inputs are those of all that it depends on. */
export const STEP_DEFAULTS = {
  agent: null,
  depends_on: [],
  success_criteria: [],
  checks: [],
  budget: {},
  needs_approval: false,
  retries: 0,
} as const satisfies Partial<PlanStep>

/** What a step is for: finding out, planning, the plan's own work, looking at the result, mending it. */
export const stageSchema = z.enum(['research', 'plan', 'work', 'review', 'repair'])
export type Stage = z.infer<typeof stageSchema>

/** A step as it is carried out. */
export const stepSpecSchema = planStepSchema.extend({
  stage: stageSchema,
  /** Globs of what it may write, by whatever says so. Empty: it writes nothing. null: it takes its turn when it writes. */
  owns: z.array(z.string()).nullable(),
  /** Where it should look. */
  scope: z.string().optional(),
  /** More that its sub-agent is told. */
  context: z.string().optional(),
  /** Of the findings of the review before it, which ones it is to mend. */
  mends: z.array(z.int().min(0)).optional(),
})
export type StepSpec = z.infer<typeof stepSpecSchema>

export const stepStatusSchema = z.enum(['completed', 'failed', 'skipped'])
export type StepStatus = z.infer<typeof stepStatusSchema>

/** A fault that the reviewer found. `files`: where it is mended. */
export const findingSchema = z.strictObject({
  title: z.string().min(1),
  description: z.string().min(1),
  files: z.array(z.string()),
})
export type ReviewFinding = z.infer<typeof findingSchema>
