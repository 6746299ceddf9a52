import type {
  AgentResult,
  Contract,
  EventData,
  EventType,
  NewControlEvent,
  NewEvent,
  Outcome,
  StoredEvent,
} from '../../domain/index.js'
import type { Append, AppendResult, Store } from '../store.js'

/** What a suite gets to work with: an empty store. */
export type Subject = {
  store: Store
  /** Another store on the same data, where that outlives the store. */
  reopen?: () => Promise<Store>
  /** Closes everything that was opened and removes the data. */
  close: () => Promise<void>
}

export const AT = 1_700_000_000_000

function event<T extends EventType>(type: T, data: EventData<T>, at = AT): NewEvent {
  return { type, version: 1, at, data } as NewEvent
}

export function created(at = AT, data: Partial<EventData<'run.created'>> = {}): NewEvent {
  return event(
    'run.created',
    {
      session_id: 'session',
      task: 'Mend the roof',
      workspace_root: '/work',
      retinue_version: '0.1.0',
      platform: 'linux',
      sandbox: { kind: 'none', reason: 'a test' },
      mcp_servers: [],
      notes: [],
      ...data,
    },
    at,
  )
}

export function started(at = AT, parent: Partial<Contract['parent']> = {}): NewEvent {
  return event(
    'agent.started',
    { contract: contract(parent), task: 'Mend the roof', history_digest: null, calls_before: 0 },
    at,
  )
}

export function responded(id: string, input_tokens: number, output_tokens: number, at = AT): NewEvent {
  const usage = { input_tokens, output_tokens, cached_tokens: 1, cache_write_tokens: 0, reasoning_tokens: 0 }
  const parts = [{ type: 'text' as const, text: `answer ${id}` }]
  const answer = { request_id: id, purpose: 'turn' as const, model: 'm', parts, finish_reason: 'stop' as const }
  const by = { answered_by: 'scripted/m', fell_over: [], cost_usd: 0.25 }
  return event('model.responded', { ...answer, ...by, usage, usage_source: 'provider', duration_ms: 5 }, at)
}

export function called(call_id: string, at = AT): NewEvent {
  const intent = { tool: 'read_file', args: { path: 'roof.md' }, mended: [], effect: 'read' as const, paths: [] }
  const verdict = { summary: 'roof.md', decision: 'allow' as const, rule: 'mode auto', witness: null, attempt: 1 }
  return event('tool.called', { call_id, ...intent, ...verdict }, at)
}

export function finished(call_id: string, content = 'slates', at = AT): NewEvent {
  const seen = { output: null, files_read: ['roof.md'], files_changed: [], duration_ms: 2 }
  return event('tool.finished', { call_id, tool: 'read_file', status: 'ok', content, ...seen }, at)
}

export function result(more: Partial<AgentResult> = {}): AgentResult {
  const usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
  const spent = { turns: 1, tool_calls: 1, usage, cost_usd: 0.25, files_read: [], files_changed: [], duration_ms: 9 }
  return { outcome: 'completed', cause: null, reason: null, text: '', ...spent, ...more }
}

export function agentFinished(text: string, outcome: Outcome = 'completed', at = AT): NewEvent {
  return event('agent.finished', { result: result({ outcome, text }) }, at)
}

/** What the events about one sub-agent have in common. */
export type SubAgent = { sub_agent_id: string; step_idx: number; contract: Contract }

/** The child of a number, counted from 1, of the root or of another agent. */
export function subAgent(number: number, parent: SubAgent | null = null): SubAgent {
  const step_idx = number - 1
  const agent_id = parent?.sub_agent_id ?? 'root'
  const depth = (parent?.contract.parent.depth ?? 0) + 1
  const sub_agent_id = parent ? `${agent_id}.${number}` : `a${number}`
  return { sub_agent_id, step_idx, contract: contract({ agent_id, depth, step_idx }) }
}

export function subAgentCreated(sub: SubAgent, at = AT): NewEvent {
  const asked = { call_id: 'c', index: sub.step_idx, task: 'Mend a slate', cache_key: null }
  return event('agent.subagent_created', { ...sub, ...asked }, at)
}

export function subAgentStarted(sub: SubAgent, at = AT): NewEvent {
  return event('agent.subagent_started', { ...sub, task: 'Mend a slate' }, at)
}

