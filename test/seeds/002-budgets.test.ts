import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Settings } from '../../src/index.js'
import { dataOf, runToEnd } from '../support/bench.js'
import { ask, contracts, DONE, PAID, withoutSeconds } from './asking.js'
import { family, gate, project, requestsOf, subAgents, toldTo } from './family.js'

describe('seed 002, C1: spawn_agent', () => {
  it('C1: takes task, scope, max_tool_calls and mode, and gives the result when there is one', async () => {
    const answer = gate()
    const { retinue, model, cwd } = await family(
      {
        root: [
          { calls: [{ spawn_agent: { task: 'Find the door', scope: 'src', max_tool_calls: 4, mode: 'plan' } }] },
          { expect: { like: '[COMPLETED]\nThe door is green.\n1 tool call, <*>' }, ...DONE },
        ],
        a1: [
          { expect: { like: 'Find the door\n\nLook at: src' }, calls: [{ list_dir: { path: 'src' } }] },
          { text: 'The door is green.' },
        ],
      },
      {
        files: { 'src/door.txt': 'green\n' },
        settings: { mode: 'auto' },
        hold: ({ agent_id }) => (agent_id === 'a1' ? answer.opened : undefined),
      },
    )
    const run = retinue.run({ task: 'Where is the door?' })
    const order: string[] = []
    for await (const { type, agent_id, data } of run) {
      if (agent_id === 'root' && type === 'tool.finished') order.push(`${data.tool} finished`)
      if (type === 'agent.subagent_closed') order.push('closed')
      // It is at its model, and its parent has no answer of the tool before that has one.
      if (type === 'model.requested' && agent_id === 'a1') answer.open()
    }
    expect(order).toEqual(['closed', 'spawn_agent finished'])
    const [contract] = await contracts(cwd)
    expect(contract?.permissions.mode).toBe('plan')
    expect(contract?.workspace.isolation).toBe('read_only')
    expect(contract?.execution.budget.tool_calls).toBe(4)
    const [first] = await requestsOf(retinue, run.run_id, 'root')
    expect(first?.tools.find(({ name }) => name === 'spawn_agent')?.parameters).toMatchObject({
      required: ['task'],
      properties: {
        task: { type: 'string' },
        scope: { type: 'string' },
        max_tool_calls: { type: 'integer' },
        mode: { enum: ['plan', 'auto'] },
      },
    })
    model.assertAllUsed()
  })
})

