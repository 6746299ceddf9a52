import {
  type AgentMemory,
  ANSWER_TOKENS,
  type EventData,
  isOpen,
  type LimitName,
  left,
  MIN_WALL_MS,
  type Outcome,
  type PendingCall,
  type Purpose,
  planVerdict,
  textSoFar,
} from '../domain/index.js'
import { messagesToSummarize, resultsToMask } from './compaction.js'
import { isPassing, retryAfter } from './retry.js'

/** What an agent does next. */
export type Action =
  | { kind: 'ask_model'; purpose: Purpose; attempt: number; not_before: number }
  | { kind: 'call_tools'; calls: PendingCall[] }
  /** Calls whose intents were recorded by a process that died before their results were. `blind`: not to be looked at. */
  | { kind: 'recover_calls'; calls: PendingCall[]; may_repeat: boolean; blind: boolean }
  | { kind: 'mask'; call_ids: string[]; estimated_tokens: number }
  | { kind: 'exceed'; exceeded: EventData<'budget.exceeded'> }
  /** It has answered, and sub-agents are still open. */
  | { kind: 'join_children' }
  /** It ends without an answer of its own making. */
  | { kind: 'stop_children'; reason: string }
  /** Results that it never asked for. */
  | { kind: 'deliver'; ids: string[] }
  /** Its result is brought to where it belongs. `succeeded`: into the person's folder. */
  | { kind: 'land'; succeeded: boolean; outcome: Outcome }
  | { kind: 'retry'; attempt: number; after: { outcome: Outcome; reason: string | null } }
  | { kind: 'finish'; outcome: Outcome; cause: string | null; reason: string | null; text: string }

type Finish = Extract<Action, { kind: 'finish' }>

/** What the decision needs besides the agent's memory. */
export type Surroundings = {
  now: number
  /** When this attempt must be over. */
  deadline: number
  max_attempts: number
  /** Size of the request for this purpose, in tokens. */
  estimate: (purpose: Purpose) => number
  /** No request of its own takes anything from its budget. */
  unmetered?: boolean
  /** What so many tokens cost to read, in US dollars; 0 where the price is not known (no limit is accepted then). */
  price: (tokens: number) => number
  /** Calls of which several may run side by side. */
  sideBySide: (call: PendingCall) => boolean
  /** Messages of the session before it that a summary is to stand for, before anything else is done. */
  history_to_summarize?: number
}

/** Compaction starts before a request reaches its limit, and makes enough room not to start again soon. */
const COMPACT_ABOVE = 0.85
const COMPACT_TO = 0.5

/** Pure: the same memory in the same surroundings does the same. Start-up after a crash is nothing special. */
export function decide(memory: AgentMemory, around: Surroundings): Action {
  const action = next(memory, around)
  return action.kind === 'finish' ? ending(memory, around, action) : action
}

/** No agent is done before its sub-agents are closed and, where it gave its answer, their results were in it. */
function ending(memory: AgentMemory, around: Surroundings, action: Finish): Action {
  const answers = action.outcome === 'completed'
  if (memory.children.some(isOpen)) {
    if (answers) return { kind: 'join_children' }
    return { kind: 'stop_children', reason: memory.cancel?.reason ?? action.reason ?? action.outcome }
  }
  const unread = unreadResults(memory)
  if (answers && unread.length > 0) return { kind: 'deliver', ids: unread }
  const again = retry(memory, around, action)
  if (again) return again
  return needsLanding(memory) ? { kind: 'land', succeeded: answers, outcome: action.outcome } : action
}

/** A run that worked in a tree of its own is not done before its result is where it belongs. */
function needsLanding({ tree, landing, contract }: AgentMemory): boolean {
  return contract.parent.agent_id === null && tree !== null && !(landing && 'done' in landing)
}

function unreadResults(memory: AgentMemory): string[] {
  return memory.children.filter((child) => !child.delivered).map(({ id }) => id)
}

/** Another attempt, where the contract allows one, it may help, and there is something left to make it with. */
function retry(memory: AgentMemory, around: Surroundings, action: Finish): Action | null {
  const { outcome, cause, reason } = action
  const { number } = memory.attempt
  const { max_retries, budget } = memory.contract.execution
  const time_left = budget.wall_ms - memory.ledger.spent.wall_ms - Math.max(0, around.now - memory.at)
  const helps = outcome === 'timeout' || (outcome === 'error' && isPassing(cause))
  if (!helps || number > max_retries || time_left < MIN_WALL_MS || left(memory.ledger, 'turns') <= 0) return null
  if (shortOf(memory, around, 2 * (around.estimate('turn') + ANSWER_TOKENS))) return null
  return { kind: 'retry', attempt: number + 1, after: { outcome, reason } }
}

