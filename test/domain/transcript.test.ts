import { expect, it } from 'vitest'
import { type StoredEvent, type TranscriptEntry, transcriptOf } from '../../src/domain/index.js'
import { DONE, PAID } from '../seeds/asking.js'
import { family } from '../seeds/family.js'
import { runToEnd } from '../support/bench.js'
import { eventsOfRun, resultOf } from '../support/tree-events.js'

/** Without what is never the same: times, and how long things took. */
function told(events: readonly StoredEvent[], agent_id = 'root'): unknown[] {
  return transcriptOf(events.filter((event) => event.agent_id === agent_id)).map(({ at, position, ...entry }) =>
    entry.kind === 'call' && entry.ended
      ? { ...entry, ended: { ...entry.ended, position: typeof entry.ended.position, duration_ms: 0 } }
      : entry,
  )
}

it('says what an agent was told, said and did, in a real run', async () => {
  const { retinue } = await family(
    {
      root: [
        {
          ...PAID,
          text: 'I look.',
          reasoning: 'There must be a file.',
          calls: [{ read_file: { path: 'a.txt' } }, { no_such_tool: { x: 1 } }],
        },
        { calls: [{ spawn_agent: { task: 'Look too' } }] },
        DONE,
      ],
      a1: [{ text: 'Looked.' }],
    },
    { files: { 'a.txt': 'alpha\n' } },
  )
  const { events } = await runToEnd(retinue, { task: 'Look at it' })
  const model = 'scripted/test'
  const ended = { position: 'number', duration_ms: 0, whole_output: false }
  const finished = (tool: string) =>
    events.flatMap((event) => (event.type === 'tool.finished' && event.data.tool === tool ? [event.data.content] : []))
  const [refused] = events.flatMap((event) => (event.type === 'tool.refused' ? [event.data] : []))
  expect(told(events)).toEqual([
    { kind: 'task', text: 'Look at it' },
    { kind: 'said', text: 'I look.', reasoning: 'There must be a file.', model, purpose: 'turn' },
    {
      ...{ kind: 'call', call_id: 'c1', tool: 'read_file', summary: 'read a.txt', args: { path: 'a.txt' } },
      ended: { ...ended, status: 'ok', content: finished('read_file')[0] },
    },
    {
      ...{ kind: 'call', call_id: 'c2', tool: 'no_such_tool', summary: refused?.summary, args: { x: 1 } },
      ended: { ...ended, status: 'refused', content: refused?.content },
    },
    {
      ...{
        kind: 'call',
        call_id: 'c3',
        tool: 'spawn_agent',
        summary: 'sub-agent: Look too',
        args: { task: 'Look too' },
      },
      ended: { ...ended, status: 'ok', content: finished('spawn_agent')[0] },
    },
    { kind: 'said', text: 'Done.', reasoning: '', model, purpose: 'turn' },
  ])
  const task = expect.stringContaining('Look too')
  expect(told(events, 'a1')).toEqual([
    { kind: 'task', text: task },
    { kind: 'said', text: 'Looked.', reasoning: '', model, purpose: 'turn' },
  ])
})

it('notes what happened to an agent, and what became of calls that nobody carried out', () => {
  const run = eventsOfRun()
  run.root()
  const child = run.create('root', 'a1')
  child.start()
  const call = (call_id: string, args: string) => ({
    type: 'tool_call' as const,
    call_id,
    wire_id: '',
    tool: 'x',
    args,
  })
  const answer = (parts: ReturnType<typeof call>[]) =>
    run.add('a1', 'model.responded', {
      ...{ request_id: 'q1', purpose: 'turn', model: 'm', answered_by: 'p/m', fell_over: [], parts, cost_usd: 0 },
      ...{ finish_reason: 'tool_calls', usage_source: 'provider', usage: resultOf().usage, duration_ms: 1 },
    })
  answer([call('c1', '{"a":1}'), call('c2', 'not json')])
  run.call('a1', 'c1', 'x', 'one', { args: { a: 2 } })
  run.add('a1', 'agent.resumed', {
    ...{ owner: 'me', epoch: 2, sandbox: { kind: 'none', reason: '' }, notes: [] },
    ...{ interrupted_request: null, interrupted_calls: ['c1'] },
  })
  run.call('a1', 'c1', 'x', 'one', { args: { a: 2 }, attempt: 2 })
  run.finish('a1', 'c1', 'x', { content: 'head', output: { digest: 'd', bytes: 9 }, duration_ms: 7 })
  run.add('a1', 'budget.exceeded', { limit: 'turns', allowed: 1, spent: 1, message: 'no turns left' })
  child.attempt(2, 'error', 'no luck')
  answer([])
  answer([call('c3', '{}')])
  const open = transcriptOf(run.events.filter(({ agent_id }) => agent_id === 'a1')).at(-1)
  expect(open).toMatchObject({ kind: 'call', call_id: 'c3', ended: null })
  child.end('cancelled')
  const left = { position: null, status: 'cancelled', content: '', duration_ms: 0, whole_output: false } as const
  const at = run.now()
  const said = { kind: 'said', text: '', reasoning: '', model: 'p/m', purpose: 'turn' } as const
  expect(transcriptOf(run.events.filter(({ agent_id }) => agent_id === 'a1'))).toEqual([
    { position: 4, at, kind: 'task', text: 'Task of a1' },
    {
      ...{ position: 6, at, kind: 'call', call_id: 'c1', tool: 'x', summary: 'one', args: { a: 2 } },
      ended: { position: 10, status: 'ok', content: 'head', duration_ms: 7, whole_output: true },
    },
    { position: 8, at, kind: 'note', text: 'resumed by me; interrupted: c1' },
    { position: 9, at, kind: 'note', text: 'x one (attempt 2)' },
    { position: 11, at, kind: 'note', text: 'no turns left' },
    { position: 6, at, kind: 'call', call_id: 'c2', tool: 'x', summary: '', args: 'not json', ended: left },
    { position: 12, at, kind: 'note', text: 'attempt 2 after error: no luck' },
    { position: 13, at, ...said },
    { position: 14, at, kind: 'call', call_id: 'c3', tool: 'x', summary: '', args: {}, ended: left },
  ] satisfies TranscriptEntry[])
})

it('has what came before the start of a call before it, in the order in which the model made its calls', () => {
  const run = eventsOfRun()
  run.root()
  const parts = ['c1', 'c2'].map((call_id) => ({
    ...{ type: 'tool_call' as const, call_id, wire_id: '', tool: 'x', args: '{}' },
  }))
  run.add('root', 'model.responded', {
    ...{ request_id: 'q1', purpose: 'turn', model: 'm', answered_by: 'p/m', fell_over: [], parts, cost_usd: 0 },
    ...{ finish_reason: 'tool_calls', usage_source: 'provider', usage: resultOf().usage, duration_ms: 1 },
  })
  run.add('root', 'agent.workspace_awaited', { behind: ['a1'] })
  run.call('root', 'c1', 'x', 'one')
  run.finish('root', 'c1', 'x')
  run.add('root', 'budget.exceeded', { limit: 'turns', allowed: 1, spent: 1, message: 'no turns left' })
  run.call('root', 'c2', 'x', 'two')
  const shown = transcriptOf(run.events).map((entry) =>
    entry.kind === 'call' ? entry.call_id : entry.kind === 'task' ? 'task' : entry.text,
  )
  expect(shown).toEqual([
    'task',
    'waits to write until a1 closed: what they own may overlap',
    'c1',
    'no turns left',
    'c2',
  ])
})
