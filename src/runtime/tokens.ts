import type { AgentMemory, Message, Prompt, Purpose } from '../domain/index.js'
import { historyOf } from './history.js'
import type { Material } from './request.js'

/**
 * Bytes to a token: English and code have three to four characters to one, other scripts about three bytes. Coarse on
 * purpose: it is only used for what came since the provider last counted, and a real tokenizer costs a tenth of a turn.
 */
const BYTES_PER_TOKEN = 3.5

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
  return estimatePrompt(material.prompt) + sum(historyOf(memory, material.history)) + sum(memory.messages) + closing
}

/** The size of the first request of an agent that is told this. */
export function estimateFirst(prompt: Prompt, task: string): number {
  return estimatePrompt(prompt) + estimateText(task) + 4
}

export function estimateMessage(message: Message): number {
  let tokens = sizes.get(message)
  if (tokens === undefined) {
    tokens = estimateText(textOfMessage(message)) + 4
    sizes.set(message, tokens)
  }
  return tokens
}

function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

function sum(messages: Message[]): number {
  return messages.reduce((total, message) => total + estimateMessage(message), 0)
}

function estimatePrompt(prompt: Prompt): number {
  let tokens = prompts.get(prompt.tools)
  if (tokens === undefined) {
    tokens = estimateText(JSON.stringify(prompt.tools))
    prompts.set(prompt.tools, tokens)
  }
  return tokens + estimateText(prompt.system)
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