function next(memory: AgentMemory, around: Surroundings): Action {
  const interrupted = memory.calls.filter((call) => call.intent?.interrupted && !call.result)
  const over = memory.cancel !== null || around.now >= around.deadline
  if (interrupted.length > 0) {
    // Where its files are gone, nobody can look whether a call took effect.
    const blind = memory.no_tree !== null
    return { kind: 'recover_calls', calls: batch(interrupted, around.sideBySide), may_repeat: !over && !blind, blind }
  }
  if (memory.cancel) return finish(memory, 'cancelled', memory.cancel.by, cancelReason(memory.cancel))
  if (around.now >= around.deadline) return timeOut(memory, around)
  if (memory.no_tree !== null) return finish(memory, 'error', 'worktree', memory.no_tree)
  const open = memory.calls.filter((call) => !call.result)
  if (open.length > 0) return { kind: 'call_tools', calls: batch(open, around.sideBySide) }
  if (memory.failure) return afterFailure(memory, around)
  if (memory.exceeded) return report(memory, around)
  if (answered(memory)) return finish(memory, ...verdict(memory))
  return turn(memory, around)
}

function cancelReason({ by, reason }: EventData<'run.cancel_requested'>): string {
  return `cancelled by ${by}: ${reason}`
}

/** The first call, and the ones after it as long as all of them only read or delegate. */
function batch(open: PendingCall[], sideBySide: (call: PendingCall) => boolean): PendingCall[] {
  const writer = open.findIndex((call) => !sideBySide(call))
  return writer === -1 ? open : open.slice(0, Math.max(1, writer))
}

function turn(memory: AgentMemory, around: Surroundings): Action {
  if (left(memory.ledger, 'turns') <= 0) return exceed(memory, 'turns')
  const size = around.estimate('turn')
  const limit = memory.contract.execution.budget.context_tokens
  if ((around.history_to_summarize ?? 0) > 0) {
    const short = shortOf(memory, around, around.estimate('summary') + ANSWER_TOKENS)
    return short ? exceed(memory, short) : { kind: 'ask_model', purpose: 'summary', attempt: 1, not_before: around.now }
  }
  if (size > limit * COMPACT_ABOVE) {
    const smaller = compact(memory, around, size - limit * COMPACT_TO)
    if (smaller) return smaller
    if (size > limit) return exceed(memory, 'context_tokens', size)
  }
  // The report that ends a spent budget must still fit into it.
  const short = shortOf(memory, around, 2 * (size + ANSWER_TOKENS))
  // What is set aside for sub-agents comes back when they close.
  if (short && memory.children.some(isOpen)) return { kind: 'join_children' }
  if (short) return exceed(memory, short)
  return { kind: 'ask_model', purpose: 'turn', attempt: 1, not_before: around.now }
}

/** Old tool results are masked first, then the conversation is summarized; recent results go only when they must. */
function compact(memory: AgentMemory, around: Surroundings, tokens: number): Action | null {
  return mask(memory, around, tokens, 'old') ?? summarize(memory, around) ?? mask(memory, around, tokens, 'all')
}

function mask(memory: AgentMemory, around: Surroundings, tokens: number, which: 'old' | 'all'): Action | null {
  const call_ids = resultsToMask(memory, tokens, which)
  return call_ids.length > 0 ? { kind: 'mask', call_ids, estimated_tokens: around.estimate('turn') } : null
}

function summarize(memory: AgentMemory, around: Surroundings): Action | null {
  const size = around.estimate('summary')
  const hopeless = memory.summarized_at === memory.ledger.spent.turns || messagesToSummarize(memory) < 2
  if (hopeless || size > memory.contract.execution.budget.context_tokens) return null
  const short = shortOf(memory, around, size + ANSWER_TOKENS)
  if (short && memory.children.some(isOpen)) return { kind: 'join_children' }
  if (short) return exceed(memory, short)
  return { kind: 'ask_model', purpose: 'summary', attempt: 1, not_before: around.now }
}

