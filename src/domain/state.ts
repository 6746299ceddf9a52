import { type Ledger, openLedger, spend } from './budget.js'
import { type Child, told, withChildren } from './children.js'
import type { Contract } from './contract.js'
import { type Corruption, CorruptLogError } from './corruption.js'
import type { AgentEvent, EventData, ModelFault, Purpose } from './events.js'
import { type AgentState, endState, mayFollow } from './lifecycle.js'
import {
  addUsage,
  callsOf,
  type FinishReason,
  type Message,
  NO_USAGE,
  type ToolCallPart,
  type ToolResult,
  textOf,
  type Usage,
} from './messages.js'
import { isAsked, type PlanState, withPlan } from './plan-state.js'
import type { Landing } from './receipt.js'
import type { AgentResult } from './result.js'
import type { Rule } from './rules.js'
import { union } from './union.js'

/** One tool call of the turn that is under way. */
export type PendingCall = {
  part: ToolCallPart
  /** `rested`: it was left because all that it did was to wait for others. Nothing of it was cut short. */
  intent: (EventData<'tool.called'> & { interrupted: boolean; rested?: true }) | null
  result: ToolResult | null
}

export type Failure = {
  purpose: Purpose
  code: ModelFault
  message: string
  retry_after_ms: number | null
  at: number
  attempt: number
}

/** All that is known about one agent: a fold over its own stream and nothing else. */
export type AgentMemory = {
  run_id: string
  agent_id: string
  seq: number
  /** Time of the last event, from which active time is counted. */
  at: number
  contract: Contract
  task: string
  history_digest: string | null
  /** What stands for the beginning of the history, and for how many of its messages. */
  recap: { summary: string; replaced: number } | null
  /** The conversation after the history, masked and summarized as recorded. */
  messages: Message[]
  request: Pick<
    EventData<'model.requested'>,
    'request_id' | 'purpose' | 'attempt' | 'estimated_tokens' | 'estimated_usd'
  > | null
  failure: Failure | null
  /** The last answer of the model that was not a summary. */
  answer: { purpose: Purpose; finish_reason: FinishReason; cut: boolean; text: string } | null
  calls: PendingCall[]
  /** How many calls the model has made, to number the next one. */
  calls_made: number
  /** Tokens of the last request and answer as the provider counted them, and how many messages those were. */
  measured: { tokens: number; messages: number } | null
  ledger: Ledger
  usage: Usage
  /** Whether every call so far had a price. What is known is in the ledger. */
  priced: boolean
  /** What a person allowed for the rest of the run. */
  grants: Rule[]
  masked: string[]
  /** Turns that had been taken at the last summary; a second one without a turn in between would gain nothing. */
  summarized_at: number | null
  outputs: Record<string, { digest: string; bytes: number }>
  files_read: string[]
  files_changed: string[]
  /** Its sub-agents, in the order of their creation. */
  children: Child[]
  /** How many sub-agents earlier runs of the session had, to number the next one. */
  children_before: number
  /** Plans that it carries out, in the order in which they were begun. */
  plans: PlanState[]
  /** The tree of its own that it works in. null: it works where its parent does, the root in the person's folder. */
  tree:
    | (Pick<EventData<'agent.worktree_created'>, 'branch' | 'path' | 'base' | 'checkout'> & {
        /** The last of it that others can have; absent: what it began with. */
        carried?: Pick<EventData<'agent.files_carried'>, 'commit' | 'uncommittable'>
      })
    | null
  /** Why it can have none, although it needs one. */
  no_tree: string | null
  /** How its result reaches the person's folder: under way, or done. */
  landing: { under_way: EventData<'run.landing'> } | { done: Landing } | null
  /** Which attempt at its task this is, and how much time the ones before it took. */
  attempt: { number: number; wall_ms_before: number; text_before: string }
  /** Questions that a person has not answered yet. */
  questions: number
  /** Whether it waits until it may write. */
  awaits_tree: boolean
  exceeded: EventData<'budget.exceeded'> | null
  cancel: EventData<'run.cancel_requested'> | null
  result: AgentResult | null
  state: AgentState
}