describe('seed 002, C2: delegate_task', () => {
  it('C2: independent subtasks are at their models at the same time, and one report has all of them', async () => {
    const both = gate()
    let there = 0
    const { retinue, model } = await family(
      {
        root: [
          {
            calls: [
              {
                delegate_task: {
                  plan: 'Know the harbour',
                  subtasks: [{ task: 'Count boats' }, { task: 'Ask names', scope: 'quay' }],
                },
              },
            ],
          },
          DONE,
        ],
        a1: [{ expect: 'Count boats', text: 'Nine boats.', ...PAID }],
        a2: [{ expect: { contains: ['Ask names', 'Look at: quay'] }, text: 'Ada and Grace.', ...PAID }],
      },
      {
        // Neither is answered before both have asked. One after the other they would wait for ever.
        hold: ({ agent_id }) => {
          if (agent_id === 'root') return undefined
          there += 1
          if (there === 2) both.open()
          return both.opened
        },
      },
    )
    const { result } = await runToEnd(retinue)
    const [told] = await toldTo(retinue, result.run_id)
    expect(told?.is_error).toBe(false)
    expect(withoutSeconds(told?.content ?? '')).toBe(
      [
        '[COMPLETED] 2 of 2 subtasks completed\nPlan: Know the harbour',
        '[COMPLETED] subtask 0, a1: Count boats\nNine boats.\n0 tool calls, 120 tokens, $0.010, 0.0s',
        '[COMPLETED] subtask 1, a2: Ask names\nAda and Grace.\n0 tool calls, 120 tokens, $0.010, 0.0s',
      ].join('\n\n'),
    )
    model.assertAllUsed()
  })

  it('C2: a subtask that depends on another waits for it and is given its result', async () => {
    const subtasks: Record<string, string | number>[] = [
      { task: 'List files' },
      { task: 'Analyze files', depends_on: 0 },
      { task: 'Sum up', depends_on: 1 },
    ]
    const { retinue, model } = await family({
      root: [{ calls: [{ delegate_task: { plan: 'Multi-step', subtasks } }] }, DONE],
      a1: [{ text: 'File list: a.ts, b.ts' }],
      a2: [{ expect: { contains: ['Analyze files', 'Multi-step', 'File list: a.ts, b.ts'] }, text: 'Two files.' }],
      a3: [{ expect: { contains: ['Sum up', 'Two files.'], excludes: 'File list' }, text: 'All in all, two.' }],
    })
    const { result, events } = await runToEnd(retinue)
    const about = events.flatMap(({ type, data }) =>
      type === 'agent.subagent_created' || type === 'agent.subagent_closed' ? [`${type} ${data.sub_agent_id}`] : [],
    )
    expect(about).toEqual(
      ['a1', 'a2', 'a3'].flatMap((id) => [`agent.subagent_created ${id}`, `agent.subagent_closed ${id}`]),
    )
    expect(dataOf(events, 'agent.subagent_created').map(({ contract }) => contract.step.inputs)).toEqual([
      undefined,
      [{ from: 'a1', outcome: 'completed' }],
      [{ from: 'a2', outcome: 'completed' }],
    ])
    expect((await toldTo(retinue, result.run_id))[0]?.content).toContain('[COMPLETED] 3 of 3 subtasks completed')
    model.assertAllUsed()
  })

  it('C2: after an error nothing more is started, and the report says so', async () => {
    const subtasks: Record<string, string | number>[] = [
      { task: 'Failing step' },
      { task: 'Next step', depends_on: 0 },
      { task: 'And another', depends_on: 1 },
    ]
    const { retinue, model } = await family({
      root: [{ calls: [{ delegate_task: { plan: 'Failing plan', subtasks } }] }, DONE],
      a1: [{ fail: { code: 'bad_request', message: 'the model is broken' } }],
    })
    const { result, events } = await runToEnd(retinue)
    expect(dataOf(events, 'agent.subagent_created')).toHaveLength(1)
    const [told] = await toldTo(retinue, result.run_id)
    expect(told?.is_error).toBe(true)
    expect(withoutSeconds(told?.content ?? '')).toBe(
      [
        '[ERROR] 0 of 3 subtasks completed\nPlan: Failing plan',
        '[ERROR] subtask 0, a1: Failing step\nerror: the model is broken\n(it said nothing)\n0 tool calls, 0 tokens, $0.00, 0.0s',
        '[SKIPPED] subtask 1: Next step\nnot started: subtask 0, which it depends on, has no result',
        '[SKIPPED] subtask 2: And another\nnot started: subtask 1, which it depends on, has no result',
      ].join('\n\n'),
    )
    model.assertAllUsed()
  })

  it('C2: at most five subtasks, each depending on an earlier one or none; else nothing is started', async () => {
    const many = Array.from({ length: 8 }, () => ({ task: 'Do something' }))
    const call = (subtasks: unknown[]) => ({ delegate_task: { plan: 'p', subtasks } }) as never
    const { retinue } = await family({
      root: [
        {
          calls: [
            call(many),
            call([{ task: 'a' }, { task: 'b', depends_on: 1 }]),
            call([{ task: 'a', depends_on: 0 }]),
            call([{ task: 'a' }, { task: 'b', depends_on: -1 }]),
            call([]),
          ],
        },
        DONE,
      ],
    })
    const { result, events } = await runToEnd(retinue)
    const told = await toldTo(retinue, result.run_id)
    expect(told.map(({ is_error }) => is_error)).toEqual(Array(5).fill(true))
    expect(told.map(({ content }) => content)).toEqual([
      'Maximum 5 subtasks, got 8: put some together, or call delegate_task again afterwards',
      'subtasks[1].depends_on: expected the index of an earlier one, 0 to 0, got 1',
      'subtasks[0].depends_on: the first subtask can depend on none, got 0',
      'subtasks[1].depends_on: expected the index of an earlier one, 0 to 0, got -1',
      'subtasks: must not be empty',
    ])
    expect(dataOf(events, 'agent.subagent_created')).toEqual([])
    expect(result.outcome).toBe('completed')
  })
})

