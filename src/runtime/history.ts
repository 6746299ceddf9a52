import type { Message } from '../domain/index.js'
import { estimateMessage } from './tokens.js'

/** Tool messages at the end that are kept as they are. */
const RECENT_TOOL_MESSAGES = 2
const WORTH_REMOVING_CHARS = 400

/**
 * What a new run takes over from the session before it: as much as fits into `tokens`. Old tool results go first,
 * then the oldest messages, up to a place where a person speaks.
 */
export function trimHistory(messages: Message[], tokens: number): Message[] {
  if (size(messages) <= tokens) return messages
  const lean = withoutOldResults(messages)
  let start = 0
  while (start < lean.length && (size(lean.slice(start)) > tokens || lean[start]?.role !== 'user')) start++
  if (start === 0) return lean
  return [{ role: 'user', content: `[${start} earlier messages of this session are left out]` }, ...lean.slice(start)]
}

function withoutOldResults(messages: Message[]): Message[] {
  const last = messages.filter((message) => message.role === 'tool').slice(-RECENT_TOOL_MESSAGES)
  return messages.map((message) => {
    if (message.role !== 'tool' || last.includes(message)) return message
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
