import { z } from 'zod'
import {
  type Budget,
  budgetFaults,
  budgetSchema,
  checkSchema,
  DELEGATION_BOUNDS,
  isolationSchema,
  type LimitName,
  labelSchema,
  labelsSchema,
  landSchema,
  MIN_CHILD_TOKENS,
  modeSchema,
  networkSchema,
  outcomeSchema,
  PROFILE_NAME,
  PROFILE_NAME_FAULT,
  type Profile,
  principalRoleSchema,
  profileFaults,
  profileSchema,
  reportPathFault,
  ruleSchema,
  unknownLimits,
  WORKER_BOUNDS,
} from '../domain/index.js'
import { RetinueError } from './errors.js'

/** More than that is no preparation any more. */
const MOST_QUESTIONS = 10

/** Options of a program, which a compiler may never have seen: what is not known here would be ignored in silence. */
const names = z.array(z.string())
const layers = z.array(names)

const within = ([least, most]: readonly [number, number]) => z.int().min(least).max(most)

const limits: Record<string, z.ZodType> = budgetSchema.shape

/** Limits of an agent, each with a path of its own. `least`: less than this makes no sense for whom it is. */
function budget(least: Partial<Budget> = {}) {
  return z.custom<object>(isObject, 'must be an object with limits').superRefine((given, context) => {
    const add = (message: string, path: string[] = []) => context.addIssue({ code: 'custom', path, message })
    for (const message of unknownLimits(given)) add(message)
    for (const [name, value] of Object.entries(given)) {
      const message = value === undefined ? null : limitFault(name as LimitName, value, least)
      if (message !== null) add(message, [name])
    }
  })
}

function limitFault(name: LimitName, value: unknown, least: Partial<Budget>): string | null {
  const schema = limits[name]
  if (!schema) return null
  if (!schema.safeParse(value).success) {
    const kind = name === 'cost_usd' ? 'a number' : 'a whole number'
    return schema.safeParse(null).success ? `must be ${kind}, or null for no limit` : `must be ${kind}`
  }
  const [fault] = budgetFaults({ [name]: value })
  if (fault) return fault.slice(name.length + 1)
  const most = least[name] ?? 0
  return value !== null && (value as number) < most ? `must be at least ${most}` : null
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const delegationSchema = z.strictObject({
  enabled: z.boolean().optional(),
  max_depth: within(DELEGATION_BOUNDS.max_depth).optional(),
  budget: budget().optional(),
  max_retries: within(DELEGATION_BOUNDS.max_retries).optional(),
  models: names.optional(),
  ask_person: z.boolean().optional(),
  roles: z.boolean().optional(),
  test_paths: names.optional(),
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
      profileSchema
        .extend({ budget: budget().optional(), max_retries: within(DELEGATION_BOUNDS.max_retries).optional() })
        .superRefine((profile, context) => {
          for (const { path, message } of profileFaults(profile as Profile)) {
            context.addIssue({ code: 'custom', path, message })
          }
        }),
    )
    .optional(),
})

const workspaceSchema = z.strictObject({
  isolation: z.enum(['worktree', 'shared']).optional(),
  setup: z
    .string()
    .refine((command) => command.trim() !== '', 'an empty command sets nothing up: give null for none')
    .nullish(),
  repair: z.boolean().optional(),
  land: landSchema.optional(),
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
  budget: budget().optional(),
  instructions: z.strictObject({ take: z.enum(['all', 'first']), files: names }).optional(),
  limits: z.record(z.string(), z.number()).optional(),
  max_attempts: z.int().min(1).optional(),
  model_timeout_ms: z.number().positive().optional(),
  max_concurrent: z.int().min(1).optional(),
  labels: labelsSchema.optional(),
  workspace: workspaceSchema.optional(),
  delegation: delegationSchema.optional(),
  principals: z.record(z.string(), principalRoleSchema).optional(),
  profiles: z.undefined('there is no such setting: profiles go under delegation.profiles').optional(),
})

const serverSchema = z.looseObject({ name: z.string(), settings: z.looseObject({}), trusted: z.boolean() })

export const retinueOptionsSchema = z.strictObject({
  cwd: z.string().optional(),
  store: z.unknown().optional(),
  engine: z.enum(['local', 'dbos']).optional(),
  project: z.string().min(1).optional(),
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
  profiles: z.custom((value) => typeof value === 'function', 'must be a function that finds profiles').optional(),
  secrets: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
})