export function foldAgent(events: Iterable<AgentEvent>): AgentMemory | null {
  let memory: AgentMemory | null = null
  for (const event of events) memory = reduce(memory, event)
  return memory
}

/** What an agent knows after one more event. Pure: same log, same state. */
export function reduce(memory: AgentMemory | null, event: AgentEvent): AgentMemory | null {
  if (event.seq !== (memory?.seq ?? 0) + 1 && !(memory === null && event.seq <= 2)) {
    throw corrupt(event, 'sequence_gap', `expected event ${(memory?.seq ?? 0) + 1}`)
  }
  if (event.type === 'run.created') {
    if (memory !== null) throw corrupt(event, 'already_started', 'run.created after the start')
    return null
  }
  if (event.type === 'agent.started' || event.type === 'agent.subagent_started') {
    if (memory !== null) throw corrupt(event, 'already_started', `${event.type} after the start`)
    return start(event)
  }
  if (memory === null) throw corrupt(event, 'not_started', `${event.type} before the agent was started`)
  if (memory.result !== null && event.type !== 'run.closed') {
    throw corrupt(event, 'already_finished', `${event.type} after the agent had its result`)
  }
  const next = apply(memory, event)
  return { ...next, seq: event.seq, at: event.at, ledger: spend(next.ledger, { wall_ms: activeTime(memory, event) }) }
}

function start(event: Extract<AgentEvent, { type: 'agent.started' | 'agent.subagent_started' }>): AgentMemory {
  const { contract, task } = event.data
  // A sub-agent knows nothing of what was said before it was there.
  const {
    history_digest,
    calls_before,
    children_before = 0,
  } = event.type === 'agent.started' ? event.data : { history_digest: null, calls_before: 0 }
  return {
    run_id: event.run_id,
    agent_id: event.agent_id,
    seq: event.seq,
    at: event.at,
    contract,
    task,
    history_digest,
    recap: null,
    messages: [{ role: 'user', content: task }],
    request: null,
    failure: null,
    answer: null,
    calls: [],
    calls_made: calls_before,
    measured: null,
    ledger: openLedger(contract.execution.budget),
    usage: NO_USAGE,
    priced: true,
    grants: [],
    masked: [],
    summarized_at: null,
    outputs: {},
    files_read: [],
    files_changed: [],
    children: [],
    children_before,
    plans: [],
    tree: null,
    no_tree: null,
    landing: null,
    attempt: { number: 1, wall_ms_before: 0, text_before: '' },
    questions: 0,
    awaits_tree: false,
    exceeded: null,
    cancel: null,
    result: null,
    state: 'running',
  }
}

type Later = Exclude<AgentEvent, { type: 'run.created' | 'agent.started' | 'agent.subagent_started' }>

