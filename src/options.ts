import { z } from 'zod'
import {
  budgetFaults,
  budgetSchema,
  checkSchema,
  DELEGATION_BOUNDS,
  modeSchema,
  networkSchema,
  outcomeSchema,
  PROFILE_NAME,
  PROFILE_NAME_FAULT,
  profileFaults,
  profileSchema,
  reportPathFault,
  ruleSchema,
} from './domain/index.js'
import { RetinueError } from './errors.js'

/** Options of a program, which a compiler may never have seen: what is not known here would be ignored in silence. */
const names = z.array(z.string())
const layers = z.array(names)
const budget = z.record(z.string(), z.number().nullish())

const within = ([least, most]: readonly [number, number]) => z.int().min(least).max(most)

const soundBudget = budgetSchema.partial().superRefine((limits, context) => {
  for (const message of budgetFaults(limits)) context.addIssue({ code: 'custom', message })
})

const delegationSchema = z.strictObject({
  enabled: z.boolean().optional(),
  max_depth: within(DELEGATION_BOUNDS.max_depth).optional(),
  budget: soundBudget.optional(),
  max_retries: within(DELEGATION_BOUNDS.max_retries).optional(),
  models: names.optional(),
  ask_person: z.boolean().optional(),
  report_path_pattern: z
    .string()
    .superRefine((pattern, context) => {
      const message = reportPathFault(pattern)
      if (message !== null) context.addIssue({ code: 'custom', message })
    })
    .nullish(),
  profiles: z
    .record(
      z.string().regex(PROFILE_NAME, PROFILE_NAME_FAULT),
      profileSchema.extend({ budget: soundBudget.optional() }).superRefine((profile, context) => {
        for (const { path, message } of profileFaults(profile)) context.addIssue({ code: 'custom', path, message })
      }),
    )
    .optional(),
})

const settingsSchema = z.strictObject({
  model: z.strictObject({ name: z.string(), source: z.string() }).optional(),
  mode: modeSchema.optional(),
  rules: z.array(ruleSchema).optional(),
  tools: names.optional(),
  read_paths: layers.optional(),
  write_paths: layers.optional(),
  network: networkSchema.optional(),
  mcp_servers: names.optional(),
  mcp_tools: layers.optional(),
  skills: names.optional(),
  sandbox: z.enum(['on', 'off']).optional(),
  secrets: names.optional(),
  budget: budget.optional(),
  instructions: z.strictObject({ take: z.enum(['all', 'first']), files: names }).optional(),
  limits: z.record(z.string(), z.number()).optional(),
  max_attempts: z.int().min(1).optional(),
  model_timeout_ms: z.number().positive().optional(),
  max_concurrent: z.int().min(1).optional(),
  delegation: delegationSchema.optional(),
})

const serverSchema = z.looseObject({ name: z.string(), settings: z.looseObject({}), trusted: z.boolean() })

export const retinueOptionsSchema = z.strictObject({
  cwd: z.string().optional(),
  store: z.unknown().optional(),
  models: z.unknown().optional(),
  env: z.unknown().optional(),
  host: z.unknown().optional(),
  settings: settingsSchema.optional(),
  reach: z
    .union([
      z.strictObject({
        servers: z.array(serverSchema).optional(),
        skills: z.array(z.looseObject({ name: z.string() })).optional(),
        web: z.looseObject({}).optional(),
        tests: z.looseObject({}).optional(),
        notes: names.optional(),
      }),
      z.custom((value) => typeof value === 'function'),
    ])
    .optional(),
  secrets: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
})

export const runOptionsSchema = z.strictObject({
  task: z.unknown(),
  model: z.string().optional(),
  mode: modeSchema.optional(),
  network: networkSchema.optional(),
  budget: budget.optional(),
  delegation: z
    .strictObject({
      enabled: z.boolean().optional(),
      max_depth: z.int().min(0).optional(),
      max_concurrent: z.int().min(1).optional(),
    })
    .optional(),
  session_id: z.string().optional(),
  person: z.unknown().optional(),
  onDelta: z.unknown().optional(),
  signal: z.unknown().optional(),
})

const spawnTaskSchema = z.strictObject({
  task: z.string().refine((task) => task.trim() !== '', 'the task is empty: say what is to be done'),
  title: z.string().optional(),
  profile: z.string().optional(),
  context: z.string().optional(),
  scope: z.string().optional(),
  system_prompt: z.string().optional(),
  tools: names.optional(),
  mode: modeSchema.optional(),
  model: z.string().optional(),
  owns: names.optional(),
  checks: z.array(checkSchema).optional(),
  success_criteria: names.optional(),
  inputs: z
    .array(z.strictObject({ from: z.string(), title: z.string(), outcome: outcomeSchema, text: z.string() }))
    .optional(),
  budget: budget.optional(),
  max_retries: within(DELEGATION_BOUNDS.max_retries).optional(),
  cache: z.boolean().optional(),
})

export const spawnTasksSchema = z.strictObject({
  tasks: z.array(spawnTaskSchema).min(1, 'no tasks: give at least one'),
})

export const fanOutOptionsSchema = runOptionsSchema
  .omit({ task: true, delegation: true })
  .extend({ maxConcurrent: z.int().min(1).optional() })

export function checkOptions(schema: z.ZodType, options: unknown): void {
  const { error } = schema.safeParse(options)
  if (!error) return
  const faults = error.issues.map(({ path, message }) => `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`)
  throw new RetinueError('input', `These options make no sense: ${faults.join('; ')}`)
}
