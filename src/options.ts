import { z } from 'zod'
import { modeSchema, networkSchema, ruleSchema } from './domain/index.js'
import { RetinueError } from './errors.js'

/** Options of a program, which a compiler may never have seen: what is not known here would be ignored in silence. */
const names = z.array(z.string())
const layers = z.array(names)
const budget = z.record(z.string(), z.number().nullish())

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
  session_id: z.string().optional(),
  person: z.unknown().optional(),
  onDelta: z.unknown().optional(),
  signal: z.unknown().optional(),
})

export function checkOptions(schema: z.ZodType, options: unknown): void {
  const { error } = schema.safeParse(options)
  if (!error) return
  const faults = error.issues.map(({ path, message }) => `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`)
  throw new RetinueError('input', `These options make no sense: ${faults.join('; ')}`)
}
