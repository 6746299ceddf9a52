import type { Message } from '../domain/index.js'
import { estimateMessage } from './tokens.js'

/** Tool messages at the end that are kept as they are, if they can be. */
const RECENT_TOOL_MESSAGES = 2
const WORTH_REMOVING_CHARS = 400
const LEFT_OUT = /^\[(\d+) earlier messages of this session are left out\]$/

/**
 * What a new run takes over from the session before it: as much as fits into `tokens`. Old tool results go first, then
 * recent ones, and only then the oldest messages, up to a place where a person speaks.
 */
export function trimHistory(messages: Message[], tokens: number): Message[] {
  if (size(messages) <= tokens) return messages
  const lean = withoutResults(messages, RECENT_TOOL_MESSAGES)
  if (size(lean) <= tokens) return lean
  const bare = withoutResults(messages, 0)
  let start = 0
  while (start < bare.length && (size(bare.slice(start)) > tokens || bare[start]?.role !== 'user')) start++
  if (start === 0) return bare
  const left_out = bare.slice(0, start).reduce((total, message) => total + standsFor(message), 0)
  return [
    { role: 'user', content: `[${left_out} earlier messages of this session are left out]` },
    ...bare.slice(start),
  ]
}

/** A note about messages that were left out earlier stands for those. */
function standsFor(message: Message): number {
  return message.role === 'user' ? Number(LEFT_OUT.exec(message.content)?.[1] ?? 1) : 1
}

function withoutResults(messages: Message[], recent: number): Message[] {
  const tools = messages.filter((message) => message.role === 'tool')
  const kept = new Set(tools.slice(tools.length - recent))
  return messages.map((message) => {
    if (message.role !== 'tool' || kept.has(message)) return message
    const results = message.results.map((result) =>
      result.content.length < WORTH_REMOVING_CHARS
        ? result
        : { ...result, content: `[${result.content.length} characters of an earlier run left out]` },
    )
    return { ...message, results }
  })
}

function size(messages: Message[]): number {
  return messages.reduce((total, message) => total + estimateMessage(message), 0)
}