export function subAgentWaits({ sub_agent_id, step_idx }: SubAgent, result: AgentResult, at = AT): NewEvent {
  return event('agent.subagent_waiting_for_merge', { sub_agent_id, step_idx, result }, at)
}

export function subAgentFailed({ sub_agent_id, step_idx }: SubAgent, result: AgentResult, at = AT): NewEvent {
  return event('agent.subagent_failed', { sub_agent_id, step_idx, result }, at)
}

export function subAgentClosed({ sub_agent_id, step_idx }: SubAgent, result: AgentResult, at = AT): NewEvent {
  const final_status = result.outcome === 'completed' ? 'completed' : 'failed'
  const used = { total_tokens: 500, cost_usd: 5, sub_agents: 1 }
  return event(
    'agent.subagent_closed',
    { sub_agent_id, step_idx, final_status, close_reason: 'joined', result, used },
    at,
  )
}

export function subAgentReused({ sub_agent_id, step_idx }: SubAgent, result: AgentResult, at = AT): NewEvent {
  const asked = { call_id: 'c', index: 0, title: 'Slate', cache_key: 'k' }
  const from = { run_id: 'earlier', agent_id: 'a1' }
  return event('agent.subagent_reused', { sub_agent_id, step_idx, ...asked, from, result }, at)
}

export function closed(outcome: Outcome = 'completed', text = '', at = AT): NewEvent {
  return event('run.closed', { outcome, reason: 'done', text }, at)
}

/** A command of the control plane, told from others by what was given with it. */
export function commanded(given: string, at = AT): Extract<NewControlEvent, { type: 'control.command_executed' }> {
  const by = { principal: 'anna', role: 'operator' as const, session_id: null }
  const came = { outcome: 'success' as const, message: 'Pinned.' }
  return {
    type: 'control.command_executed',
    version: 1,
    at,
    data: { request_id: null, command: 'agents pin', arguments: given, ...by, ...came },
  }
}

export const claim = { owner: 'me', ttl_ms: 60_000 }

/** A run with its root agent, two events long. */
export function begin(store: Store, run_id: string, agent_id = 'root'): Promise<StoredEvent[]> {
  return taken(store, { run_id, agent_id, epoch: 1, expected_seq: 0, events: [created(), started()], claim })
}

/** A child of the root, one event long. */
export function beginChild(store: Store, run_id: string, agent_id: string): Promise<StoredEvent[]> {
  const events = [started(AT, { run_id, agent_id: 'root', depth: 1 })]
  return taken(store, { run_id, agent_id, epoch: 1, expected_seq: 0, events, claim })
}

/** An append that must succeed. */
export async function taken(store: Store, batch: Append): Promise<StoredEvent[]> {
  return eventsOf(await store.append(batch))
}

export function eventsOf(result: AppendResult): StoredEvent[] {
  if (!result.ok) throw new Error(`refused, ${result.code}: ${result.message}`)
  return result.events
}

export function contract(parent: Partial<Contract['parent']> = {}): Contract {
  return {
    version: 1,
    parent: {
      run_id: 'run',
      agent_id: null,
      depth: 0,
      step_idx: 0,
      task_prompt: 'Mend the roof',
      goal_summary: 'A dry house',
      ...parent,
    },
    agent: { handle: null, profile_id: null, profile_digest: null, prompt_digest: 'none' },
    step: { title: 'Roof', description: 'Mend it', success_criteria: [] },
    permissions: {
      mode: 'auto',
      allowed_tools: ['read_file'],
      allowed_skills: [],
      allowed_mcp_servers: [],
      read_paths: [['**']],
      write_paths: [['**']],
      rules: [{ mode: 'auto', rules: [] }],
      network: 'none',
      can_ask_person: false,
      can_spawn_children: true,
      max_delegation_depth: 2,
    },
    model: { provider: 'scripted', model: 'm', source: 'request', allowed: ['m'] },
    execution: {
      attempt_timeout_ms: 60_000,
      max_retries: 0,
      close_on_completion: true,
      budget: {
        tool_calls: 10,
        turns: 10,
        context_tokens: 10_000,
        wall_ms: 60_000,
        total_tokens: null,
        cost_usd: null,
        sub_agents: 2,
      },
    },
    workspace: { isolation: 'shared', base: null, owns: [] },
    outputs: { report_format: 'markdown', report_path_pattern: null },
    adjustments: [],
  }
}