function afterFailure(memory: AgentMemory, around: Surroundings): Action {
  const failure = memory.failure as NonNullable<AgentMemory['failure']>
  const { purpose } = failure
  if (failure.code === 'context_overflow' && purpose !== 'report') {
    const tokens = around.estimate('turn') * COMPACT_TO
    // A summary that did not fit is not asked for again before there is less to summarize.
    const smaller = purpose === 'turn' ? compact(memory, around, tokens) : mask(memory, around, tokens, 'all')
    if (smaller) return smaller
  }
  const retry = retryAfter(failure, around.max_attempts)
  if (retry.again && retry.not_before < around.deadline) {
    const short = shortOf(memory, around, around.estimate(purpose) + ANSWER_TOKENS)
    if (short && memory.children.some(isOpen)) return { kind: 'join_children' }
    if (short) return memory.exceeded ? ended(memory) : exceed(memory, short)
    return { kind: 'ask_model', purpose, attempt: failure.attempt + 1, not_before: retry.not_before }
  }
  // Without a report the work that was done is still there, and so is the reason it ended.
  if (memory.exceeded) return ended(memory)
  const waited = retry.again ? '; there is no time left to wait and try again' : ''
  return finish(memory, 'error', failure.code, `${failure.message}${waited}`)
}

/** A budget has ended: one last call without tools asks for a report, if it fits into what is left. */
function report(memory: AgentMemory, around: Surroundings): Action {
  const { limit } = memory.exceeded as EventData<'budget.exceeded'>
  const short = shortOf(memory, around, around.estimate('report') + ANSWER_TOKENS)
  if (limit === 'wall_ms' || memory.answer?.purpose === 'report' || short) return ended(memory)
  if (memory.children.some(isOpen)) return { kind: 'stop_children', reason: ended(memory).reason ?? '' }
  const unread = unreadResults(memory)
  if (unread.length > 0) return { kind: 'deliver', ids: unread }
  const excess = around.estimate('report') - memory.contract.execution.budget.context_tokens
  if (excess > 0) return mask(memory, around, excess, 'all') ?? ended(memory)
  return { kind: 'ask_model', purpose: 'report', attempt: 1, not_before: around.now }
}

/** The limit that a call of so many tokens would break. */
function shortOf(memory: AgentMemory, around: Surroundings, tokens: number): 'total_tokens' | 'cost_usd' | null {
  if (around.unmetered) return null
  if (left(memory.ledger, 'total_tokens') < tokens) return 'total_tokens'
  return left(memory.ledger, 'cost_usd') < around.price(tokens) ? 'cost_usd' : null
}

function ended(memory: AgentMemory): Finish {
  const { limit, message } = memory.exceeded as EventData<'budget.exceeded'>
  return finish(memory, limit === 'wall_ms' ? 'timeout' : 'budget_exceeded', limit, message)
}

function timeOut(memory: AgentMemory, around: Surroundings): Action {
  if (memory.exceeded) return finish(memory, 'timeout', 'wall_ms', memory.exceeded.message)
  const { budget, attempt_timeout_ms } = memory.contract.execution
  const allowed = Math.min(budget.wall_ms, attempt_timeout_ms)
  const spent = memory.ledger.spent.wall_ms + Math.max(0, around.now - memory.at)
  const message =
    spent < budget.wall_ms && allowed < budget.wall_ms
      ? `The ${allowed / 1000} seconds of this attempt are used up.`
      : exceededMessage('wall_ms', allowed)
  return {
    kind: 'exceed',
    exceeded: { limit: 'wall_ms', allowed, spent, message },
  }
}

function exceed(memory: AgentMemory, limit: LimitName, spent = memory.ledger.spent[limit]): Action {
  const allowed = memory.contract.execution.budget[limit] as number
  const message =
    limit === 'cost_usd'
      ? `The budget of ${allowed} USD has no room for another call: ${spent.toFixed(4)} USD are spent.`
      : exceededMessage(limit, allowed)
  return { kind: 'exceed', exceeded: { limit, allowed, spent, message } }
}

const WORDS: Record<LimitName, (allowed: number) => string> = {
  tool_calls: (n) => counted(n, 'tool call'),
  turns: (n) => counted(n, 'turn'),
  context_tokens: (n) => `${n} tokens for one request`,
  wall_ms: (n) => `${n / 1000} seconds`,
  total_tokens: (n) => `${n} tokens`,
  cost_usd: (n) => `${n} USD`,
  sub_agents: (n) => counted(n, 'sub-agent'),
}

function counted(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

export function exceededMessage(limit: LimitName, allowed: number): string {
  return `The budget of ${WORDS[limit](allowed)} is used up.`
}

function answered(memory: AgentMemory): boolean {
  const { answer } = memory
  return answer !== null && !answer.cut && memory.messages.at(-1)?.role === 'assistant'
}

function verdict(memory: AgentMemory): [Outcome, string | null, string | null] {
  if (memory.answer?.finish_reason !== 'content_filter') return planVerdict(memory) ?? ['completed', null, null]
  return ['error', 'content_filter', 'the provider stopped the answer']
}

function finish(memory: AgentMemory, outcome: Outcome, cause: string | null, reason: string | null): Finish {
  return { kind: 'finish', outcome, cause, reason, text: textSoFar(memory) }
}
