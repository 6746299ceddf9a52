import { describe, expect, it, onTestFinished } from 'vitest'
import { createModels } from '../../src/models/index.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { startLoopback } from '../support/loopback/index.js'
import { makeProject } from '../support/project.js'
import { testRetinue } from '../support/retinues.js'
import { DONE } from './asking.js'
import { family, toldTo } from './family.js'

const subtasks = (value: unknown) => JSON.stringify({ plan: 'p', subtasks: value })

/** What a model may write, and how the answer begins that it gets. */
const REFUSED: [tool: string, args: string, answer: RegExp][] = [
  ['spawn', '{"task": "x', /^the arguments are not JSON: .*\nExpected: spawn\(/],
  ['spawn_await', '{job_ids: a1', /^the arguments are not JSON: .*\nExpected: spawn_await\(/],
  ['spawn_agent', 'task=x', /^the arguments are not JSON: .*\nExpected: spawn_agent\(/],
  ['delegate_task', '{"plan": "p", "subtasks": [', /^the arguments are not JSON: .*\nExpected: delegate_task\(/],
  ['spawn', '["x"]', /^the arguments must be one JSON object, not a list/],
  ['spawn_agent', '7', /^the arguments must be one JSON object, not 7/],
  ['spawn', '', /^task is missing\nExpected: spawn\(/],
  ['spawn_agent', '{}', /^task is missing\nExpected: spawn_agent\(/],
  ['spawn_await', 'null', /^job_ids is missing\nExpected: spawn_await\(/],
  ['delegate_task', '{}', /^plan is missing\nsubtasks is missing\nExpected: delegate_task\(/],
  ['spawn', '{"task": null}', /^task: expected string, got null/],
  ['spawn_agent', '{"task": " "}', /^task: must not be empty, got " "/],
  ['spawn', '{"task": ["a", "b"]}', /^task: expected string, got a list/],
  ['spawn_agent', '{"task": ["a", "b"]}', /^task: expected string, got a list/],
  ['spawn_agent', '{"task": {"do": "it"}}', /^task: expected string, got an object/],
  ['spawn', `{"task": ${'['.repeat(5000)}${']'.repeat(5000)}}`, /^the arguments are not JSON: nested deeper than/],
  ['spawn', '{"goal": "x"}', /^task is missing.*\nExpected: /],
  ['spawn_agent', '{"task": "x", "max_tool_calls": "many"}', /^max_tool_calls: expected .*"many"/],
  ['spawn_agent', '{"task": "x", "max_tool_calls": 1.5}', /^max_tool_calls: expected .*1\.5/],
  ['spawn_agent', '{"task": "x", "mode": "dangerous"}', /^mode: expected .*"plan".*"auto"/],
  ['spawn_agent', '{"task": "x", "schema": "a number"}', /^schema: expected object, got "a number"/],
  ['spawn_await', '{"job_ids": {"all": true}}', /^job_ids: expected string, got an object/],
  ['delegate_task', subtasks('look around'), /^subtasks: expected list, got "look around"/],
  [
    'delegate_task',
    subtasks(['a', 3]),
    /^subtasks\[0\]: expected object, got "a"\nsubtasks\[1\]: expected object, got 3/,
  ],
  [
    'delegate_task',
    subtasks([{}, { task: ['x'] }]),
    /^subtasks\[0\]\.task is missing\nsubtasks\[1\]\.task: expected string/,
  ],
  [
    'delegate_task',
    subtasks([{ task: 'a' }, { task: 'b', depends_on: 'a' }]),
    /^subtasks\[1\]\.depends_on: expected .*"a"/,
  ],
  ['delegate_task', subtasks([{ task: 'a' }, { task: 'b', depends_on: [0] }]), /^subtasks\[1\]\.depends_on: expected /],
]

/** Slips that leave no doubt about what is meant. */
const MENDED: [tool: string, args: string][] = [
  ['spawn_agent', '```json\n{"task": "x",}\n```'],
  ['spawn_agent', JSON.stringify('{"task": "x", "max_tool_calls": "3"}')],
  ['spawn_agent', '{"task": 7, "max_tool_calls": "3", "scope": null}'],
  ['spawn_agent', '{"description": "x", "prompt": "do x", "subagent_type": ""}'],
  ['delegate_task', subtasks('[{"task": "x", "depends_on": null}]')],
  ['delegate_task', subtasks({ task: 'x' })],
  ['delegate_task', subtasks(['{"task": "x"}'])],
  ['delegate_task', '{"plan": "two\nlines", "subtasks": [{"task": "x"}]}'],
]

const calls = (list: readonly (readonly [string, string, ...unknown[]])[]) =>
  list.map(([tool, raw_args]) => ({ tool, raw_args }))

describe('seed 002, C13: arguments of weak models', () => {
  it('C13: what cannot be understood is an error that says what was expected, and the run goes on', async () => {
    const { retinue, model } = await family({ root: [{ calls: calls(REFUSED) }, DONE] })
    const { result, events } = await runToEnd(retinue)
    expect(result).toMatchObject({ outcome: 'completed', text: 'Done.' })
    const told = await toldTo(retinue, result.run_id)
    expect(told).toHaveLength(REFUSED.length)
    for (const [i, [tool, args, answer]] of REFUSED.entries()) {
      expect(told[i], args.slice(0, 80)).toMatchObject({ tool, is_error: true, content: expect.stringMatching(answer) })
      expect(told[i]?.content).toContain(`\nExpected: ${tool}(`)
    }
    expect(dataOf(events, 'agent.subagent_created')).toEqual([])
    model.assertAllUsed()
  })

  it('C13: what must have been meant is done, and the log says what was mended', async () => {
    const { retinue, model } = await family({ root: [{ calls: calls(MENDED) }, DONE], 'a*': [{ text: 'It works.' }] })
    const { result, events } = await runToEnd(retinue)
    const told = await toldTo(retinue, result.run_id)
    const called = dataOf(events, 'tool.called')
    for (const [i, [tool, args]] of MENDED.entries()) {
      expect(told[i], args).toMatchObject({ tool, is_error: false, content: expect.stringMatching(/^\[COMPLETED\]/) })
      expect(called[i]?.mended, args).not.toEqual([])
    }
    const created = dataOf(events, 'agent.subagent_created').map(({ contract }) => contract)
    expect(created.map(({ step }) => step.description).sort()).toEqual(['7', 'do x', ...Array(6).fill('x')])
    expect(created.filter(({ execution }) => execution.budget.tool_calls === 3)).toHaveLength(2)
    model.assertAllUsed()
  })

  it('C13: lists of ids come in any shape', async () => {
    const shapes = ['{"job_ids": ["a1", "a2"]}', '{"job_ids": "[\\"a1\\", \\"a2\\"]"}', '{"ids": "a1 a2"}']
    const { retinue, model } = await family({
      root: [
        { calls: [{ spawn: { task: 'x' } }, { spawn: { task: 'y' } }] },
        { calls: shapes.map((raw_args) => ({ tool: 'spawn_await', raw_args })) },
        DONE,
      ],
      'a*': [{ text: 'It works.' }],
    })
    const { result } = await runToEnd(retinue)
    const told = (await toldTo(retinue, result.run_id)).slice(2)
    expect(told).toHaveLength(3)
    for (const { content, is_error } of told) {
      expect(is_error).toBe(false)
      expect(content).toMatch(/^\[a1: OK\]\nIt works\.\n.*\n\n\[a2: OK\]\nIt works\./)
    }
    model.assertAllUsed()
  })

  it("C13: the same over a provider's protocol: the next request has the errors, each under its call", async () => {
    const broken = [
      { name: 'spawn_agent', args: '{"task": "x', id: 'one' },
      { name: 'delegate_task', args: '{"plan": ["p"]}', id: 'two' },
      { name: 'Spawn_Await', args: '', id: 'three' },
      { name: 'spawn', args: '{"task": []}', id: 'four' },
    ]
    const server = await startLoopback({ protocol: 'chat', steps: [{ calls: broken }, { text: 'Done.' }] })
    onTestFinished(() => server.close())
    const models = createModels({
      env: { KEY: 'k' },
      scripts_root: '.',
      readText: async () => null,
      providers: { it: { type: 'openai', api: 'chat', base_url: server.url, api_key_env: 'KEY' } },
    })
    const cwd = makeProject({})
    const retinue = await testRetinue({ cwd, models })
    const { result } = await runToEnd(retinue, { model: 'it/weak' })
    expect(result).toMatchObject({ outcome: 'completed', text: 'Done.' })
    type Sent = { messages: { role: string; tool_call_id?: string; content: string }[] }
    const sent = server.requests[1]?.body as Sent | undefined
    const told = (sent?.messages ?? []).filter(({ role }) => role === 'tool')
    expect(told.map(({ tool_call_id }) => tool_call_id)).toEqual(['one', 'two', 'three', 'four'])
    expect(told.map(({ content }) => content.split('\n')[0])).toEqual([
      expect.stringMatching(/^the arguments are not JSON/),
      expect.stringMatching(/^plan: expected string, got a list/),
      'job_ids is missing',
      expect.stringMatching(/^task: expected string, got a list/),
    ])
  })
})