function apply(memory: AgentMemory, event: Later): AgentMemory {
  switch (event.type) {
    case 'agent.resumed':
      return resumed(memory, event.at, {})
    case 'agent.woken':
      return resumed(memory, event.at, { rested: true })
    case 'model.requested': {
      if (memory.request) throw corrupt(event, 'request_while_open', `${memory.request.request_id} is still open`)
      const { request_id, purpose, attempt, estimated_tokens, estimated_usd } = event.data
      return { ...memory, request: { request_id, purpose, attempt, estimated_tokens, estimated_usd } }
    }
    case 'model.responded':
      return responded(memory, event)
    case 'model.failed': {
      const { purpose, attempt } = openRequest(memory, event, event.data.request_id)
      const { code, message, retry_after_ms, spent_tokens, spent_usd } = event.data
      return {
        ...memory,
        request: null,
        failure: { purpose, code, message, retry_after_ms, at: event.at, attempt },
        priced: memory.priced && spent_usd !== null,
        ledger: spend(memory.ledger, { total_tokens: spent_tokens, cost_usd: spent_usd ?? 0 }),
      }
    }
    case 'permission.asked':
      return { ...withCall(memory, event, (call) => call), questions: memory.questions + 1 }
    case 'permission.answered': {
      const answered = { ...withCall(memory, event, (call) => call), questions: memory.questions - 1 }
      return event.data.grant ? { ...answered, grants: [...answered.grants, event.data.grant] } : answered
    }
    case 'tool.called': {
      const called = withCall(memory, event, (call) => {
        if (call.intent && !call.intent.interrupted) throw corrupt(event, 'intent_repeated', event.data.call_id)
        return { ...call, intent: { ...event.data, interrupted: false } }
      })
      // A repeated attempt of an interrupted call was paid for with its first intent.
      return event.data.attempt > 1 ? called : { ...called, ledger: spend(called.ledger, { tool_calls: 1 }) }
    }
    case 'tool.refused':
      return withResult(memory, event, event.data.content, true)
    case 'tool.finished':
      return finished(memory, event)
    case 'context.masked':
      return masked(memory, event.data.call_ids)
    case 'context.summarized': {
      const { summary, replaced_messages, replaced_history } = event.data
      const after = { ...memory, measured: null, failure: null }
      if (replaced_history !== undefined) return { ...after, recap: { summary, replaced: replaced_history } }
      const messages = summarized(memory.messages, summary, replaced_messages)
      return { ...after, summarized_at: memory.ledger.spent.turns, messages }
    }
    case 'budget.exceeded':
      return { ...memory, exceeded: event.data }
    case 'run.cancel_requested':
    case 'agent.cancel_requested':
      return { ...memory, cancel: event.data }
    case 'agent.subagent_attempt':
      return event.data.attempt > 1 ? again(memory, event.data.attempt) : memory
    case 'agent.subagent_waiting_for_merge':
      return ended(memory, event, event.data.result)
    case 'agent.subagent_failed':
      if (event.data.sub_agent_id !== memory.agent_id) return withChildren(memory, event)
      return ended(memory, event, event.data.result)
    case 'agent.subagent_created':
    case 'agent.subagent_reused':
    case 'agent.subagent_admitted':
    case 'agent.work_taken':
    case 'agent.gate_started':
    case 'agent.gate_checked':
    case 'agent.merge_started':
    case 'agent.merge_taken_back':
    case 'agent.worktree_merged':
    case 'agent.subagent_settled':
    case 'agent.subagent_closed':
      return withChildren(memory, event)
    case 'plan.steps_added':
    case 'plan.proposed':
    case 'plan.adopted':
    case 'plan.approval_asked':
    case 'plan.approval_answered':
    case 'plan.step_started':
    case 'plan.step_ended':
    case 'plan.check_started':
    case 'plan.checked':
    case 'plan.reviewed':
    case 'plan.ended':
      return { ...memory, plans: withPlan(memory.plans, event) }
    case 'agent.workspace_awaited':
      return { ...memory, awaits_tree: true }
    case 'agent.setup_started':
    case 'agent.setup_finished':
      return memory
    case 'agent.worktree_created': {
      if (memory.tree) throw corrupt(event, 'tree_repeated', memory.tree.path)
      const { branch, path, base, checkout } = event.data
      const tree = { branch, path, base, ...(checkout === undefined ? {} : { checkout }) }
      return { ...memory, tree, awaits_tree: false }
    }
    case 'agent.worktree_moved': {
      if (!memory.tree) throw corrupt(event, 'tree_missing', 'it has none that could be moved')
      return { ...memory, tree: { ...memory.tree, checkout: event.data.checkout } }
    }
    case 'agent.files_carried': {
      if (!memory.tree) throw corrupt(event, 'tree_missing', 'it has none of which anything could be carried')
      const { commit, uncommittable, begins } = event.data
      if (begins !== undefined) return memory
      return { ...memory, tree: { ...memory.tree, carried: { commit, ...(uncommittable ? { uncommittable } : {}) } } }
    }
    case 'agent.worktree_failed':
      return { ...memory, no_tree: event.data.message, awaits_tree: false }
    case 'run.landing':
      return { ...memory, landing: { under_way: event.data } }
    case 'run.landed':
    case 'run.kept':
      return { ...memory, landing: { done: event.data } }
    case 'agent.results_delivered': {
      const messages: Message[] = [...memory.messages, { role: 'user', content: event.data.content }]
      return { ...memory, children: told(memory.children, event.data.sub_agent_ids), messages }
    }
    case 'agent.finished':
      return ended(memory, event, event.data.result)
    case 'run.closed': {
      const decided = event.data.outcome === 'completed' ? 'completed' : 'failed'
      const before = memory.state === 'failed' ? 'failed' : step(memory, event, decided)
      return { ...memory, state: step({ ...memory, state: before }, event, 'closed') }
    }
    default:
      return event satisfies never
  }
}

