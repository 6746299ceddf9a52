import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answerSchema,
  type EventData,
  type EventType,
  foldAgent,
  grantFor,
  openQuestions,
  rootContract,
  type StoredEvent,
} from '../../src/domain/index.js'

type Written = { [T in EventType]: [T, EventData<T>] }[EventType]

const derived = rootContract({
  ...{ run_id: 'r', task: 'Mend the roof', prompt_digest: 'd'.repeat(64), mode: 'normal', rules: [] },
  model: { provider: 'p', model: 'm', source: 'request', window: null },
  ...{ known_tools: ['read_file'], nameable_tools: ['read_file'], known_servers: [], known_skills: [] },
  ...{ budget: {}, can_ask_person: true, base: null },
})
if (!derived.ok) throw new Error(derived.faults.join())
const { contract } = derived

/** Events of one agent after the other, ten milliseconds apart. */
function log(...written: (Written | { of: string; event: Written })[]): StoredEvent[] {
  return written.map((one, i) => {
    const [type, data] = 'of' in one ? one.event : one
    const agent_id = 'of' in one ? one.of : 'root'
    return { type, version: 1, at: 1000 + i * 10, data, run_id: 'r', agent_id, seq: i + 1, position: i + 1, digest: '' }
  }) as unknown as StoredEvent[]
}

const asks = (n: number, more: object = {}): Written => [
  'permission.asked',
  { call_id: `c${n}`, tool: 'write_file', summary: 'create a', reason: 'writes ask', ...more },
]
const answers = (n: number): Written => [
  'permission.answered',
  { call_id: `c${n}`, answer: 'allow', grant: null, by: 'p', note: null },
]
const calls = (n: number, effect: 'write' | 'ask_person', args: EventData<'tool.called'>['args'] = {}): Written => [
  'tool.called',
  {
    ...{ call_id: `c${n}`, tool: 'x', args, mended: [], effect, summary: '', paths: [] },
    ...{ decision: 'allow', rule: 'r', witness: null, attempt: 1 },
  },
]
const finishes = (n: number): Written => [
  'tool.finished',
  {
    ...{ call_id: `c${n}`, tool: 'x', status: 'ok', content: '', output: null },
    ...{ files_read: [], files_changed: [], duration_ms: 1 },
  },
]
const refuses = (n: number): Written => [
  'tool.refused',
  { call_id: `c${n}`, tool: 'x', summary: '', code: 'denied', rule: null, content: '' },
]
const resumes: Written = [
  'agent.resumed',
  {
    ...{ owner: 'o', epoch: 2, sandbox: { kind: 'none', reason: '' }, notes: [] },
    ...{ interrupted_request: null, interrupted_calls: [] },
  },
]
const cancels: Written = ['run.cancel_requested', { by: 'p', reason: 'enough' }]
const planAsks = (step: string | null): Written => ['plan.approval_asked', { call_id: 'c1', step }]
const planEnds: Written = ['plan.ended', { call_id: 'c1', status: 'left', reason: null }]

const PERMISSION = {
  ...{ kind: 'permission', agent_id: 'root', call_id: 'c1', asked_at: 1000, tool: 'write_file' },
  ...{ summary: 'create a', reason: 'writes ask', detail: null, cut: false, grant: null },
}

