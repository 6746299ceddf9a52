import { z } from 'zod'

/** What a provider wants to get back unchanged with a part: signatures, item ids. Opaque to everyone else. */
const opaque = z.record(z.string(), z.record(z.string(), z.json()))

export const textPartSchema = z.strictObject({ type: z.literal('text'), text: z.string(), provider: opaque.optional() })
export const reasoningPartSchema = z.strictObject({
  type: z.literal('reasoning'),
  text: z.string(),
  provider: opaque.optional(),
})
export const toolCallPartSchema = z.strictObject({
  type: z.literal('tool_call'),
  /** Ours: unique in the agent's stream. Providers repeat theirs. */
  call_id: z.string(),
  /** The provider's, which it wants to see again with the result. */
  wire_id: z.string(),
  tool: z.string(),
  /** The text the model wrote, before anyone tried to read it. */
  args: z.string(),
  provider: opaque.optional(),
})
export type ToolCallPart = z.infer<typeof toolCallPartSchema>

export const partSchema = z.discriminatedUnion('type', [textPartSchema, reasoningPartSchema, toolCallPartSchema])
export type Part = z.infer<typeof partSchema>

export const toolResultSchema = z.strictObject({
  call_id: z.string(),
  wire_id: z.string(),
  tool: z.string(),
  content: z.string(),
  is_error: z.boolean(),
})
export type ToolResult = z.infer<typeof toolResultSchema>

export const messageSchema = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.string() }),
  z.strictObject({ role: z.literal('assistant'), parts: z.array(partSchema) }),
  z.strictObject({ role: z.literal('tool'), results: z.array(toolResultSchema) }),
])
export type Message = z.infer<typeof messageSchema>

export const toolDefinitionSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  /** JSON schema of the arguments. */
  parameters: z.record(z.string(), z.json()),
})
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>

/** The part of a request that stays the same for an agent's whole life. Stored once, named by its digest. */
export const promptSchema = z.strictObject({ system: z.string(), tools: z.array(toolDefinitionSchema) })
export type Prompt = z.infer<typeof promptSchema>

/** What is sent to a model. A pure function of the agent's own stream. */
export type ModelRequest = Prompt & {
  messages: Message[]
  tool_choice: 'auto' | 'none'
  max_output_tokens: number | null
}

export const usageSchema = z.strictObject({
  /** Everything that was read, cached tokens included. */
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  reasoning_tokens: z.int(),
})
export type Usage = z.infer<typeof usageSchema>

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  }
}

export const finishReasonSchema = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'other'])
export type FinishReason = z.infer<typeof finishReasonSchema>

export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

export function callsOf(parts: readonly Part[]): ToolCallPart[] {
  return parts.filter((part) => part.type === 'tool_call')
}
