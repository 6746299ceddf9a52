import type {
  AgentResult,
  Contract,
  EventData,
  EventType,
  Landing,
  Outcome,
  Receipt,
  StoredEvent,
} from '../../src/domain/index.js'

/** Events of a run with sub-agents, built by hand in the order in which a store would have taken them. */
export function eventsOfRun(start = 1_000_000) {
  const events: StoredEvent[] = []
  const seqs = new Map<string, number>()
  let at = start

  function add<T extends EventType>(agent_id: string, type: T, data: EventData<T>): StoredEvent {
    const seq = (seqs.get(agent_id) ?? 0) + 1
    seqs.set(agent_id, seq)
    const place = { run_id: 'r', agent_id, seq, position: events.length + 1, digest: 'd' }
    const event = { type, version: 1, at, data, ...place } as Extract<StoredEvent, { type: T }>
    events.push(event satisfies StoredEvent)
    return event
  }

  return {
    events,
    add,
    /** Time goes by. */
    wait(ms: number) {
      at += ms
    },
    now: () => at,
    root(task = 'Mend the roof') {
      add('root', 'run.created', {
        session_id: 's',
        task,
        workspace_root: '/roof',
        retinue_version: '0',
        platform: 'linux',
        sandbox: { kind: 'bubblewrap', reason: 'it is there' },
        mcp_servers: [],
        notes: [],
      })
      const contract = contractOf({ title: task })
      add('root', 'agent.started', { contract, task, history_digest: null, calls_before: 0 })
    },
    create(parent: string, id: string, options: ContractOptions & { call_id?: string } = {}) {
      const step_idx = Number(id.match(/\d+$/)?.[0]) - 1
      const contract = contractOf({ title: `Task of ${id}`, parent, step_idx, ...options })
      const call_id = options.call_id ?? 'c1'
      const task = contract.step.title
      add(parent, 'agent.subagent_created', {
        ...{ sub_agent_id: id, step_idx, call_id, index: 0, contract, task, cache_key: null },
      })
      return {
        start() {
          add(id, 'agent.subagent_started', { sub_agent_id: id, step_idx, contract, task })
          add(id, 'agent.subagent_attempt', { sub_agent_id: id, step_idx, attempt: 1, after: null })
        },
        attempt(attempt: number, outcome: Outcome, reason: string) {
          add(id, 'agent.subagent_attempt', { sub_agent_id: id, step_idx, attempt, after: { outcome, reason } })
        },
        /** Its own last event, and its parent's. */
        end(outcome: Outcome = 'completed', reason: string | null = null) {
          const result = resultOf({ outcome, reason })
          const ended = outcome === 'completed' || outcome === 'budget_exceeded'
          add(id, ended ? 'agent.subagent_waiting_for_merge' : 'agent.subagent_failed', {
            ...{ sub_agent_id: id, step_idx, result },
          })
          this.close(ended ? 'completed' : 'failed', result)
        },
        close(final_status: 'completed' | 'failed', result: AgentResult) {
          const used = { total_tokens: 0, cost_usd: 0, sub_agents: 0 }
          const close_reason = result.outcome
          add(parent, 'agent.subagent_closed', { sub_agent_id: id, step_idx, final_status, close_reason, result, used })
        },
      }
    },
    ask(agent_id: string, request_id: string, options: { estimated_usd?: number | null } = {}) {
      add(agent_id, 'model.requested', {
        ...{ request_id, purpose: 'turn', model: 'p/m', request_digest: 'd', messages: 1, attempt: 1 },
        ...{ estimated_tokens: 10, estimated_usd: options.estimated_usd ?? 0 },
      })
    },
    answer(agent_id: string, request_id: string, tokens: number, cost_usd: number | null) {
      add(agent_id, 'model.responded', {
        ...{ request_id, purpose: 'turn', model: 'm', answered_by: 'p/m', fell_over: [], parts: [] },
        ...{ finish_reason: 'tool_calls', usage_source: 'provider', cost_usd, duration_ms: 1 },
        usage: { ...NO_USAGE, input_tokens: tokens - 1, output_tokens: 1 },
      })
    },
    call(
      agent_id: string,
      call_id: string,
      tool: string,
      summary: string,
      more: Partial<EventData<'tool.called'>> = {},
    ) {
      add(agent_id, 'tool.called', {
        ...{ call_id, tool, args: {}, mended: [], effect: 'read', summary, paths: [], decision: 'allow', rule: 'mode' },
        ...{ witness: null, attempt: 1 },
        ...more,
      })
    },
    finish(agent_id: string, call_id: string, tool: string, more: Partial<EventData<'tool.finished'>> = {}) {
      add(agent_id, 'tool.finished', {
        ...{
          call_id,
          tool,
          status: 'ok',
          content: '',
          output: null,
          files_read: [],
          files_changed: [],
          duration_ms: 1,
        },
        ...more,
      })
    },
    closeRun(outcome: Outcome = 'completed') {
      add('root', 'agent.finished', { result: resultOf({ outcome }) })
      add('root', 'run.closed', { outcome, reason: outcome, text: '' })
    },
  }
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

export function resultOf(some: Partial<AgentResult> = {}): AgentResult {
  return {
    ...{ outcome: 'completed', cause: null, reason: null, text: '', turns: 1, tool_calls: 3, usage: NO_USAGE },
    ...{ cost_usd: 0, files_read: [], files_changed: [], duration_ms: 1200 },
    ...some,
  }
}

export function receiptOf(some: Partial<Receipt> = {}): Receipt {
  return {
    ...{ branch: 'retinue/r/a1', base: 'b'.repeat(40), merged: null, kept: null, left_out: [] },
    commits: [{ id: 'c'.repeat(40), title: 'Mend the gutter', author: 'Retinue a1' }],
    files: [{ path: 'gutter.md', kind: 'modified' }],
    gates: [{ what: 'npm test', stage: 'before_merge', passed: true }],
    ...some,
  }
}

export function landingOf(some: Partial<Landing> = {}): Landing {
  return {
    ...{
      state: 'landed',
      base: 'b'.repeat(40),
      commit: 'c'.repeat(40),
      landed_commit: null,
      branch: null,
      reason: null,
    },
    files: [
      { path: 'gutter.md', kind: 'modified' },
      { path: 'slates.md', kind: 'added' },
    ],
    ...some,
  }
}

type ContractOptions = {
  title?: string
  parent?: string
  step_idx?: number
  profile?: string
  adjustments?: Contract['adjustments']
}

function contractOf({ title = '', parent, step_idx = 0, profile, adjustments = [] }: ContractOptions): Contract {
  return {
    version: 1,
    parent: { run_id: 'r', agent_id: parent ?? null, depth: 0, step_idx, task_prompt: title, goal_summary: title },
    agent: { handle: null, profile_id: profile ?? null, profile_digest: null, prompt_digest: 'd' },
    step: { title, description: title, success_criteria: [] },
    permissions: {
      mode: 'auto',
      allowed_tools: [],
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
    model: { provider: 'p', model: 'm', source: 'request', allowed: ['p/m'] },
    execution: {
      attempt_timeout_ms: 60_000,
      max_retries: 1,
      close_on_completion: true,
      budget: {
        tool_calls: 9,
        turns: 9,
        context_tokens: 9000,
        wall_ms: 60_000,
        total_tokens: 9000,
        cost_usd: null,
        sub_agents: 9,
      },
    },
    workspace: { isolation: 'shared', base: null, owns: [] },
    outputs: { report_format: 'markdown', report_path_pattern: null },
    adjustments,
  }
}