describe('seed 002, C3: budgets', () => {
  it('C3: unless asked otherwise a sub-agent has 15 calls, 8192 tokens for a request and 60 seconds', async () => {
    const { retinue, cwd } = await family({ root: [ask({}), DONE], a1: [DONE] })
    await runToEnd(retinue)
    const [contract] = await contracts(cwd)
    expect(contract?.execution.budget).toEqual({
      tool_calls: 15,
      turns: 17,
      context_tokens: 8192,
      wall_ms: 60_000,
      total_tokens: 8192 * 8,
      cost_usd: null,
      sub_agents: 0,
    })
    expect(contract?.execution.attempt_timeout_ms).toBe(60_000)
    expect(contract?.adjustments).toEqual([])
  })

  it('C3: settings, profile and call override a part of it, and the rest stays', async () => {
    const { retinue, cwd } = await family(
      {
        root: [ask({ max_tool_calls: 5 }, { profile: 'patient' }, { profile: 'patient', max_tool_calls: 2 }), DONE],
        'a*': [DONE],
      },
      {
        settings: {
          delegation: {
            budget: { context_tokens: 9000 },
            profiles: { patient: { budget: { wall_ms: 90_000, tool_calls: 20 } } },
          },
        },
      },
    )
    await runToEnd(retinue)
    expect(
      (await contracts(cwd)).map(({ execution: { budget } }) => [
        budget.tool_calls,
        budget.turns,
        budget.context_tokens,
        budget.wall_ms,
      ]),
    ).toEqual([
      [5, 7, 9000, 60_000],
      [20, 22, 9000, 90_000],
      [2, 4, 9000, 90_000],
    ])
  })

  it('C3: never more than its parent has, and whoever asked is told', async () => {
    const { retinue, cwd, model } = await family(
      {
        root: [
          ask({ max_tool_calls: 200 }),
          { expect: 'Note: tool_calls 200 was not given, 100 instead: its parent has no more itself', ...DONE },
        ],
        a1: [DONE],
      },
      { settings: { budget: { tool_calls: 100 } } },
    )
    await runToEnd(retinue)
    expect((await contracts(cwd))[0]).toMatchObject({
      execution: { budget: { tool_calls: 100 } },
      adjustments: [
        { field: 'execution.budget.tool_calls', asked: '200', given: '100', reason: 'its parent has no more itself' },
      ],
    })
    model.assertAllUsed()

    // A profile is a boundary too, and the defaults give way in silence: nobody asked for them.
    const small = await family(
      { root: [ask({ profile: 'small', max_tool_calls: 9 }), DONE], a1: [DONE] },
      {
        settings: {
          budget: { wall_ms: 30_000, context_tokens: 8000 },
          delegation: { profiles: { small: { budget: { tool_calls: 3 } } } },
        },
      },
    )
    await runToEnd(small.retinue)
    const [contract] = await contracts(small.cwd)
    expect(contract?.execution.budget).toMatchObject({ tool_calls: 3, context_tokens: 8000 })
    expect(contract?.execution.budget.wall_ms).toBeLessThanOrEqual(30_000)
    expect(contract?.adjustments).toEqual([
      { field: 'execution.budget.tool_calls', asked: '9', given: '3', reason: 'the profile small gives no more' },
    ])
  })

  it('C3: zero, negative and too short budgets are refused by every door', async () => {
    const { retinue } = await family({
      root: [ask({ max_tool_calls: 0 }, { max_tool_calls: -3 }), DONE],
    })
    const { result, events } = await runToEnd(retinue)
    const told = await toldTo(retinue, result.run_id)
    expect(told).toEqual(
      [0, -3].map(() => ({
        tool: 'spawn_agent',
        is_error: true,
        content: '[ERROR] Not spawned: tool_calls must be positive.',
      })),
    )
    expect(dataOf(events, 'agent.subagent_created')).toEqual([])

    const program = (budget: Record<string, number>) => retinue.spawn({ task: 'x', budget })
    await expect(program({ wall_ms: 1000 })).rejects.toThrow('wall_ms must be at least 5000')
    await expect(program({ context_tokens: 0 })).rejects.toThrow('context_tokens must be positive')
    await expect(program({ total_tokens: -1 })).rejects.toThrow('total_tokens must be positive')
    await expect(program({ patience: 7 })).rejects.toThrow('patience')

    const settings: Settings = { delegation: { budget: { wall_ms: 1000, tool_calls: 0 } } }
    await expect(family({ root: [DONE] }, { settings })).rejects.toThrow(
      /wall_ms must be at least 5000.*tool_calls must be positive/,
    )
    await expect(
      project({ root: [DONE] }, { 'retinue.yaml': 'profiles: {hasty: {budget: {wall_ms: 1000}}}\n' }),
    ).rejects.toThrow(/wall_ms must be at least 5000/)
  })

  it('C3: a spent budget is no error: it reports what it has, and its parent is told that it is not all', async () => {
    const look = { calls: [{ list_dir: {} }] }
    const { retinue, model } = await family({
      root: [
        ask({ max_tool_calls: 3 }),
        {
          expect: { like: '[INCOMPLETE] The budget of 3 tool calls is used up.\nThree looks.\n3 tool calls, <*>' },
          ...DONE,
        },
      ],
      a1: { steps: [look, look, look, look], report: [{ text: 'Three looks.' }] },
    })
    const { result, events } = await runToEnd(retinue)
    expect(dataOf(events, 'agent.subagent_closed')).toMatchObject([
      { final_status: 'completed', result: { outcome: 'budget_exceeded', cause: 'tool_calls', tool_calls: 3 } },
    ])
    expect(result.outcome).toBe('completed')
    model.assertAllUsed()
  })

  it('C3: one that takes longer than its time is stopped, in its model call', { timeout: 60_000 }, async () => {
    const { retinue, model } = await family(
      {
        root: [
          ask({ profile: 'hasty' }),
          { expect: { matches: '^\\[ERROR\\] timeout: The budget of 5 seconds is used up\\.' }, ...DONE },
        ],
      },
      {
        hold: ({ agent_id }) => (agent_id === 'a1' ? gate().opened : undefined),
        settings: { delegation: { profiles: { hasty: { budget: { wall_ms: 5000 } } } } },
      },
    )
    const { events } = await runToEnd(retinue)
    expect(dataOf(events, 'agent.subagent_closed')).toMatchObject([
      { final_status: 'failed', result: { outcome: 'timeout' } },
    ])
    model.assertAllUsed()
  })
})

