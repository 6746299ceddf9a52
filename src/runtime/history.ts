import type { AgentMemory, Message } from '../domain/index.js'
import { estimateMessage } from './tokens.js'

/** Of the context, what the conversation before a task may take; if it takes more, it is summarized first. */
const HISTORY_SHARE = 0.3
/** What it may take to be summarized. */
const SUMMARY_SHARE = 0.6
/** What of it stays word for word then. */
const RECENT_SHARE = 0.1

/** The conversation before the task, as the agent's model sees it. */
export function historyOf({ recap }: AgentMemory, history: Message[]): Message[] {
  if (recap === null) return history
  const content = `Summary of the conversation so far:\n${recap.summary}`
  return [{ role: 'user', content }, ...history.slice(recap.replaced)]
}

/**
 * How many messages of the conversation before the task a summary is to stand for, before anything else is done; 0 where
 * it is short enough. What stays begins where a person speaks.
 */
export function historyToSummarize(memory: AgentMemory, history: Message[]): number {
  const isFresh = memory.recap === null && memory.messages.length === 1 && memory.ledger.spent.turns === 0
  const { context_tokens } = memory.contract.execution.budget
  if (!isFresh || size(history) <= context_tokens * HISTORY_SHARE) return 0
  let replaced = history.length
  let tokens = 0
  for (let i = history.length - 1; i >= 0; i--) {
    const message = history[i] as Message
    tokens += estimateMessage(message)
    if (tokens > context_tokens * RECENT_SHARE) break
    if (message.role === 'user') replaced = i
  }
  return replaced
}

/** Tool messages at the end that are kept as they are, if they can be. */
const RECENT_TOOL_MESSAGES = 2
const WORTH_REMOVING_CHARS = 400
const LEFT_OUT = /^\[(\d+) earlier messages of this session are left out\]$/

/**
 * What a new run takes over from the session before it. Old tool results go first, then recent ones; what is still too
 * long the run summarizes, and only what would not fit into that goes altogether, up to a place where a person speaks.
 */
export function trimHistory(messages: Message[], context_tokens: number): Message[] {
  const tokens = context_tokens * HISTORY_SHARE
  if (size(messages) <= tokens) return messages
  const lean = withoutResults(messages, RECENT_TOOL_MESSAGES)
  if (size(lean) <= tokens) return lean
  const bare = withoutResults(messages, 0)
  const most = context_tokens * SUMMARY_SHARE
  let start = 0
  while (start < bare.length && (size(bare.slice(start)) > most || bare[start]?.role !== 'user')) start++
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