/** What the process that died left open: a request that may have cost something, calls that may have taken effect. */
function resumed(memory: AgentMemory, at: number, how: { rested?: true }): AgentMemory {
  const calls = memory.calls.map((call) => {
    if (!call.intent || call.result) return call
    const { rested: _, ...intent } = call.intent
    return { ...call, intent: { ...intent, interrupted: true, ...how } }
  })
  if (!memory.request) return { ...memory, calls, questions: 0, awaits_tree: false }
  const { purpose, attempt, estimated_tokens, estimated_usd } = memory.request
  const message = 'the process ended before the answer came'
  return {
    ...memory,
    calls,
    questions: 0,
    awaits_tree: false,
    request: null,
    // The request did not fail, so it does not count as an attempt.
    failure: { purpose, code: 'interrupted', message, retry_after_ms: null, at, attempt: attempt - 1 },
    priced: memory.priced && estimated_usd !== null,
    ledger: spend(memory.ledger, { total_tokens: estimated_tokens, cost_usd: estimated_usd ?? 0 }),
  }
}

const GO_ON = 'Your answer was cut off at the output limit. Go on exactly where it stopped.'

function responded(memory: AgentMemory, event: Extract<AgentEvent, { type: 'model.responded' }>): AgentMemory {
  const { request_id, parts, usage, purpose, finish_reason, cost_usd } = event.data
  openRequest(memory, event, request_id)
  const tokens = usage.input_tokens + usage.output_tokens
  const booked = {
    ...memory,
    request: null,
    failure: null,
    usage: addUsage(memory.usage, usage),
    priced: memory.priced && cost_usd !== null,
    ledger: spend(memory.ledger, {
      total_tokens: tokens,
      cost_usd: cost_usd ?? 0,
      turns: purpose === 'turn' ? 1 : 0,
    }),
  }
  // A summary speaks about the conversation and is not part of it; context.summarized brings it in.
  if (purpose === 'summary') return booked
  const calls = purpose === 'turn' ? callsOf(parts) : []
  const cut = finish_reason === 'length' && calls.length === 0
  const messages: Message[] = [...memory.messages, { role: 'assistant', parts }]
  if (cut) messages.push({ role: 'user', content: GO_ON })
  // An answer in several pieces is one answer.
  const before = memory.answer?.cut ? memory.answer.text : ''
  return {
    ...booked,
    messages,
    measured: event.data.usage_source === 'provider' ? { tokens, messages: memory.messages.length + 1 } : null,
    answer: { purpose, finish_reason, cut, text: before + textOf(parts) },
    calls: calls.map((part) => ({ part, intent: null, result: null })),
    calls_made: memory.calls_made + calls.length,
  }
}

function finished(memory: AgentMemory, event: Extract<AgentEvent, { type: 'tool.finished' }>): AgentMemory {
  const { call_id, status, content, output, files_read, files_changed, delivers = [] } = event.data
  const call = memory.calls.find((c) => c.part.call_id === call_id)
  if (call && !call.intent) throw corrupt(event, 'result_without_intent', call_id)
  const next = withResult(memory, event, content, status !== 'ok')
  return {
    ...next,
    children: told(next.children, delivers),
    outputs: output ? { ...next.outputs, [call_id]: output } : next.outputs,
    files_read: union(next.files_read, files_read),
    files_changed: union(next.files_changed, files_changed),
  }
}

