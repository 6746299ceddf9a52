import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Budget,
  type FanOutOptions,
  type Retinue,
  RetinueError,
  type Settings,
  type SpawnTask,
} from '../../src/index.js'
import { dataOf } from '../support/bench.js'
import { ON_WORKERS } from '../support/stores.js'
import { type FamilyOptions, family, gate, requestsOf, retinueIn, subAgents } from './family.js'

const usage = { input_tokens: 1000, output_tokens: 200 }
const YES = { text: 'Yes.' }

const tasks = (count: number): SpawnTask[] => Array.from({ length: count }, (_, n) => ({ task: `Task ${n}` }))

/** Counts the sub-agents that are at their models. The first are held until so many are. */
function counting(wanted: number): { hold: NonNullable<FamilyOptions['hold']>; most: () => number } {
  const there = gate()
  let now = 0
  let most = 0
  return {
    most: () => most,
    hold: async () => {
      now += 1
      most = Math.max(most, now)
      if (now === wanted) there.open()
      await there.opened
      // One too many would come in this time.
      await new Promise((resolve) => setTimeout(resolve, 20))
      now -= 1
    },
  }
}

/** What a call of the library was refused with. */
async function refusal(work: () => Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work().then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof RetinueError)) throw new Error(`no RetinueError, but ${error}`)
  return { code: error.code, message: error.message }
}

describe('seed 004, E3: spawn', () => {
  it('E3: gives a structured result: success, summary, details, calls, context, time, no error', async () => {
    const { retinue, model, cwd } = await family(
      {
        a1: [
          {
            expect: { like: 'Find the patterns\n\nLook at: src' },
            calls: [{ read_file: { path: 'src/auth.ts' } }],
            usage,
            cost_usd: 0.01,
          },
          { text: 'Found 3 patterns.\n\nFirst, second\nand third.', usage, cost_usd: 0.01 },
        ],
      },
      {
        files: { 'src/auth.ts': 'export const a = 1\n' },
        settings: { delegation: { profiles: { researcher: { tools: ['read_file', 'search_files'], mode: 'plan' } } } },
      },
    )
    const result = await retinue.spawn({
      task: 'Find the patterns',
      profile: 'researcher',
      scope: 'src',
      tools: ['read_file', 'write_file'],
      budget: { tool_calls: 10 },
    })
    expect(result).toEqual({
      run_id: expect.any(String),
      agent_id: 'a1',
      success: true,
      outcome: 'completed',
      summary: 'Found 3 patterns.',
      details: 'Found 3 patterns.\n\nFirst, second\nand third.',
      tool_calls: 1,
      tokens: 2400,
      context_tokens: 1200,
      cost_usd: 0.02,
      duration_ms: expect.any(Number),
      files_read: ['src/auth.ts'],
      files_changed: [],
      receipt: null,
      adjustments: [
        {
          field: 'permissions.allowed_tools',
          asked: 'write_file',
          given: 'none',
          reason: 'the profile researcher does not name it',
        },
      ],
      cached_from: null,
      error: null,
    })
    expect(result.duration_ms).toBeGreaterThan(0)
    // It is a run like any other: its contract is in the database, and its requests can be rebuilt.
    const [root, child] = await subAgents(cwd)
    expect(root).toMatchObject({ agent_id: 'root', state: 'closed', outcome: 'completed' })
    expect(JSON.parse(child?.context_json ?? '')).toMatchObject({
      agent: { profile_id: 'researcher' },
      parent: { run_id: result.run_id, depth: 1 },
      permissions: { mode: 'plan', allowed_tools: ['read_file'] },
      execution: { budget: { tool_calls: 10, context_tokens: 8192 } },
    })
    const [request] = await requestsOf(retinue, result.run_id, 'a1')
    expect(request?.tools.map(({ name }) => name)).toEqual(['read_file'])
    // The program that asked used no model.
    expect(model.requests.map(({ caller }) => caller.agent_id)).toEqual(['a1', 'a1'])
    model.assertAllUsed()
  })

  it('E3: what went wrong is a result, with the error and what there was until then', async () => {
    const { retinue } = await family({
      a1: [
        { text: 'It is fine, I am sure.', calls: [{ list_dir: {} }], usage, cost_usd: 0 },
        { fail: { code: 'bad_request', message: 'the model was switched off' } },
      ],
    })
    expect(await retinue.spawn({ task: 'Work' })).toMatchObject({
      agent_id: 'a1',
      success: false,
      outcome: 'error',
      details: 'It is fine, I am sure.',
      tool_calls: 1,
      error: 'the model was switched off',
    })
  })

  it('E3: a check that fails makes it no success, and a budget that ended says so', async () => {
    const look = { calls: [{ list_dir: {} }] }
    const { retinue } = await family(
      {
        a1: { steps: [{ text: '{"n": 1}' }] },
        a2: { steps: [{ text: 'not JSON' }] },
        a3: { steps: [look, look], report: [{ text: 'One look.' }] },
      },
      { settings: { mode: 'auto' } },
    )
    const schema = { kind: 'schema' as const, schema: { type: 'object', required: ['n'] } }
    const results = await retinue
      .fanOut(
        [
          { task: 'JSON', checks: [schema] },
          { task: 'JSON', checks: [schema] },
          { task: 'Look', budget: { tool_calls: 1 } },
        ],
        { maxConcurrent: 1 },
      )
      .results()
    expect(results.map(({ success, outcome }) => [success, outcome])).toEqual([
      [true, 'completed'],
      [false, 'gate_failed'],
      [false, 'budget_exceeded'],
    ])
    expect(results[1]?.error).toMatch(/^the check failed: /)
    expect(results[2]).toMatchObject({ details: 'One look.', error: 'The budget of 1 tool call is used up.' })
  })
})

