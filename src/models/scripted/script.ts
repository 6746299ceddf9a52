import { z } from 'zod'
import { MODEL_FAULTS, usageSchema } from '../../domain/index.js'

const strings = z.union([z.string(), z.array(z.string()).min(1)])
const regex = z.string().refine(isRegex, 'not a regular expression')

/** Stands for anything in a text that is to be alike. */
export const ANYTHING = '<*>'

/** What the last message must be like. A text stands for `contains`. All that is given must hold. */
const matcherSchema = z.union([
  z.string(),
  z
    .strictObject({
      contains: strings.optional(),
      matches: regex.optional(),
      excludes: strings.optional(),
      /** The whole text, in which `<*>` stands for anything. */
      like: z.string().optional(),
    })
    .refine((matcher) => Object.keys(matcher).length > 0, 'say what to look for: contains, matches, excludes or like'),
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

/** For answers in another order than reasoning, text, calls. */
const partSchema = z.union([
  z.strictObject({ reasoning: z.string() }),
  z.strictObject({ text: z.string() }),
  z.strictObject({ call: callSchema }),
])
export type ScriptedPart = z.infer<typeof partSchema>

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
  parts?: ScriptedPart[]
  finish_reason?: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other'
  usage?: Partial<z.infer<typeof usageSchema>>
  cost_usd?: number
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
      parts: z.array(partSchema).min(1).optional(),
      finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'other']).optional(),
      usage: usageSchema.partial().optional(),
      cost_usd: z.number().nonnegative().optional(),
      fail: failSchema.optional(),
      branches: z
        .array(z.strictObject({ when: matcherSchema.optional(), steps: z.array(stepSchema) }))
        .min(1)
        .optional(),
    })
    .superRefine((step, context) => {
      const answers = step.text !== undefined || step.calls !== undefined
      const kinds = [answers, step.parts !== undefined, step.fail !== undefined, step.branches !== undefined].filter(
        Boolean,
      ).length
      if (kinds !== 1)
        context.addIssue({ code: 'custom', message: 'a step answers (text, calls, or parts), fails or branches' })
      if (step.parts && step.reasoning !== undefined) {
        context.addIssue({ code: 'custom', path: ['reasoning'], message: 'beside parts: put it into them' })
      }
      if (step.branches && Object.keys(step).length > 1) {
        context.addIssue({ code: 'custom', message: 'nothing goes beside branches: put it into the steps of each' })
      }
    }),
)

/** For calls that must be answered in words. */
const wordsSchema = z.array(stepSchema).superRefine((steps, context) => {
  steps.forEach((step, index) => {
    const calls = step.calls ?? step.parts?.some((part) => 'call' in part)
    if (calls) context.addIssue({ code: 'custom', path: [index, 'calls'], message: 'no tools can be called here' })
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

/** An agent's id or the beginning of it with a star, and which attempt of the agent where it is for that one alone. */
const KEY = /^(?:[^*#]+\*?|\*)(?:#[1-9]\d*)?$/

const agentsSchema = z.record(z.string(), agentSchema).superRefine((agents, context) => {
  for (const key of Object.keys(agents)) {
    if (KEY.test(key)) continue
    const message = 'an agent is an id (a1), the beginning of ids (a*) or *, with #2 after it for its second attempt'
    context.addIssue({ code: 'custom', path: [key], message })
  }
})

export const scriptSchema = z.strictObject({
  /** Tokens the model says it takes. */
  window: z.int().positive().optional(),
  agents: agentsSchema,
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

/**
 * The key of a script that is for this attempt of an agent: of those for the attempt, else of those for any, the one
 * that says most of the id.
 */
export function keyFor(script: Script, agent_id: string, attempt: number): string | null {
  const starred = Array.from(
    { length: agent_id.length + 1 },
    (_, cut) => `${agent_id.slice(0, agent_id.length - cut)}*`,
  )
  const ids = [agent_id, ...starred]
  const keys = [...ids.map((id) => `${id}#${attempt}`), ...ids]
  return keys.find((key) => Object.hasOwn(script.agents, key)) ?? null
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}