describe('seed 002, C4: depth', () => {
  it('C4: two levels below the root and no third: Maximum sub-agent depth (2) exceeded', async () => {
    const lead = { calls: [{ spawn_agent: { task: 'Go down', profile: 'lead' } }] }
    const refused = 'Not allowed: Maximum sub-agent depth (2) exceeded.'
    const { retinue, model, cwd } = await family(
      {
        root: [lead, DONE],
        a1: [lead, DONE],
        'a1.1': [
          {
            calls: [
              { spawn_agent: { task: 'x' } },
              { spawn: { task: 'x' } },
              { spawn_await: { job_ids: '*' } },
              { delegate_task: { plan: 'x', subtasks: [{ task: 'x' }] } },
            ],
          },
          { expect: { like: Array(4).fill(refused).join('\n') }, ...DONE },
        ],
      },
      { settings: { delegation: { profiles: { lead: { can_spawn_children: true } } } } },
    )
    await runToEnd(retinue)
    expect((await subAgents(cwd)).map(({ agent_id, depth }) => [agent_id, depth])).toEqual([
      ['root', 0],
      ['a1', 1],
      ['a1.1', 2],
    ])
    expect((await contracts(cwd)).map(({ permissions }) => permissions.max_delegation_depth)).toEqual([1, 0])
    model.assertAllUsed()
  })

  it('C4: the limit is a setting, and a run may ask for another', async () => {
    const deep = (settings: Settings['delegation'], delegation?: { max_depth: number }) =>
      family(
        {
          root: [{ calls: [{ spawn_agent: { task: 'x', profile: 'lead' } }] }, DONE],
          a1: [{ calls: [{ spawn_agent: { task: 'y' } }] }, DONE],
          'a1.1': [DONE],
        },
        { settings: { delegation: { ...settings, profiles: { lead: { can_spawn_children: true } } } } },
      ).then(async ({ retinue }) => {
        const { result } = await runToEnd(retinue, delegation ? { delegation } : {})
        return (await toldTo(retinue, result.run_id, 'a1'))[0]?.content
      })
    expect(await deep({ max_depth: 1 })).toBe('Not allowed: Maximum sub-agent depth (1) exceeded.')
    expect(await deep({}, { max_depth: 1 })).toBe('Not allowed: Maximum sub-agent depth (1) exceeded.')
    expect(await deep({ max_depth: 1 }, { max_depth: 5 })).toMatch(/^\[COMPLETED\]/)
    expect(await deep({})).toMatch(/^\[COMPLETED\]/)
  })
})