describe('seed 004, E4: fanOut', () => {
  it('E4: results are in the order of the tasks, whoever was done first, and failures are among them', async () => {
    const last = gate()
    const { retinue, model, cwd } = await family(
      {
        a1: [{ text: 'Slow.' }],
        a2: [{ fail: { code: 'auth', message: 'the key was refused' } }],
        a3: [{ text: 'Fast.' }],
      },
      { hold: ({ agent_id }) => (agent_id === 'a1' ? last.opened : undefined) },
    )
    const run = retinue.fanOut([{ task: 'One' }, { task: 'Two' }, { task: 'Three' }])
    const closed: string[] = []
    for await (const event of run) {
      if (event.type !== 'agent.subagent_closed') continue
      closed.push(event.data.sub_agent_id)
      if (closed.length === 2) last.open()
    }
    expect(closed.at(-1)).toBe('a1')
    const results = await run.results()
    expect(results.map(({ agent_id, success, details, error }) => [agent_id, success, details, error])).toEqual([
      ['a1', true, 'Slow.', null],
      ['a2', false, '', 'the key was refused'],
      ['a3', true, 'Fast.', null],
    ])
    expect(await run.result()).toMatchObject({
      outcome: 'completed',
      text: 'Not all of the tasks were completed.',
      sub_agents: 3,
    })
    // They are there for whoever comes later, also in another process.
    expect(await retinue.spawnResults(run.run_id)).toEqual(results)
    expect(await (await retinueIn(cwd, model)).spawnResults(run.run_id.slice(0, 6))).toEqual(results)
    expect(await retinue.replay(run.run_id)).toMatchObject({ ok: true })
    model.assertAllUsed()
  })

  it('E4: no more than maxConcurrent are at their models, and as many as that are', async () => {
    const { hold, most } = counting(3)
    const { retinue } = await family({ 'a*': [YES] }, { hold })
    const run = retinue.fanOut(tasks(10), { maxConcurrent: 3 })
    expect((await run.results()).every(({ success }) => success)).toBe(true)
    expect(most()).toBe(3)
    // Nor is more set aside than for so many: the next is created when one is closed.
    let open = 0
    for (const { type } of await retinue.events(run.run_id)) {
      if (type === 'agent.subagent_created') open += 1
      if (type === 'agent.subagent_closed') open -= 1
      expect(open).toBeLessThanOrEqual(3)
    }
  })

  it('E4: nor more than the settings let, whatever it asks for', async () => {
    const { hold, most } = counting(2)
    const { retinue } = await family({ 'a*': [YES] }, { hold, settings: { max_concurrent: 2 } })
    await retinue.fanOut(tasks(6), { maxConcurrent: 5 }).results()
    expect(most()).toBe(2)
  })

  /** What its sub-agents were given, in the order of their creation. */
  const budgetsOf = async (retinue: Retinue, run_id: string): Promise<Budget[]> =>
    dataOf(await retinue.events(run_id), 'agent.subagent_created').map(({ contract }) => contract.execution.budget)

  it('E4: what the run may spend is divided among as many as are at work at once', async () => {
    const { retinue } = await family({ 'a*': [{ ...YES, usage, cost_usd: 0 }] })
    const given = async (count: number, maxConcurrent: number) => {
      const run = retinue.fanOut(tasks(count), { maxConcurrent, budget: { total_tokens: 60_000 } })
      expect((await run.results()).map(({ error }) => error)).toEqual(Array(count).fill(null))
      return (await budgetsOf(retinue, run.run_id)).map(({ total_tokens }) => total_tokens)
    }
    expect(await given(1, 8)).toEqual([60_000])
    expect(await given(2, 2)).toEqual([30_000, 30_000])
  })

  it('E4: turns, calls and sizes of a fan-out bound each of its tasks, its own needs nothing of them', async () => {
    const { retinue } = await family({ 'a*': [YES] }, { settings: { budget: { context_tokens: 32_000 } } })
    const budget = { context_tokens: 100_000, tool_calls: 20, turns: 9 }
    const bySettings = retinue.fanOut([{ task: 'x'.repeat(200_000), budget }])
    expect(await bySettings.results()).toMatchObject([
      {
        // A task that does not fit into its own context is its own failure, however much its program read.
        outcome: 'budget_exceeded',
        adjustments: [{ field: 'execution.budget.context_tokens', asked: '100000', given: '32000' }],
      },
    ])
    expect(await bySettings.result()).toMatchObject({ outcome: 'completed' })
    expect(await budgetsOf(retinue, bySettings.run_id)).toMatchObject([{ ...budget, context_tokens: 32_000 }])

    const byOptions = retinue.fanOut([{ task: 'a', budget }, { task: 'b' }], {
      budget: { context_tokens: 4000, tool_calls: 1, turns: 1 },
    })
    expect((await byOptions.results()).map(({ success, adjustments }) => [success, adjustments.length])).toEqual([
      [true, 3],
      [true, 0],
    ])
    // The program itself takes two turns.
    const least = { context_tokens: 4000, tool_calls: 1, turns: 2 }
    expect(await budgetsOf(retinue, byOptions.run_id)).toMatchObject([least, least])
  })

  it('E4: a task for which there is nothing now is done when another one has given something back', async () => {
    const { retinue } = await family({ 'a*': [{ ...YES, usage, cost_usd: 0 }] })
    const run = retinue.fanOut(
      tasks(6).map((task) => ({ ...task, budget: { total_tokens: 40_000 } })),
      { maxConcurrent: 3, budget: { total_tokens: 48_000 } },
    )
    expect((await run.results()).map(({ success, error }) => [success, error])).toEqual(Array(6).fill([true, null]))
    expect((await run.result()).text).toBe('All of the tasks were completed.')
  })

  it('E4: when nothing is open any more, there is nothing to wait for, and all that is used up hurts no program', async () => {
    const { retinue } = await family({ 'a*': [{ ...YES, usage: { input_tokens: 10_000, output_tokens: 500 } }] })
    const run = retinue.fanOut(
      tasks(3).map((task) => ({ ...task, tools: [], budget: { total_tokens: 12_000 } })),
      { maxConcurrent: 3, budget: { total_tokens: 12_000 } },
    )
    const results = await run.results()
    expect(results.map(({ success }) => success)).toEqual([true, false, false])
    expect(results[2]?.error).toMatch(/^Not spawned: 1,500 tokens are left of 12,000/)
    expect(await run.result()).toMatchObject({ outcome: 'completed', text: 'Not all of the tasks were completed.' })
  })

  it('E4: a task that waits for others is not begun when all is cancelled', async () => {
    const never = gate()
    const { retinue } = await family({ 'a*': [YES] }, { hold: () => never.opened })
    const run = retinue.fanOut(
      tasks(3).map((task) => ({ ...task, budget: { total_tokens: 20_000 } })),
      { budget: { total_tokens: 20_500 } },
    )
    for await (const { type, agent_id } of run)
      if (type === 'model.requested' && agent_id === 'a1') run.cancel('enough')
    expect((await run.results()).map(({ agent_id, outcome }) => [agent_id, outcome])).toEqual([
      ['a1', 'cancelled'],
      [null, 'cancelled'],
      [null, 'cancelled'],
    ])
  })

  it('E4: what was cut short by its budget is not completed, in no words', async () => {
    const look = { calls: [{ list_dir: {} }] }
    const { retinue } = await family({ a1: { steps: [look, look], report: [{ text: 'One look.' }] } })
    const run = retinue.fanOut([{ task: 'Look', budget: { tool_calls: 1 } }])
    expect(await run.results()).toMatchObject([{ success: false, outcome: 'budget_exceeded', details: 'One look.' }])
    expect((await run.result()).text).toBe('Not all of the tasks were completed.')
    const call = dataOf(await retinue.events(run.run_id), 'tool.finished').at(-1)
    expect(call).toMatchObject({ tool: 'fan_out', status: 'error' })
  })

  it('E4: a list longer than usual limits needs nothing to be said', async () => {
    const { retinue } = await family({ 'a*': [{ ...YES, usage, cost_usd: 0 }] })
    const results = await retinue.fanOut(tasks(150)).results()
    expect(results.map(({ agent_id }) => agent_id)).toEqual(Array.from({ length: 150 }, (_, n) => `a${n + 1}`))
    expect(results.every(({ success }) => success)).toBe(true)
  })

  it('E4: one that was let go of goes on in another process, and what was done is not done again', async () => {
    const never = gate()
    const { retinue, model, cwd } = await family(
      { 'a*': [YES] },
      // Two are done, two are at their models, and two have not begun.
      { hold: ({ agent_id }) => (['a3', 'a4'].includes(agent_id) ? never.opened : undefined) },
    )
    const run = retinue.fanOut(tasks(6), { maxConcurrent: 2 })
    const given = run.results().catch((error: RetinueError) => error.code)
    let asked = 0
    for await (const event of run) {
      if (event.type === 'model.requested' && ['a3', 'a4'].includes(event.agent_id)) asked += 1
      if (asked === 2) break
    }
    const before = await retinue.spawnResults(run.run_id)
    expect(before.map(({ agent_id, success, error }) => [agent_id, success, error])).toEqual([
      ['a1', true, null],
      ['a2', true, null],
      ['a3', false, 'it is not closed yet'],
      ['a4', false, 'it is not closed yet'],
      [null, false, 'it is not closed yet'],
      [null, false, 'it is not closed yet'],
    ])
    await retinue.close()
    expect(await given).toBe('abandoned')

    const second = await retinueIn(cwd, model)
    // A worker goes on with it by itself.
    if (!ON_WORKERS) expect(await second.find(run.run_id)).toMatchObject({ status: 'interrupted' })
    expect(await second.resume(run.run_id).result()).toMatchObject({ outcome: 'completed' })
    const results = await second.spawnResults(run.run_id)
    expect(results.map(({ agent_id, success }) => [agent_id, success])).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => [`a${n}`, true]),
    )
    expect(results.slice(0, 2)).toEqual(before.slice(0, 2))
    const events = await second.events(run.run_id)
    const ids = dataOf(events, 'agent.subagent_closed').map(({ sub_agent_id }) => sub_agent_id)
    expect(ids.sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'])
    for (const id of ['a1', 'a2']) expect(model.requests.filter(({ caller }) => caller.agent_id === id)).toHaveLength(1)
  })

  it('E4: what was not begun when it is cancelled says so, and what was is closed', async () => {
    const never = gate()
    const { retinue } = await family(
      { 'a*': [YES] },
      { hold: ({ agent_id }) => (agent_id === 'a1' ? undefined : never.opened) },
    )
    const run = retinue.fanOut(tasks(4), { maxConcurrent: 1 })
    for await (const { type, agent_id } of run)
      if (type === 'model.requested' && agent_id === 'a2') run.cancel('enough')
    const results = await run.results()
    expect(results.map(({ agent_id, outcome, error }) => [agent_id, outcome, error])).toEqual([
      ['a1', 'completed', null],
      ['a2', 'cancelled', expect.stringContaining('enough')],
      [null, 'cancelled', 'cancelled by caller: enough'],
      [null, 'cancelled', 'cancelled by caller: enough'],
    ])
    expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
  })

  it('E4: a task that is refused is a result, and the others are done', async () => {
    const { retinue, cwd } = await family({ 'a*': [YES] })
    const results = await retinue
      .fanOut([
        { task: 'One' },
        { task: 'Two', profile: 'nobody' },
        { task: 'Three', checks: [{ kind: 'schema', schema: { type: 'nothing' } }] },
        { task: 'Four', model: 'else/where' },
        { task: 'Five', owns: ['../elsewhere'] },
        { task: 'Six', tools: ['no_such_tool'] },
      ])
      .results()
    expect(results.map(({ success, error }) => [success, error])).toEqual([
      [true, null],
      [false, 'Unknown profile "nobody". Profiles: executor, planner, researcher, reviewer, tester.'],
      [false, expect.stringMatching(/^Not spawned: the schema cannot be used: /)],
      [false, expect.stringContaining('There is no model else/where')],
      [false, expect.stringContaining('leaves the workspace')],
      [true, null],
    ])
    expect(results.filter(({ agent_id }) => agent_id === null)).toHaveLength(4)
    expect(results[5]?.adjustments).toMatchObject([{ asked: 'no_such_tool', reason: 'there is no such tool' }])
    expect((await subAgents(cwd)).map(({ agent_id }) => agent_id)).toEqual(['root', 'a1', 'a2'])

    // The whole tree has its limits, and whoever is over them hears which.
    const few = await retinue.fanOut(tasks(3), { budget: { sub_agents: 2 }, maxConcurrent: 1 }).results()
    expect(few.map(({ success }) => success)).toEqual([true, true, false])
    expect(few[2]?.error).toMatch(/^Not spawned: the budget of 2 sub-agents is used up\./)
    const none = await retinue.fanOut(tasks(1), { budget: { sub_agents: 0 } }).results()
    expect(none).toMatchObject([
      { agent_id: null, outcome: 'error', error: 'Not allowed: this agent may not delegate.' },
    ])
  })

  it('E4: options and tasks that make no sense are refused as a whole, and nothing is begun', async () => {
    const { retinue } = await family({ 'a*': [YES] })
    const no = (given: unknown, options?: unknown) =>
      refusal(() => retinue.fanOut(given as SpawnTask[], options as FanOutOptions).results())
    const one = tasks(1)
    for (const [given, options, message] of [
      [[], {}, 'no tasks: give at least one'],
      [undefined, {}, 'tasks: '],
      [['Task'], {}, 'tasks.0: '],
      [[{ task: ' ' }], {}, 'tasks.0.task: the task is empty'],
      [[{ task: 'x', colour: 'red' }], {}, 'tasks.0: Unrecognized key: "colour"'],
      [[{ task: 'x', max_retries: 99 }], {}, 'tasks.0.max_retries: '],
      [[{ task: 'x', budget: { tool_calls: 1.5 } }], {}, 'tasks.0.budget.tool_calls must be a whole number'],
      [[{ task: 'x', budget: { turns: null } }], {}, 'tasks.0.budget.turns must be a whole number'],
      [[{ task: 'x', budget: { turns: -1 } }], {}, 'tasks.0.budget.turns must be positive'],
      [[{ task: 'x', budget: { wall_ms: 10 } }], {}, 'tasks.0.budget.wall_ms must be at least 5000'],
      [[{ task: 'x', budget: { total_tokens: 10 } }], {}, 'tasks.0.budget.total_tokens must be at least 2000'],
      [
        [{ task: 'x', budget: { total_tokens: Number.POSITIVE_INFINITY } }],
        {},
        'must be a whole number, or null for no limit',
      ],
      [
        [{ task: 'x', budget: { cost_usd: '1' } }],
        {},
        'tasks.0.budget.cost_usd must be a number, or null for no limit',
      ],
      [
        [{ task: 'x', budget: { tokens: 1 } }],
        {},
        'tasks.0.budget: there is no budget of tokens; there are tool_calls',
      ],
      [[{ task: 'x', budget: 3 }], {}, 'tasks.0.budget must be an object with limits'],
      [one, { budget: { sub_agents: -1 } }, 'budget.sub_agents must not be negative'],
      [[{ task: 'x', context: () => 'y' }], {}, 'tasks must be plain data that can be written as JSON'],
      [[{ task: 'x', checks: [{ kind: 'schema', schema: { n: 1n } }] }], {}, 'tasks must be plain data'],
      [one, { signal: 'stop' }, 'signal must be an AbortSignal'],
      [one, { model: 'program/fan_out' }, 'program/fan_out is no model'],
      [one, { maxConcurrent: 0 }, 'maxConcurrent: '],
      [one, { max_concurrent: 2 }, 'Unrecognized key: "max_concurrent"'],
      [one, { task: 'x' }, 'Unrecognized key: "task"'],
      [one, { profile: 'x' }, 'Unrecognized key: "profile"'],
      [one, { delegation: { max_depth: -1 } }, 'delegation.max_depth: '],
      [one, { mode: 'brave' }, 'mode: '],
      [one, null, 'expected object, received null'],
    ] as const) {
      const { code, message: said } = await no(given, options)
      expect([code, said]).toEqual(['input', expect.stringContaining(message)])
    }
    expect(await no(one, { model: 'else/where' })).toMatchObject({ code: 'model' })
    expect(await no(one, { session_id: 'nobody' })).toMatchObject({ code: 'not_found' })
    const off = await family({ 'a*': [YES] }, { settings: { delegation: { enabled: false } } })
    expect(await refusal(() => off.retinue.spawn({ task: 'x' }))).toMatchObject({
      code: 'input',
      message: expect.stringContaining('delegation.enabled'),
    })
    const run = (options: unknown) => refusal(() => retinue.run({ task: 'x', ...(options as object) }).result())
    expect(await run({ model: 'program/fan_out' })).toMatchObject({ code: 'input' })
    expect(await run({ signal: {} })).toMatchObject({ code: 'input' })
    expect(await run({ budget: { turns: 0.5 } })).toMatchObject({ code: 'input' })
    expect((await run({ delegation: { max_concurrent: 2 } })).message).toContain('max_concurrent')
    expect(await refusal(() => retinue.resume('x', { signal: {} as AbortSignal }).result())).toMatchObject({
      code: 'input',
    })
    expect(await retinue.runs()).toEqual([])
    expect(await refusal(() => retinue.spawnResults('nobody'))).toMatchObject({ code: 'not_found' })
  })

  it.each([
    { said: {}, levels: 2 },
    { said: { max_depth: 3 }, levels: 3 },
    { said: { max_depth: 1 }, levels: 1 },
    { said: { max_depth: 0 }, levels: 1 },
    { said: { enabled: false }, levels: 1 },
    { said: { enabled: false, max_depth: 3 }, levels: 1 },
  ])('E4: with $said there are $levels levels of sub-agents, the one that does the task among them', async (one) => {
    const profiles = { lead: { can_spawn_children: true } }
    const { retinue } = await family({ 'a*': [YES] }, { settings: { delegation: { profiles } } })
    const task = { task: 'Have it done', profile: 'lead' }
    const result = await retinue.spawn(task, { delegation: one.said })
    expect(result).toMatchObject({ success: true, details: 'Yes.' })
    const contracts = dataOf(await retinue.events(result.run_id), 'agent.subagent_created').map((data) => data.contract)
    expect(contracts.map(({ permissions }) => permissions)).toMatchObject([
      { can_spawn_children: one.levels > 1, max_delegation_depth: one.levels - 1 },
    ])
    expect(result.adjustments.map(({ reason }) => reason)).toEqual(
      one.levels > 1 ? [] : ['Maximum sub-agent depth (1) exceeded'],
    )
  })

  it.each([
    { where: 'the settings', settings: { mode: 'plan' as const }, options: {} },
    { where: 'the options', settings: { mode: 'dangerous' as const }, options: { mode: 'plan' as const } },
  ])('E4: plan mode of $where is that of each task, whatever it asks for itself', async ({ settings, options }) => {
    const write = { calls: [{ write_file: { path: 'note.txt', content: 'x' } }] }
    const { retinue, cwd } = await family({ 'a*': [write, { text: 'Tried.' }] }, { settings })
    const run = retinue.fanOut([{ task: 'One' }, { task: 'Two', mode: 'dangerous' }], options)
    expect((await run.results()).map(({ details }) => details)).toEqual(['Tried.', 'Tried.'])
    const contracts = dataOf(await retinue.events(run.run_id), 'agent.subagent_created').map((data) => data.contract)
    expect(contracts.map(({ permissions }) => permissions.mode)).toEqual(['plan', 'plan'])
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
  })

  it('E4: plan mode of the options is not needed where they say otherwise than the settings', async () => {
    const write = { calls: [{ write_file: { path: 'note.txt', content: 'x' } }] }
    const { retinue, cwd } = await family({ 'a*': [write, YES] }, { settings: { mode: 'plan' } })
    expect(await retinue.spawn({ task: 'One' }, { mode: 'dangerous' })).toMatchObject({ success: true })
    expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('x')
  })

  it('E4: runs tell who began them: a person by what they said, or a program', async () => {
    const { retinue } = await family({ root: [YES], 'a*': [YES] })
    const { session_id } = await retinue.sessions.create('ada')
    await retinue.fanOut(tasks(1), { session_id, said: '@writer Task 0' }).results()
    await retinue.fanOut(tasks(2)).results()
    // What only looks like the order of a program was said all the same.
    const order = (await retinue.runs({ limit: 1 }))[0]?.task as string
    await retinue.run({ task: order }).result()
    expect((await retinue.runs()).map(({ fan_out, said }) => ({ fan_out, said }))).toEqual([
      { fan_out: false, said: order },
      { fan_out: true, said: null },
      { fan_out: true, said: '@writer Task 0' },
    ])
  })

  it('E4: what the caller does with its tasks afterwards changes nothing', async () => {
    const { retinue, model } = await family({ 'a*': [YES] })
    const given = [{ task: 'First', budget: { tool_calls: 3 } }]
    const options = { budget: { total_tokens: 50_000 }, maxConcurrent: 1 }
    const run = retinue.fanOut(given, options)
    Object.assign(given[0] as object, { task: 'Second', budget: { tool_calls: 4 } })
    given.push({ task: 'Third', budget: { tool_calls: 5 } })
    options.budget.total_tokens = 1
    expect(await run.results()).toMatchObject([{ success: true }])
    expect(model.requests.map(({ request }) => request.messages)).toEqual([[{ role: 'user', content: 'First' }]])
    expect(await budgetsOf(retinue, run.run_id)).toMatchObject([{ tool_calls: 3 }])
  })

  it('E4: in lists it has the titles of its tasks in one line, and contracts have no more of the order', async () => {
    const { retinue, cwd } = await family({ 'a*': [YES] })
    const lines = async (given: SpawnTask[]) => {
      const run = retinue.fanOut(given)
      await run.results()
      return (await retinue.find(run.run_id)).task.split('\n\n')[0]
    }
    expect(await lines([{ task: 'Mend the roof\nall of it' }])).toBe('Mend the roof')
    expect(await lines([{ task: 'x', title: 'Roof' }, { task: 'Door\nand window' }, { task: 'Cellar' }])).toBe(
      '3 tasks for sub-agents: Roof; Door; Cellar',
    )
    const many = (await lines(tasks(30))) ?? ''
    expect(many).toMatch(/^30 tasks for sub-agents: Task 0; Task 1; .*; …$/)
    expect(many.length).toBeLessThanOrEqual(120)
    expect((await lines(Array(3).fill({ task: 'word '.repeat(100) })))?.length).toBeLessThanOrEqual(120)
    for (const { context_json } of await subAgents(cwd)) expect(context_json).not.toContain('max_concurrent\\":')
  })

  it('E4: a run that is none has no results of tasks', async () => {
    const { retinue } = await family({ root: [YES] })
    const run = retinue.run({ task: 'x' })
    await run.result()
    expect(await refusal(() => retinue.spawnResults(run.run_id))).toMatchObject({ code: 'input' })
  })
})

