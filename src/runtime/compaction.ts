import { type AgentMemory, type Message, maskedNote } from '../domain/index.js'
import { estimateMessage } from './tokens.js'

/** Results of the last turns are what the agent is working with; they stay. */
const RECENT_TOOL_MESSAGES = 2
/** A result shorter than the note that would replace it is not worth masking. */
const WORTH_MASKING_CHARS = 400
/** Of the context, what stays word for word after a summary. */
const KEEP_TAIL = 0.2

/** Tool results to mask, oldest first, until about `tokens` are saved: the old ones, or the recent ones too. */
export function resultsToMask(memory: AgentMemory, tokens: number, which: 'old' | 'all'): string[] {
  const toolMessages = memory.messages.filter((message) => message.role === 'tool')
  const call_ids: string[] = []
  let saved = 0
  for (const message of toolMessages.slice(0, which === 'old' ? -RECENT_TOOL_MESSAGES : undefined)) {
    for (const result of message.results) {
      if (saved >= tokens) return call_ids
      if (result.content.length < WORTH_MASKING_CHARS || memory.masked.includes(result.call_id)) continue
      call_ids.push(result.call_id)
      saved += Math.round((result.content.length - maskedNote(result).length) / 4)
    }
  }
  return call_ids
}

/**
 * How many messages after the task a summary can stand for: all but a tail. The tail starts with an
 * assistant's message, because a tool result without its call is refused by every provider.
 */
export function messagesToSummarize(memory: AgentMemory): number {
  const keep_tokens = memory.contract.execution.budget.context_tokens * KEEP_TAIL
  const rest: Message[] = memory.messages.slice(1)
  let tokens = 0
  let replaced = rest.length
  for (let i = rest.length - 1; i >= 0; i--) {
    const message = rest[i] as Message
    tokens += estimateMessage(message)
    if (tokens > keep_tokens) break
    if (message.role === 'assistant') replaced = i
  }
  return replaced
}