describe('the open questions of a run', () => {
  it('say all that is needed to answer them, oldest first', () => {
    const grant = { decision: 'allow', tool: 'write_file', pattern: null } as const
    const open = openQuestions(
      log(
        asks(1),
        { of: 'a1', event: asks(1, { detail: 'head … tail', detail_cut: true, grant }) },
        calls(2, 'ask_person', { question: 'Which?', options: ['one', 'two'] }),
        planAsks('mend'),
      ),
    )
    expect(open).toEqual([
      PERMISSION,
      { ...PERMISSION, agent_id: 'a1', asked_at: 1010, detail: 'head … tail', cut: true, grant },
      { kind: 'question', agent_id: 'root', call_id: 'c2', asked_at: 1020, text: 'Which?', options: ['one', 'two'] },
      { kind: 'approval', agent_id: 'root', call_id: 'c1', asked_at: 1030, step: 'mend', title: 'mend' },
    ])
  })

  it.each<[string, Written[]]>([
    ['was answered', [answers(1)]],
    ['was refused', [refuses(1)]],
    ['was made', [calls(1, 'write')]],
    ['was cancelled with the run', [cancels]],
    ['is to be asked again by another process', [resumes]],
    ['was of a run that is closed', [['run.closed', { outcome: 'cancelled' } as EventData<'run.closed'>]]],
  ])('leave out a permission that %s', (_, after) => {
    expect(openQuestions(log(asks(1), ...after))).toEqual([])
  })

  it('have the one that was asked last, where the same was asked again', () => {
    expect(openQuestions(log(asks(1), resumes, asks(1)))).toEqual([{ ...PERMISSION, asked_at: 1020 }])
  })

  it.each<[string, Written]>([
    ['was answered', ['plan.approval_answered', { call_id: 'c1', step: 'a', answer: 'approved', by: 'p', note: null }]],
    ['began', ['plan.step_started', { call_id: 'c1', step: 'a', attempt: 1, index: 0 }]],
    ['ended', ['plan.step_ended', { call_id: 'c1', step: 'a', status: 'skipped', sub_agent_id: null, reason: null }]],
  ])('leave out a step that %s, and no other', (_, after) => {
    const open = openQuestions(log(planAsks('a'), planAsks('b'), after))
    expect(open).toMatchObject([{ kind: 'approval', step: 'b' }])
    expect(openQuestions(log(planAsks('a'), planAsks(null), planEnds))).toEqual([])
  })

  it('are none of a sub-agent that is closed, nor of those below it', () => {
    const closed = ['agent.subagent_closed', { sub_agent_id: 'a1' }] as unknown as Written
    const asked = ['a1', 'a1.2', 'a10'].map((of) => ({ of, event: asks(1) }))
    expect(openQuestions(log(...asked, closed)).map(({ agent_id }) => agent_id)).toEqual(['a10'])
  })

  it('are those that the fold of the agent waits for, after every event', () => {
    const move = fc.record({
      what: fc.constantFrom('ask', 'ask', 'answer', 'call', 'question', 'finish', 'refuse', 'resume'),
      n: fc.integer({ min: 1, max: 4 }),
    })
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40, size: 'max' }), (moves) => {
        const written: Written[] = begun()
        for (const { what, n } of moves) {
          const before = foldAgent(log(...written))
          const call = before?.calls.find(({ part }) => part.call_id === `c${n}`)
          if (!call || call.result) continue
          const asked = openQuestions(log(...written)).some(
            (one) => one.kind === 'permission' && one.call_id === `c${n}`,
          )
          const intent = call.intent !== null && !call.intent.interrupted
          if (what === 'resume') written.push(resumes)
          else if (what === 'ask' && !asked && !intent) written.push(asks(n))
          else if (what === 'answer' && asked) written.push(answers(n))
          else if (what === 'call' && !asked && !intent) written.push(calls(n, 'write'))
          else if (what === 'question' && !asked && !intent) written.push(calls(n, 'ask_person'))
          else if (what === 'finish' && intent) written.push(finishes(n))
          else if (what === 'refuse' && !asked && !call.intent) written.push(refuses(n))
          const memory = foldAgent(log(...written))
          const open = openQuestions(log(...written))
          expect(open.filter(({ kind }) => kind === 'permission')).toHaveLength(memory?.questions ?? 0)
          const waiting = memory?.calls.filter(
            ({ intent, result }) => intent?.effect === 'ask_person' && !intent.interrupted && !result,
          )
          const ids = open.filter(({ kind }) => kind === 'question').map(({ call_id }) => call_id)
          expect(ids.sort()).toEqual(waiting?.map(({ part }) => part.call_id))
        }
      }),
      { numRuns: 100 },
    )
  })
})

/** An agent whose model has made four calls. */
function begun(): Written[] {
  const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
  return [
    [
      'run.created',
      {
        ...{ session_id: 's', task: 't', workspace_root: '/', retinue_version: '0', platform: 'x' },
        ...{ sandbox: { kind: 'none', reason: '' }, mcp_servers: [], notes: [] },
      },
    ],
    ['agent.started', { contract, task: 't', history_digest: null, calls_before: 0 }],
    [
      'model.requested',
      {
        ...{ request_id: 'q1', purpose: 'turn', model: 'p/m', request_digest: 'a'.repeat(64), messages: 1 },
        ...{ estimated_tokens: 5, estimated_usd: null, attempt: 1 },
      },
    ],
    [
      'model.responded',
      {
        ...{ request_id: 'q1', purpose: 'turn', model: 'm', answered_by: 'p/m', fell_over: [], usage },
        ...{ finish_reason: 'tool_calls', usage_source: 'provider', cost_usd: null, duration_ms: 1 },
        parts: [1, 2, 3, 4].map((n) => ({
          ...{ type: 'tool_call' as const, call_id: `c${n}`, wire_id: `w${n}`, tool: 'x', args: '{}' },
        })),
      },
    ],
  ]
}

describe('an answer', () => {
  const named = { agent_id: 'root', call_id: 'c1' }

  it.each([
    { ...named, kind: 'permission', answer: 'allow' },
    { ...named, kind: 'permission', answer: 'allow', standing: true, note: null },
    { ...named, kind: 'permission', answer: 'deny', note: 'not here' },
    { ...named, kind: 'question', text: null },
    { ...named, kind: 'approval', step: null, answer: 'approve' },
  ])('is understood: %j', (answer) => {
    expect(answerSchema.parse(answer)).toEqual(answer)
  })

  it.each([
    { ...named, kind: 'permission' },
    { ...named, kind: 'permission', answer: 'always' },
    { ...named, kind: 'permission', answer: 'allow', grant: { decision: 'allow', tool: '*', pattern: null } },
    { ...named, kind: 'question', text: '' },
    { ...named, kind: 'question', text: 'x'.repeat(20_001) },
    { ...named, kind: 'approval', answer: 'approve' },
    { kind: 'question', call_id: 'c1', text: 'x' },
    null,
  ])('is not understood: %j', (answer) => {
    expect(answerSchema.safeParse(answer).success).toBe(false)
  })
})

it('what no rule can say cannot be granted', () => {
  const words = ['a'.repeat(600), 'b']
  const part = { kind: 'command', words, spelled: [], hides: false, rides: false } as const
  expect(grantFor({ tool: 'run_command', commands: [part] })).toBe(null)
})
