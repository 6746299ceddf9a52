import type {
  JSONSchema7,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider'
import type { Message, ModelRequest, Part, ToolDefinition, ToolResult } from '../domain/index.js'
import type { Caller } from './model.js'

/** What a kind of provider wants in its requests beyond the conversation. */
export type Wire = {
  /** Goes with every request. */
  options?: SharedV3ProviderOptions
  /** For providers that cache only what is marked: see `mark`. */
  cache_mark?: SharedV3ProviderOptions
  /** OpenAI sends requests with the same key where the beginning of the last one is still remembered. */
  cache_key?: boolean
  /** OpenAI's Responses API makes optional parameters required unless it is told not to. */
  strict_tools?: boolean
  /** It tells what was used after the end mark: a stream without it was cut, and would not be counted. */
  usage_last?: boolean
}

/**
 * Turns requests into the SDK's form. Messages never change and each request starts with those of the one before,
 * so what was converted once is kept for as long as the message itself lives.
 */
export function createCallBuilder(wire: Wire): (request: ModelRequest, caller: Caller) => LanguageModelV3CallOptions {
  const messages = new WeakMap<Message, LanguageModelV3Message | null>()
  const toolLists = new WeakMap<readonly ToolDefinition[], LanguageModelV3FunctionTool[]>()
  let system: { text: string; message: LanguageModelV3Message } | null = null

  function convert(message: Message): LanguageModelV3Message | null {
    const known = messages.get(message)
    if (known !== undefined) return known
    const converted = toMessage(message)
    messages.set(message, converted)
    return converted
  }

  function toPrompt(request: ModelRequest): LanguageModelV3Prompt {
    const prompt: LanguageModelV3Prompt = []
    if (request.system !== '') {
      if (system?.text !== request.system) {
        system = {
          text: request.system,
          message: { role: 'system', content: request.system, providerOptions: wire.cache_mark },
        }
      }
      prompt.push(system.message)
    }
    for (const message of request.messages) {
      const converted = convert(message)
      if (converted) prompt.push(converted)
    }
    if (wire.cache_mark) mark(prompt, wire.cache_mark)
    return prompt
  }

  function toTools(tools: readonly ToolDefinition[]): LanguageModelV3FunctionTool[] {
    const known = toolLists.get(tools)
    if (known) return known
    const converted = tools.map((tool) => toTool(tool, wire.strict_tools))
    toolLists.set(tools, converted)
    return converted
  }

  return (request, caller) => {
    const call: LanguageModelV3CallOptions = { prompt: toPrompt(request) }
    if (request.tools.length > 0) {
      call.tools = toTools(request.tools)
      // Kept in the request: providers refuse a history with calls and no tools, and their caches start with them.
      if (request.tool_choice === 'none') call.toolChoice = { type: 'none' }
    }
    if (request.max_output_tokens !== null) call.maxOutputTokens = request.max_output_tokens
    const options = wire.cache_key ? withCacheKey(wire.options, caller) : wire.options
    if (options) call.providerOptions = options
    return call
  }
}

/**
 * Marks the end of the conversation, and where the request before this one ended: the last message before the last
 * answer. From a mark, Anthropic looks for what it knows only twenty blocks back, and an answer with ten calls and
 * their results is longer than that. With the system prompt, whose mark is its own, that is three of the four allowed.
 */
function mark(prompt: LanguageModelV3Prompt, cache_mark: SharedV3ProviderOptions): void {
  const answer = prompt.findLastIndex((message) => message.role === 'assistant')
  for (const index of new Set([answer - 1, prompt.length - 1])) {
    const message = prompt[index]
    if (message && message.role !== 'system') prompt[index] = { ...message, providerOptions: cache_mark }
  }
}

/** One conversation, one key. No longer than the 64 characters that OpenAI takes, whatever the ids are. */
function withCacheKey(options: SharedV3ProviderOptions | undefined, caller: Caller): SharedV3ProviderOptions {
  const key = `retinue-${caller.run_id}-${caller.agent_id}`
  return { ...options, openai: { ...options?.openai, promptCacheKey: key.slice(0, 64) } }
}

function toTool(tool: ToolDefinition, strict: boolean | undefined): LanguageModelV3FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: tool.parameters as JSONSchema7,
    ...(strict === undefined ? {} : { strict }),
  }
}

/** Null where nothing is left to send: providers refuse messages without content. */
function toMessage(message: Message): LanguageModelV3Message | null {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] }
    case 'assistant': {
      const content = message.parts.filter((part) => part.type !== 'text' || part.text !== '').map(toAssistantPart)
      return content.length > 0 ? { role: 'assistant', content } : null
    }
    case 'tool':
      return message.results.length > 0 ? { role: 'tool', content: message.results.map(toResultPart) } : null
  }
}

function toAssistantPart(part: Part) {
  switch (part.type) {
    case 'text':
      return { type: 'text' as const, text: part.text, providerOptions: part.provider }
    case 'reasoning':
      return { type: 'reasoning' as const, text: part.text, providerOptions: part.provider }
    case 'tool_call':
      return {
        type: 'tool-call' as const,
        toolCallId: part.wire_id,
        toolName: part.tool,
        input: readObject(part.args),
        providerOptions: part.provider,
      }
  }
}

function toResultPart(result: ToolResult) {
  return {
    type: 'tool-result' as const,
    toolCallId: result.wire_id,
    toolName: result.tool,
    output: { type: result.is_error ? ('error-text' as const) : ('text' as const), value: result.content },
  }
}

/** Providers refuse a history in which arguments are not an object; the model is told what was wrong by the result. */
function readObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}
