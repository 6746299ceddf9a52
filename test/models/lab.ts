import type { Message, ModelRequest, ToolDefinition } from '../../src/domain/index.js'
import {
  type Caller,
  createModels,
  type GenerateOptions,
  type Model,
  type ProviderSettings,
} from '../../src/models/index.js'
import type { ProtocolName } from '../support/loopback/index.js'

/** Never to be seen in any message. */
export const KEY = 'sk-very-secret-key-0123456789'

/** Every way from a model's name to a wire. */
export const WAYS: {
  way: string
  protocol: ProtocolName
  type: ProviderSettings['type']
  api?: 'chat' | 'responses'
}[] = [
  { way: 'openai responses', protocol: 'responses', type: 'openai', api: 'responses' },
  { way: 'openai chat', protocol: 'chat', type: 'openai', api: 'chat' },
  { way: 'openai-compatible', protocol: 'chat', type: 'openai-compatible' },
  { way: 'anthropic', protocol: 'anthropic', type: 'anthropic' },
  { way: 'google', protocol: 'google', type: 'google' },
]
export type Way = (typeof WAYS)[number]

export async function openModel(way: Way, url: string, more: Partial<ProviderSettings> = {}): Promise<Model> {
  const settings: ProviderSettings = {
    type: way.type,
    base_url: url,
    api_key_env: 'LAB_KEY',
    ...(way.api ? { api: way.api } : {}),
    ...more,
  }
  const models = createModels({ env: { LAB_KEY: KEY }, providers: { lab: settings } })
  const choice = await models.resolve('lab/gpt-5')
  if (!choice.ok) throw new Error(choice.message)
  return choice.model
}

export const READ_FILE: ToolDefinition = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}

export function ask(
  messages: Message[] = [{ role: 'user', content: 'Hello' }],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    system: 'You are a test.',
    tools: [READ_FILE],
    messages,
    tool_choice: 'auto',
    max_output_tokens: null,
    ...more,
  }
}

export const CALLER: Caller = { run_id: 'r1', agent_id: 'root', request_id: 'q1', purpose: 'turn', attempt: 1 }

export function options(more: Partial<GenerateOptions> = {}): GenerateOptions {
  return { signal: new AbortController().signal, caller: CALLER, ...more }
}