describe('seed 004: a fan-out in a session', () => {
  it('does its own tasks, whatever was before it, and its sub-agents have names of their own', async () => {
    const { retinue, model } = await family({
      root: [{ text: 'Hello.' }, { text: 'Hello again.' }],
      'a*': [YES],
    })
    const first = await retinue.run({ task: 'Greet' }).result()
    const { session_id } = first
    const ids: (string | null)[] = []
    for (const count of [2, 1]) {
      const run = retinue.fanOut(tasks(count), { session_id, maxConcurrent: 1 })
      const results = await run.results()
      expect(results.every(({ success }) => success)).toBe(true)
      ids.push(...results.map(({ agent_id }) => agent_id))
      expect(await run.result()).toMatchObject({ session_id, text: 'All of the tasks were completed.' })
      expect(await retinue.replay(run.run_id)).toMatchObject({ ok: true })
    }
    expect(ids).toEqual(['a1', 'a2', 'a3'])
    // Nor has the conversation anything of what the program did.
    await retinue.run({ task: 'And again', session_id }).result()
    expect(model.requests.at(-1)?.request.messages).toEqual([
      { role: 'user', content: 'Greet' },
      { role: 'assistant', parts: [expect.objectContaining({ text: 'Hello.' })] },
      { role: 'user', content: 'And again' },
    ])
  })

  it('begins one too, and takes what the same task came to before', async () => {
    const { retinue, model } = await family({ 'a*': [{ text: 'Found.', usage, cost_usd: 0.01 }] })
    const task = { task: 'Find it', cache: true }
    const one = retinue.fanOut([task])
    const { session_id } = await one.result()
    const [found] = await one.results()
    expect(found).toMatchObject({ agent_id: 'a1', tokens: 1200, cost_usd: 0.01, cached_from: null })
    const two = retinue.fanOut([task, { task: 'Find more', cache: true }], { session_id, maxConcurrent: 1 })
    const [again, more] = await two.results()
    expect(again).toEqual({
      ...found,
      run_id: two.run_id,
      agent_id: 'a2',
      ...{ tool_calls: 0, tokens: 0, context_tokens: null, cost_usd: 0, duration_ms: 0 },
      cached_from: { run_id: one.run_id, agent_id: 'a1' },
    })
    expect(more).toMatchObject({ agent_id: 'a3', tokens: 1200, cached_from: null })
    expect(await two.result()).toMatchObject({ text: 'All of the tasks were completed.', cost_usd: 0.01 })
    expect(model.requests.map(({ caller }) => caller.agent_id)).toEqual(['a1', 'a3'])
  })
})

