import { describe, expect, it } from 'vitest'
import {
  type AgentEvent,
  type AgentMemory,
  CorruptLogError,
  DEFINITIONS,
  type EventData,
  type EventType,
  foldAgent,
  parseEvent,
  rootContract,
  summarize,
} from '../../src/domain/index.js'

const derived = rootContract({
  run_id: 'r',
  task: 'Mend the roof',
  prompt_digest: 'd'.repeat(64),
  model: { provider: 'p', model: 'm', source: 'request', window: null },
  mode: 'normal',
  rules: [],
  known_tools: ['read_file'],
  nameable_tools: ['read_file'],
  known_servers: [],
  known_skills: [],
  budget: {},
  can_ask_person: false,
  base: null,
})
if (!derived.ok) throw new Error(derived.faults.join())
const { contract } = derived

const usage = { input_tokens: 10, output_tokens: 2, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
const call = (n: number) => ({
  type: 'tool_call' as const,
  call_id: `c${n}`,
  wire_id: `w${n}`,
  tool: 'read_file',
  args: '{}',
})

/** Events of a stream, numbered from 1, ten milliseconds apart. */
function stream(...events: { [T in EventType]: [T, EventData<T>] }[EventType][]): AgentEvent[] {
  return events.map(([type, data], i) => ({
    type,
    version: 1,
    at: 1000 + i * 10,
    data,
    run_id: 'r',
    agent_id: 'root',
    seq: i + 1,
  })) as AgentEvent[]
}

const created: ['run.created', EventData<'run.created'>] = [
  'run.created',
  {
    session_id: 's',
    task: 't',
    workspace_root: '/',
    retinue_version: '0',
    platform: 'x',
    sandbox: { kind: 'none', reason: '' },
    mcp_servers: [],
    notes: [],
  },
]
const started: ['agent.started', EventData<'agent.started'>] = [
  'agent.started',
  { contract, task: 'Mend the roof', history_digest: null, calls_before: 0 },
]
const requested = (id = 'q1'): ['model.requested', EventData<'model.requested'>] => [
  'model.requested',
  {
    request_id: id,
    purpose: 'turn',
    model: 'p/m',
    request_digest: 'a'.repeat(64),
    messages: 1,
    estimated_tokens: 5,
    estimated_usd: 0.5,
    attempt: 1,
  },
]
const responded = (calls: number[], id = 'q1'): ['model.responded', EventData<'model.responded'>] => [
  'model.responded',
  {
    request_id: id,
    purpose: 'turn',
    model: 'm',
    answered_by: 'p/m',
    fell_over: [],
    parts: calls.map(call),
    finish_reason: 'tool_calls',
    usage,
    usage_source: 'provider',
    cost_usd: 0.25,
    duration_ms: 1,
  },
]
const called = (n: number): ['tool.called', EventData<'tool.called'>] => [
  'tool.called',
  {
    call_id: `c${n}`,
    tool: 'read_file',
    args: {},
    mended: [],
    effect: 'read',
    summary: 'x',
    paths: [],
    decision: 'allow',
    rule: 'r',
    witness: null,
    attempt: 1,
  },
]
const finished = (n: number, content = `result ${n}`): ['tool.finished', EventData<'tool.finished'>] => [
  'tool.finished',
  {
    call_id: `c${n}`,
    tool: 'read_file',
    status: 'ok',
    content,
    output: null,
    files_read: [],
    files_changed: [],
    duration_ms: 1,
  },
]
const result = {
  outcome: 'completed' as const,
  cause: null,
  reason: null,
  text: '',
  turns: 0,
  tool_calls: 0,
  usage,
  cost_usd: 0,
  files_read: [],
  files_changed: [],
  duration_ms: 0,
}

describe('the fold', () => {
  it('puts results into the conversation in the order of the calls, whatever order they came in', () => {
    const memory = foldAgent(
      stream(created, started, requested(), responded([1, 2]), called(1), called(2), finished(2), finished(1)),
    ) as AgentMemory
    expect(memory.messages.at(-1)).toMatchObject({
      role: 'tool',
      results: [{ content: 'result 1' }, { content: 'result 2' }],
    })
    expect(memory.calls).toEqual([])
    expect(memory.ledger.spent).toMatchObject({ turns: 1, tool_calls: 2, total_tokens: 12 })
  })

  it('is the same from JSON as from memory', () => {
    const events = stream(created, started, requested(), responded([1]), called(1), finished(1))
    expect(foldAgent(JSON.parse(JSON.stringify(events)))).toEqual(foldAgent(events))
  })

  it('counts time between events, but not while the process was gone or a person was asked', () => {
    const asked = stream(created, started, requested(), responded([1]), [
      'permission.asked',
      { call_id: 'c1', tool: 'read_file', summary: '', reason: '' },
    ])
    const waited = {
      ...asked.at(-1),
      type: 'permission.answered',
      seq: 6,
      at: 900_000,
      data: { call_id: 'c1', answer: 'allow', grant: null, by: 'p', note: null },
    }
    expect(foldAgent([...asked, waited as AgentEvent])?.ledger.spent.wall_ms).toBe(30)
    const gone = {
      ...asked.at(-1),
      type: 'agent.resumed',
      seq: 6,
      at: 900_000,
      data: {
        owner: 'o',
        epoch: 2,
        sandbox: { kind: 'none', reason: '' },
        notes: [],
        interrupted_request: null,
        interrupted_calls: [],
      },
    }
    expect(foldAgent([...asked, gone as AgentEvent])?.ledger.spent.wall_ms).toBe(30)
  })

  it.each([
    ['sequence_gap', stream(created, started, requested()).filter(({ seq }) => seq !== 2)],
    ['not_started', stream(created, requested())],
    ['already_started', stream(created, started, started)],
    ['already_finished', stream(created, started, ['agent.finished', { result }], requested())],
    ['request_while_open', stream(created, started, requested(), requested('q2'))],
    ['answer_without_request', stream(created, started, responded([]))],
    ['answer_without_request', stream(created, started, requested(), responded([], 'other'))],
    ['call_unknown', stream(created, started, called(1))],
    ['intent_repeated', stream(created, started, requested(), responded([1]), called(1), called(1))],
    ['result_without_intent', stream(created, started, requested(), responded([1]), finished(1))],
    ['result_repeated', stream(created, started, requested(), responded([1, 2]), called(1), finished(1), finished(1))],
    ['illegal_transition', stream(created, started, ['run.closed', { outcome: 'completed', reason: '', text: '' }])],
  ])('takes %s for corruption, and says where', (corruption, events) => {
    const thrown = (() => {
      try {
        foldAgent(events)
      } catch (error) {
        return error
      }
    })()
    expect(thrown).toBeInstanceOf(CorruptLogError)
    expect(thrown).toMatchObject({ corruption, where: { run_id: 'r', agent_id: 'root', seq: events.at(-1)?.seq } })
  })
})

describe('events from outside', () => {
  it('are refused when they are unknown, of another version, or not of their shape', () => {
    expect(parseEvent('run.exploded', 1, 0, {})).toMatchObject({ ok: false, reason: 'unknown_event' })
    expect(parseEvent('run.closed', 2, 0, {})).toMatchObject({ ok: false, reason: 'unknown_event' })
    expect(parseEvent('run.closed', 1, 0, { outcome: 'fine' })).toMatchObject({ ok: false, reason: 'bad_payload' })
  })

  it('keep the order of their keys, because requests are compared by bytes', () => {
    const data = { text: '', reason: 'x', outcome: 'completed' }
    const parsed = parseEvent('run.closed', 1, 0, data)
    expect(parsed.ok && JSON.stringify(parsed.event.data)).toBe(JSON.stringify(data))
  })

  it('each have a line for the condensed timeline', () => {
    for (const event of stream(created, started, requested(), responded([1]), called(1), finished(1))) {
      expect(summarize(event)).toMatch(/^\S.{3,}$/)
    }
  })
})

describe('the manifest', () => {
  it('is what was released: a new event is added here, a released one is never changed', () => {
    expect(DEFINITIONS.map(({ type, version }) => `${type} ${version}`)).toEqual([
      'run.created 1',
      'agent.started 1',
      'agent.resumed 1',
      'agent.woken 1',
      'model.requested 1',
      'model.responded 1',
      'model.failed 1',
      'permission.asked 1',
      'permission.answered 1',
      'tool.called 1',
      'tool.refused 1',
      'tool.finished 1',
      'context.masked 1',
      'context.summarized 1',
      'budget.exceeded 1',
      'run.cancel_requested 1',
      'agent.cancel_requested 1',
      'agent.subagent_created 1',
      'agent.subagent_reused 1',
      'agent.subagent_started 1',
      'agent.subagent_attempt 1',
      'agent.subagent_waiting_for_merge 1',
      'agent.subagent_failed 1',
      'agent.subagent_admitted 1',
      'agent.workspace_awaited 1',
      'agent.worktree_created 1',
      'agent.worktree_moved 1',
      'agent.files_carried 1',
      'agent.setup_started 1',
      'agent.setup_finished 1',
      'agent.worktree_failed 1',
      'agent.work_taken 1',
      'agent.merge_started 1',
      'agent.merge_taken_back 1',
      'agent.worktree_merged 1',
      'run.landing 1',
      'run.landed 1',
      'run.kept 1',
      'agent.gate_started 1',
      'agent.gate_checked 1',
      'agent.subagent_settled 1',
      'agent.subagent_closed 1',
      'agent.results_delivered 1',
      'plan.steps_added 1',
      'plan.proposed 1',
      'plan.adopted 1',
      'plan.approval_asked 1',
      'plan.approval_answered 1',
      'plan.step_started 1',
      'plan.step_ended 1',
      'plan.check_started 1',
      'plan.checked 1',
      'plan.reviewed 1',
      'plan.ended 1',
      'agent.finished 1',
      'run.closed 1',
    ])
  })
})