/** What a worker is told besides what a Retinue is. */
export const workerOptionsSchema = z.object({
  concurrency: within(WORKER_BOUNDS).optional(),
  labels: labelsSchema.optional(),
  at_once: within(WORKER_BOUNDS).optional(),
  per_run: within(WORKER_BOUNDS).optional(),
})

export const runOptionsSchema = z.strictObject({
  task: z.unknown(),
  profile: z.string().nullish(),
  principal: z.string().optional(),
  model: z.string().optional(),
  mode: modeSchema.optional(),
  network: networkSchema.optional(),
  budget: budget().optional(),
  delegation: z
    .strictObject({
      enabled: z.boolean().optional(),
      max_depth: z.int().min(0).max(DELEGATION_BOUNDS.max_depth[1]).optional(),
    })
    .optional(),
  land: landSchema.optional(),
  session_id: z.string().optional(),
  person: z.unknown().optional(),
  onDelta: z.unknown().optional(),
  signal: z.custom(isSignal, 'must be an AbortSignal').optional(),
})

export const watchingSchema = runOptionsSchema.pick({ principal: true, person: true, onDelta: true, signal: true })

/** By what it can do: a signal of another realm is one too. */
function isSignal(value: unknown): value is AbortSignal {
  return value instanceof Object && 'aborted' in value && typeof (value as AbortSignal).addEventListener === 'function'
}

/** The signal of options that nobody has looked at yet; one that is none is refused with the rest of them. */
export function signalOf(options: unknown): AbortSignal | undefined {
  const { signal } = (options ?? {}) as { signal?: unknown }
  return isSignal(signal) ? signal : undefined
}

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
  skills: names.optional(),
  mcp_servers: names.optional(),
  owns: names.optional(),
  isolation: isolationSchema.optional(),
  checks: z.array(checkSchema).optional(),
  success_criteria: names.optional(),
  inputs: z
    .array(z.strictObject({ from: z.string(), title: z.string(), outcome: outcomeSchema, text: z.string() }))
    .optional(),
  budget: budget({ total_tokens: MIN_CHILD_TOKENS }).optional(),
  max_retries: within(DELEGATION_BOUNDS.max_retries).optional(),
  label: labelSchema.optional(),
  cache: z.boolean().optional(),
})

export const spawnTasksSchema = z.strictObject({
  tasks: z.array(spawnTaskSchema).min(1, 'no tasks: give at least one'),
})

export const fanOutOptionsSchema = runOptionsSchema
  .omit({ task: true, profile: true })
  .extend({ maxConcurrent: z.int().min(1).optional(), said: z.string().min(1).optional() })

export const planOptionsSchema = fanOutOptionsSchema
  .omit({ said: true })
  .extend({ approve: z.enum(['ask', 'steps', 'yes']).optional() })

export const goalOptionsSchema = planOptionsSchema.extend({
  research: z.union([z.boolean(), z.array(z.string().min(1)).max(MOST_QUESTIONS)]).optional(),
  execute: z.boolean().optional(),
  context: z.string().optional(),
})

export const openOptionsSchema = z.strictObject({
  cwd: z.string('must be the path of the project folder'),
  env: z.custom(isObject, 'must be an object with environment variables, such as process.env'),
  store: z.string().optional(),
  engine: z.enum(['local', 'dbos']).optional(),
  max_concurrent: within(DELEGATION_BOUNDS.max_concurrent).optional(),
})

export function checkOptions(schema: z.ZodType, options: unknown): void {
  const { error } = schema.safeParse(options)
  if (!error) return
  throw new RetinueError('input', `These options make no sense: ${error.issues.map(inWords).join('; ')}`)
}

function inWords({ path, message }: { path: PropertyKey[]; message: string }): string {
  if (path.length === 0) return message
  return `${path.join('.')}${message.startsWith('must ') ? '' : ':'} ${message}`
}

/**
 * A copy of what the caller gave, made now, because it may be changed while the work is under way. What cannot be copied
 * or written down is an error for whoever asks for it.
 */
export function copied<T>(name: string, value: T): () => T {
  try {
    const copy = structuredClone(value)
    JSON.stringify(copy)
    return () => copy
  } catch (error) {
    const { message } = error as Error
    return () => {
      throw new RetinueError('input', `${name} must be plain data that can be written as JSON: ${message}`)
    }
  }
}
