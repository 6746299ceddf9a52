import { estimateTokenCount } from 'tokenx'
import type { AgentMemory, Message, Prompt, Purpose } from '../domain/index.js'
import type { Material } from './request.js'

/** What the closing question of a report or a summary adds. */
const CLOSING_TOKENS = 100

/**
 * How large an agent's next request will be. The provider's own count of the last one is the truth for the part that
 * was in it; only what came since is estimated.
 */
export function estimateRequest(memory: AgentMemory, material: Material, purpose: Purpose): number {
  const closing = purpose === 'turn' ? 0 : CLOSING_TOKENS
  const known = memory.measured
  if (known) return known.tokens + sum(memory.messages.slice(known.messages)) + closing
  return estimatePrompt(material.prompt) + sum(material.history) + sum(memory.messages) + closing
}

export function estimateMessage(message: Message): number {
  let tokens = sizes.get(message)
  if (tokens === undefined) {
    tokens = estimateTokenCount(textOfMessage(message)) + 4
    sizes.set(message, tokens)
  }
  return tokens
}

function sum(messages: Message[]): number {
  return messages.reduce((total, message) => total + estimateMessage(message), 0)
}

function estimatePrompt(prompt: Prompt): number {
  let tokens = prompts.get(prompt.tools)
  if (tokens === undefined) {
    tokens = estimateTokenCount(JSON.stringify(prompt.tools))
    prompts.set(prompt.tools, tokens)
  }
  return tokens + estimateTokenCount(prompt.system)
}

const sizes = new WeakMap<Message, number>()
const prompts = new WeakMap<Prompt['tools'], number>()

function textOfMessage(message: Message): string {
  switch (message.role) {
    case 'user':
      return message.content
    case 'assistant':
      return message.parts.map((part) => (part.type === 'tool_call' ? part.tool + part.args : part.text)).join('\n')
    case 'tool':
      return message.results.map((result) => result.content).join('\n')
  }
}
