import { z } from 'zod'
import { MODEL_FAULTS, usageSchema } from '../../domain/index.js'

const strings = z.union([z.string(), z.array(z.string()).min(1)])
const regex = z.string().refine(isRegex, 'not a regular expression')

/** What the last message must be like. A text stands for `contains`. All that is given must hold. */
const matcherSchema = z.union([
  z.string(),
  z
    .strictObject({ contains: strings.optional(), matches: regex.optional(), excludes: strings.optional() })
    .refine((matcher) => Object.keys(matcher).length > 0, 'say what to look for: contains, matches or excludes'),
])
export type Matcher = z.infer<typeof matcherSchema>

/** `{read_file: {path: a.txt}}`, or with the arguments as the text a model might have written. */
const callSchema = z.union([
  z.strictObject({ tool: z.string(), raw_args: z.string() }),
  z
    .record(z.string(), z.record(z.string(), z.json()).nullable())
    .refine((call) => Object.keys(call).length === 1, 'one tool for each call'),
])
export type ScriptedCall = z.infer<typeof callSchema>

const failSchema = z.strictObject({
  code: z.enum(MODEL_FAULTS).exclude(['interrupted', 'aborted']),
  message: z.string().optional(),
  retry_after_ms: z.int().nonnegative().optional(),
})

/** Written out because a step contains steps. */
export type Step = {
  expect?: Matcher
  delay_ms?: number
  reasoning?: string
  text?: string
  calls?: ScriptedCall[]
  finish_reason?: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other'
  usage?: Partial<z.infer<typeof usageSchema>>
  fail?: z.infer<typeof failSchema>
  branches?: { when?: Matcher; steps: Step[] }[]
}

const stepSchema: z.ZodType<Step> = z.lazy(() =>
  z
    .strictObject({
      expect: matcherSchema.optional(),
      delay_ms: z.int().nonnegative().optional(),
      reasoning: z.string().optional(),
      text: z.string().optional(),
      calls: z.array(callSchema).min(1).optional(),
      finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'other']).optional(),
      usage: usageSchema.partial().optional(),
      fail: failSchema.optional(),
      branches: z
        .array(z.strictObject({ when: matcherSchema.optional(), steps: z.array(stepSchema) }))
        .min(1)
        .optional(),
    })
    .superRefine((step, context) => {
      const answers = step.text !== undefined || step.calls !== undefined
      const kinds = [answers, step.fail !== undefined, step.branches !== undefined].filter(Boolean).length
      if (kinds !== 1) context.addIssue({ code: 'custom', message: 'a step answers (text, calls), fails or branches' })
      if (step.branches && Object.keys(step).length > 1) {
        context.addIssue({ code: 'custom', message: 'nothing goes beside branches: put it into the steps of each' })
      }
    }),
)

/** For calls that must be answered in words. */
const wordsSchema = z.array(stepSchema).superRefine((steps, context) => {
  steps.forEach((step, index) => {
    if (step.calls) context.addIssue({ code: 'custom', path: [index, 'calls'], message: 'no tools can be called here' })
  })
})

const agentSchema = z.union([
  z.array(stepSchema),
  z.strictObject({
    steps: z.array(stepSchema).default([]),
    report: wordsSchema.optional(),
    summary: wordsSchema.optional(),
  }),
])

export const scriptSchema = z.strictObject({
  /** Tokens the model says it takes. */
  window: z.int().positive().optional(),
  /** By agent id; `*` is for every other agent. */
  agents: z.record(z.string(), agentSchema),
})
export type Script = z.infer<typeof scriptSchema>

export const LISTS = ['steps', 'report', 'summary'] as const
export type ListName = (typeof LISTS)[number]

export function listOf(script: Script, key: string, list: ListName): Step[] | null {
  const agent = script.agents[key]
  if (!agent) return null
  if (Array.isArray(agent)) return list === 'steps' ? agent : null
  return agent[list] ?? null
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}
