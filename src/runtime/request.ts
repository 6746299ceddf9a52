import { createHash } from 'node:crypto'
import type { AgentMemory, Message, ModelRequest, Prompt, Purpose } from '../domain/index.js'
import { historyOf, historyToSummarize } from './history.js'

/** The stored parts of an agent's requests: what stays the same, and what earlier runs of the session said. */
export type Material = { prompt: Prompt; history: Message[] }

/** Room for a last report or a summary. Small, because a budget has already ended or is about to. */
const SHORT_ANSWER_TOKENS = 2000

/**
 * The request that an agent sends next: a pure function of its own stream. Every request of an agent starts with the
 * one before it, but for what was masked or summarized, so that providers' prompt caches hold.
 */
export function buildRequest(memory: AgentMemory, material: Material, purpose: Purpose): ModelRequest {
  const { system, tools } = material.prompt
  const before = historyOf(memory, material.history)
  const messages = before.length > 0 ? [...before, ...memory.messages] : memory.messages
  if (purpose === 'turn') return { system, tools, messages, tool_choice: 'auto', max_output_tokens: null }
  const recaps = purpose === 'summary' && historyToSummarize(memory, material.history) > 0
  const content = purpose === 'report' ? reportPrompt(memory) : recaps ? RECAP_PROMPT : SUMMARY_PROMPT
  return {
    system,
    tools,
    messages: [...messages, { role: 'user', content }],
    tool_choice: 'none',
    max_output_tokens: SHORT_ANSWER_TOKENS,
  }
}

function reportPrompt(memory: AgentMemory): string {
  return `${memory.exceeded?.message ?? 'The budget is used up.'} No more tools can be called. Report now, briefly: what is done, what was found, what is left.`
}

const SUMMARY_PROMPT =
  'The conversation is getting too long. Write a summary that lets you go on without it: what the task needs, what was done and found (files, lines, commands and their results that still matter), what failed, what is left. No preamble.'

const RECAP_PROMPT =
  'Do not begin with this task yet. The conversation before it is getting too long. Write a summary of that conversation to go on with instead: what was asked for and decided, what was done and found (files, lines, commands and results that still matter), what is open. No preamble.'

/**
 * Names a request by everything that is in it. The messages are digested as a chain, and each link is kept with its
 * message, so that a turn digests only what is new however long the conversation is.
 */
export function requestDigest(model: string, prompt_digest: string, request: ModelRequest): string {
  const { tool_choice, max_output_tokens } = request
  const header = `${model}\n${prompt_digest}\n${tool_choice}\n${max_output_tokens}\n`
  return createHash('sha256').update(header).update(request.messages.reduce(link, START)).digest('hex')
}

const START = Buffer.alloc(0)

/** A message's place in a chain: what came before it, and the chain with it. */
const links = new WeakMap<Message, { after: Buffer; chain: Buffer }>()

function link(after: Buffer, message: Message): Buffer {
  const known = links.get(message)
  if (known?.after === after) return known.chain
  const chain = createHash('sha256').update(after).update(JSON.stringify(message)).digest()
  links.set(message, { after, chain })
  return chain
}