/** Files a result under its call; when it was the last of the turn, the results become one message, in call order. */
function withResult(
  memory: AgentMemory,
  event: Extract<AgentEvent, { type: 'tool.refused' | 'tool.finished' }>,
  content: string,
  is_error: boolean,
): AgentMemory {
  const next = withCall(memory, event, (call) => {
    if (call.result) throw corrupt(event, 'result_repeated', event.data.call_id)
    const { call_id, wire_id, tool } = call.part
    return { ...call, result: { call_id, wire_id, tool, content, is_error } }
  })
  const results = next.calls.map((call) => call.result)
  if (!results.every((result) => result !== null)) return next
  return { ...next, calls: [], messages: [...next.messages, { role: 'tool', results }] }
}

function withCall(
  memory: AgentMemory,
  event: Extract<AgentEvent, { data: { call_id: string } }>,
  change: (call: PendingCall) => PendingCall,
): AgentMemory {
  const { call_id } = event.data
  let found = false
  const calls = memory.calls.map((call) => {
    if (call.part.call_id !== call_id) return call
    found = true
    return change(call)
  })
  if (!found) throw corrupt(event, 'call_unknown', `${call_id} is no call of the turn under way`)
  return { ...memory, calls }
}

function masked(memory: AgentMemory, call_ids: string[]): AgentMemory {
  const gone = new Set(call_ids)
  const messages = memory.messages.map((message): Message => {
    if (message.role !== 'tool' || !message.results.some((result) => gone.has(result.call_id))) return message
    return {
      role: 'tool',
      results: message.results.map((result) =>
        gone.has(result.call_id) ? { ...result, content: maskedNote(result) } : result,
      ),
    }
  })
  return { ...memory, messages, masked: [...memory.masked, ...call_ids], measured: null, failure: null }
}

/** What stands in the place of an old result. It names the way back to it. */
export function maskedNote(result: ToolResult): string {
  return `[${result.content.length} characters removed to save space; read_output with output "${result.call_id}" shows them again]`
}

function summarized(messages: Message[], summary: string, replaced: number): Message[] {
  // The task stays as it was given: a summary of it would be somebody else's words.
  const [task, ...rest] = messages as [Message, ...Message[]]
  return [task, { role: 'user', content: `Summary of the work so far:\n${summary}` }, ...rest.slice(replaced)]
}

function step(memory: AgentMemory, event: AgentEvent, to: AgentState): AgentState {
  if (!mayFollow(memory.state, to)) throw corrupt(event, 'illegal_transition', `${memory.state} to ${to}`)
  return to
}

function openRequest(memory: AgentMemory, event: AgentEvent, request_id: string) {
  if (memory.request?.request_id !== request_id) throw corrupt(event, 'answer_without_request', request_id)
  return memory.request
}

function ended(memory: AgentMemory, event: AgentEvent, result: AgentResult): AgentMemory {
  return { ...memory, result, state: step(memory, event, endState(result.outcome)) }
}

/** The last words of an agent, of an earlier attempt where this one has none yet. */
export function textSoFar({ answer, attempt }: AgentMemory): string {
  return answer?.text || attempt.text_before
}

/** A new attempt begins where the first did; what was spent stays spent. */
function again(memory: AgentMemory, number: number): AgentMemory {
  return {
    ...memory,
    attempt: { number, wall_ms_before: memory.ledger.spent.wall_ms, text_before: textSoFar(memory) },
    messages: [{ role: 'user', content: memory.task }],
    ...{ request: null, failure: null, answer: null, calls: [], measured: null, exceeded: null },
    ...{ masked: [], summarized_at: null, questions: 0, awaits_tree: false },
    // What a sub-agent of the failed attempt found is nothing that this one asked for.
    children: told(
      memory.children,
      memory.children.map(({ id }) => id),
    ),
  }
}

/** Time between events counts, except while the process was gone or a person was being waited for. */
function activeTime(before: AgentMemory, event: AgentEvent): number {
  const waits = before.questions > 0 || before.awaits_tree || before.plans.some(isAsked)
  if (event.type === 'agent.resumed' || waits) return 0
  const asks = before.calls.some(({ intent, result }) => intent?.effect === 'ask_person' && !result)
  return asks ? 0 : Math.max(0, event.at - before.at)
}

function corrupt(event: AgentEvent, corruption: Corruption, detail: string): CorruptLogError {
  return new CorruptLogError(corruption, event, detail)
}