describe('seed 002, C5: the prompt of a sub-agent', () => {
  it('C5: has task, working directory and budget, asks to be concise and to end with a summary, and is light', async () => {
    const { retinue, cwd } = await family(
      { root: [ask({ task: 'Search for auth patterns', max_tool_calls: 10 }), DONE], a1: [DONE] },
      { files: { 'CLAUDE.md': 'Long house rules. '.repeat(500) } },
    )
    const { result } = await runToEnd(retinue, { task: 'A long story' })
    const [request] = await requestsOf(retinue, result.run_id, 'a1')
    expect(request?.messages).toEqual([{ role: 'user', content: 'Search for auth patterns' }])
    const system = request?.system ?? ''
    expect(system).toContain(`Working directory: ${cwd}`)
    expect(system).toContain('Your budget: 10 tool calls, 12 turns, 60 seconds.')
    expect(system).toMatch(/\bconcise\b/)
    expect(system).toMatch(/\bsummary\b/)
    expect(system).not.toContain('house rules')
    expect(system).not.toContain('A long story')
    // Four characters are about a token.
    expect(system.length / 4).toBeLessThan(400)
  })
})

describe('seed 002, C7 and C8: results', () => {
  const usage = { input_tokens: 1000, output_tokens: 234 }
  const worker = [
    { calls: [{ read_file: { path: 'a.txt' } }], usage, cost_usd: 0.02 },
    { calls: [{ edit_file: { path: 'a.txt', old_text: 'old', new_text: 'new' } }], usage, cost_usd: 0.02 },
    { text: 'Mended a.txt.', usage, cost_usd: 0.02 },
  ]

  it('C7: has id, status, response, calls, tokens, files read and changed, and how long it took', async () => {
    const { retinue, cwd } = await family(
      {
        root: [
          { ...ask({}), ...PAID },
          { ...DONE, ...PAID },
        ],
        a1: worker,
      },
      { files: { 'a.txt': 'old\n' }, settings: { mode: 'auto' } },
    )
    const { result, events } = await runToEnd(retinue)
    const [closed] = dataOf(events, 'agent.subagent_closed')
    expect(closed).toEqual({
      sub_agent_id: 'a1',
      step_idx: 0,
      final_status: 'completed',
      close_reason: 'it gave its answer',
      result: {
        outcome: 'completed',
        cause: null,
        reason: null,
        text: 'Mended a.txt.',
        turns: 3,
        tool_calls: 2,
        usage: expect.objectContaining({ input_tokens: 3000, output_tokens: 702 }),
        cost_usd: 0.06,
        files_read: ['a.txt'],
        files_changed: ['a.txt'],
        duration_ms: expect.any(Number),
        context_tokens: expect.any(Number),
        receipt: {
          branch: expect.stringMatching(/^retinue\/\w+\/a1$/),
          base: expect.stringMatching(/^[0-9a-f]{40}$/),
          commits: [{ id: expect.any(String), title: 'Work', author: 'Retinue a1' }],
          files: [{ path: 'a.txt', kind: 'modified' }],
          gates: [],
          merged: { commit: closed?.result.receipt?.commits[0]?.id, kind: 'fast_forward' },
          kept: null,
          left_out: [],
        },
      },
      used: { total_tokens: 3702, cost_usd: 0.06, sub_agents: 0 },
    })
    expect(closed?.result.duration_ms).toBeGreaterThan(0)
    // And what the files are is no word of the model's.
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('new\n')
    expect(result.files_changed).toEqual(['a.txt'])
    expect(result.cost_usd).toBeCloseTo(0.08)
  })

  it('C8: as text: status first, then what it said, calls, seconds and files', async () => {
    const { retinue } = await family(
      {
        root: [
          { ...ask({}), ...PAID },
          { ...DONE, ...PAID },
        ],
        a1: worker,
      },
      { files: { 'a.txt': 'old\n' }, settings: { mode: 'auto' } },
    )
    const { result } = await runToEnd(retinue)
    const [told] = await toldTo(retinue, result.run_id)
    expect(told).toMatchObject({ tool: 'spawn_agent', is_error: false })
    expect(withoutSeconds(told?.content ?? '')).toBe(
      '[COMPLETED]\nMended a.txt.\n2 tool calls, 3,702 tokens, $0.060, 0.0s\nFiles read: a.txt\nFiles changed: a.txt',
    )
  })

  it('C8: errors start with [ERROR] and the reason, whatever the sub-agent said before', async () => {
    const { retinue } = await family({
      root: [ask({}), DONE],
      a1: [
        { text: '[COMPLETED]\nAll is well.', calls: [{ list_dir: {} }], ...PAID },
        { fail: { code: 'auth', message: 'LMX connection refused' } },
      ],
    })
    const { result } = await runToEnd(retinue)
    const [told] = await toldTo(retinue, result.run_id)
    expect(told?.is_error).toBe(true)
    expect(told?.content).toMatch(/^\[ERROR\] error: LMX connection refused\n/)
    expect(told?.content).not.toMatch(/^\[COMPLETED\]/m)
    expect(told?.content).toMatch(/^1 tool call, 120 tokens, .*\d\.\ds$/m)
  })
})