describe('docs/library.md', () => {
  const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8')
  const section = page.split('\n## Sub-agents\n')[1]?.split('\n## ')[0] ?? ''

  const [first = '', resumed = '', profiles = ''] = section
    .split('```ts\n')
    .slice(1)
    .map((example) => example.split('```')[0] ?? '')
  const play = (example: string, given: Record<string, unknown>) =>
    new Function(...Object.keys(given), `return (async () => {${example}})()`)(...Object.values(given))

  it('has an example of spawn and fanOut that runs', async () => {
    const { retinue } = await family(
      { 'a*': [{ calls: [{ read_file: { path: 'src/a.ts' } }] }, { expect: 'TODO', text: 'One TODO.' }] },
      { files: { 'src/a.ts': '// TODO: mend\n', 'src/b.ts': 'export {}\n' } },
    )
    const printed: string[] = []
    await play(first, { retinue, console: { log: (line: string) => printed.push(line) } })
    expect(printed).toEqual(['One TODO.', 'src/a.ts: One TODO.', 'src/b.ts: One TODO.'])
  })

  it('has examples of going on with one and of profiles that run', async () => {
    const { retinue, model, cwd } = await family({ 'a*': [YES] })
    const done = await play(`${resumed}; return done`, { retinue, tasks: tasks(2) })
    expect(done).toMatchObject([{ success: true }, { success: true }])
    const made: Settings[] = []
    const createRetinue = ({ settings }: { settings: Settings }) => {
      made.push(settings)
      return retinueIn(cwd, model, { settings })
    }
    await play(profiles, { createRetinue })
    expect(made).toMatchObject([{ delegation: { profiles: { researcher: { mode: 'plan' } } } }])
    const last = (await subAgents(cwd)).at(-1)
    expect(JSON.parse(last?.context_json ?? '')).toMatchObject({ agent: { profile_id: 'researcher' } })
  })

  it('names everything that a result has', async () => {
    const { retinue } = await family({ 'a*': [YES] })
    const { run_id, agent_id, ...result } = await retinue.spawn({ task: 'x' })
    for (const name of Object.keys(result)) expect(section).toContain(`\`${name}\``)
  })
})