describe('seed 002, C10: who counts what', () => {
  it('C10: the parent counts the call that delegates, not the calls of the sub-agent', async () => {
    const look = { calls: [{ list_dir: {} }] }
    const { retinue, model } = await family(
      { root: [ask({}), ask({}), DONE], 'a*': { steps: [look, look, look], report: [{ text: 'So far.' }] } },
      { settings: { budget: { tool_calls: 2 } } },
    )
    const { result, events } = await runToEnd(retinue)
    expect(result).toMatchObject({ outcome: 'completed', tool_calls: 2, turns: 3, sub_agents: 2 })
    // Its own limit of two is a bound for each of them, and both ended by it.
    expect(dataOf(events, 'agent.subagent_closed').map(({ result }) => result.tool_calls)).toEqual([2, 2])
    model.assertAllUsed()
  })
})

describe('seed 002, C11: long histories', () => {
  const big = (letter: string) => `${`${letter}${letter}${letter} `.repeat(15)}\n`.repeat(80)
  const files = { 'a.txt': big('a'), 'b.txt': big('b'), 'c.txt': big('c'), 'd.txt': big('d') }
  const read = (path: string) => ({ calls: [{ read_file: { path } }] })

  it('C11: a sub-agent with little room has its old results masked first, and goes on', async () => {
    const { retinue, model } = await family(
      { root: [ask({}), DONE], a1: [...Object.keys(files).map(read), { text: 'Read.' }] },
      { files },
    )
    const { result, events } = await runToEnd(retinue)
    const own = events.filter(({ agent_id }) => agent_id === 'a1')
    expect(dataOf(own, 'context.masked')[0]?.call_ids[0]).toBe('c1')
    expect(dataOf(own, 'context.summarized')).toEqual([])
    expect(dataOf(events, 'agent.subagent_closed')[0]?.result).toMatchObject({ outcome: 'completed', text: 'Read.' })
    for (const { estimated_tokens } of dataOf(own, 'model.requested'))
      expect(estimated_tokens).toBeLessThanOrEqual(8192)
    const requests = await requestsOf(retinue, result.run_id, 'a1')
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain('characters removed to save space')
    model.assertAllUsed()
  })

  it('C11: where masking is not enough it is summarized, keeps its task, and its parent sees nothing of it', async () => {
    const chatter = (n: number) => ({
      text: `Thought ${n}: ${'so it goes on and on. '.repeat(120)}`,
      calls: [{ list_dir: {} }],
    })
    const { retinue } = await family(
      {
        root: [ask({ task: 'Think hard' }), { expect: '[COMPLETED]\nFinished.', ...DONE }],
        a1: {
          steps: [...Array.from({ length: 13 }, (_, n) => chatter(n)), { text: 'Finished.' }],
          summary: Array.from({ length: 4 }, (_, n) => ({ text: `Summary ${n}.` })),
        },
      },
      // Thirteen requests that are nearly full are more than it would get.
      { settings: { delegation: { budget: { total_tokens: 150_000 } } } },
    )
    const { result, events } = await runToEnd(retinue)
    expect(result.outcome).toBe('completed')
    const own = events.filter(({ agent_id }) => agent_id === 'a1')
    expect(dataOf(own, 'context.summarized').length).toBeGreaterThan(0)
    expect(
      dataOf(
        events.filter(({ agent_id }) => agent_id === 'root'),
        'context.summarized',
      ),
    ).toEqual([])
    const last = (await requestsOf(retinue, result.run_id, 'a1')).at(-1)?.messages ?? []
    expect(last[0]).toEqual({ role: 'user', content: 'Think hard' })
    expect(JSON.stringify(last[1])).toContain('Summary of the work so far')
    for (const { estimated_tokens } of dataOf(own, 'model.requested'))
      expect(estimated_tokens).toBeLessThanOrEqual(8192)
  })
})
