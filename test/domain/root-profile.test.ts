import { describe, expect, it } from 'vitest'
import {
  type Adjustment,
  chooseRootModel,
  DELEGATION_TOOLS,
  type Profile,
  parseRule,
  permits,
  ROOT_BUDGET,
  type Rule,
  unenforceable,
} from '../../src/domain/index.js'
import { ALL_TOOLS, adjustment, child, type RootAsked, refusal, root, tryRoot } from './deriving.js'

const faults = (asked: RootAsked) => {
  const made = tryRoot(asked)
  return made.ok ? [] : made.faults
}

describe('a root agent with a profile', () => {
  it('is one without, as far as its profile takes it', () => {
    const contract = root({
      mode: 'auto',
      model: {
        ...{ provider: 'p', model: 'cheap', source: 'profile', window: 100_000 },
        adjustments: [adjustment('model', 'p/m', 'p/cheap', 'the profile helper is for p/cheap alone')],
      },
      entry: {
        ...{ agentId: '@hand', profileId: 'helper', description: 'helps' },
        defaultForwardSkills: ['skill:roofing'],
        allowedMcpServers: ['mcp:db'],
      },
      budget: { tool_calls: 100, turns: 30 },
      profile: {
        tools: ['read_file', 'run_command(git *)', 'mcp__*', 'spawn'],
        deny: ['run_command(git push *)'],
        read_paths: ['src'],
        write_paths: ['src/a'],
        skills: ['roofing', 'tiling', 'flying'],
        model: 'p/cheap',
        mode: 'normal',
        budget: { tool_calls: 40, total_tokens: 9_000_000 },
        context_share: 25,
        attempt_timeout_ms: 20_000,
        may_spawn: ['reviewer'],
      },
    })
    expect(contract).toEqual({
      version: 1,
      parent: {
        ...{ run_id: 'r1', agent_id: null, depth: 0, step_idx: 0 },
        ...{ task_prompt: 'Mend the roof', goal_summary: 'Mend the roof' },
      },
      agent: {
        ...{ handle: '@hand', profile_id: 'helper' },
        ...{ profile_digest: 'f'.repeat(64), prompt_digest: 'd'.repeat(64) },
      },
      step: { title: 'Mend the roof', description: 'Mend the roof', success_criteria: [] },
      permissions: {
        mode: 'normal',
        allowed_tools: ['read_file', 'run_command', 'mcp__db__query', 'spawn'],
        allowed_skills: ['roofing'],
        allowed_mcp_servers: ['db'],
        read_paths: [['**'], ['src']],
        write_paths: [['**'], ['src/a']],
        rules: [
          { mode: 'normal', rules: [] },
          { mode: 'dangerous', rules: [{ decision: 'deny', tool: 'run_command', pattern: 'git push *' }] },
        ],
        allowed_calls: [[{ tool: 'run_command', pattern: 'git *' }]],
        network: 'tools',
        can_ask_person: true,
        can_spawn_children: true,
        allowed_profiles: ['reviewer'],
        max_delegation_depth: 3,
      },
      model: { provider: 'p', model: 'cheap', source: 'profile', allowed: ['p/cheap'] },
      execution: {
        attempt_timeout_ms: 20_000,
        max_retries: 0,
        close_on_completion: true,
        budget: { ...ROOT_BUDGET, tool_calls: 40, turns: 30, context_tokens: 25_000 },
      },
      workspace: { isolation: 'shared', base: 'c0ffee', owns: ['src/a'] },
      outputs: { report_format: 'markdown', report_path_pattern: null },
      adjustments: [
        adjustment('model', 'p/m', 'p/cheap', 'the profile helper is for p/cheap alone'),
        adjustment(
          'permissions.allowed_tools',
          'mcp__*',
          '1 of 2',
          'the registry does not let @hand have its MCP server',
        ),
        adjustment('permissions.allowed_skills', 'flying', 'none', 'the run has none of that name'),
        adjustment('execution.budget.tool_calls', '100', '40', 'the profile helper gives no more'),
        adjustment('execution.budget.total_tokens', '9000000', '5000000', 'the run has no more itself'),
      ],
    })
  })

  it('that says nothing is one without a profile, by another name', () => {
    const { agent, ...rest } = root({ profile: {} })
    const { agent: nobody, ...others } = root()
    expect(agent).toEqual({ ...nobody, profile_id: 'helper', profile_digest: 'f'.repeat(64) })
    expect(rest).toEqual(others)
    expect(rest.permissions.allowed_tools).toEqual(ALL_TOOLS)
  })

  it('in a narrower mode is as if the run had been started in it', () => {
    const parsed = parseRule('allow', 'run_command(git *)')
    const rules = parsed.ok ? [parsed.rule satisfies Rule] : []
    const contract = root({ mode: 'dangerous', rules, profile: { mode: 'normal' } })
    expect(contract.permissions).toEqual({ ...root({ mode: 'normal', rules }).permissions })
    expect(contract.permissions.network).toBe('tools')
    expect(contract.adjustments).toEqual([])
    const plan = root({ profile: { mode: 'plan' } }).permissions
    expect(plan).toMatchObject({ mode: 'plan', can_spawn_children: false, max_delegation_depth: 0 })
    expect(plan.allowed_tools).toEqual(expect.not.arrayContaining(DELEGATION_TOOLS))
  })

  it('in a wider one stays in the run’s, and says so', () => {
    const contract = root({ mode: 'normal', profile: { mode: 'dangerous' } })
    expect(contract.permissions).toEqual(root({ mode: 'normal' }).permissions)
    expect(contract.adjustments).toEqual([
      adjustment('permissions.mode', 'dangerous', 'normal', 'the run is in normal mode'),
    ])
  })

  const field = 'permissions.can_spawn_children'
  it.each<[string, RootAsked, boolean, string[] | undefined, Adjustment[]]>([
    ['says nothing', { profile: {} }, true, undefined, []],
    ['says no', { profile: { can_spawn_children: false } }, false, undefined, []],
    ['says no, and whom', { profile: { can_spawn_children: false, may_spawn: ['x'] } }, false, ['x'], []],
    ['names nobody', { profile: { may_spawn: [] } }, false, [], []],
    ['names somebody', { profile: { may_spawn: ['x'] } }, true, ['x'], []],
    ['has none in its budget', { profile: { budget: { sub_agents: 0 } } }, false, undefined, []],
    [
      'wants what the run has not',
      { profile: { can_spawn_children: true }, delegation: { enabled: false, max_depth: 2, models: [] } },
      false,
      undefined,
      [adjustment(field, 'true', 'false', 'the run has none')],
    ],
    [
      'wants what plan mode has not',
      { profile: { may_spawn: ['x'] }, mode: 'plan' },
      false,
      ['x'],
      [adjustment(field, 'true', 'false', 'plan mode has no sub-agents')],
    ],
  ])('has sub-agents as its profile says, where that %s', (_, asked, may, allowed_profiles, adjustments) => {
    const contract = root(asked)
    expect(contract.permissions.can_spawn_children).toBe(may)
    expect(contract.permissions.allowed_profiles).toEqual(allowed_profiles)
    expect(contract.permissions.allowed_tools).toEqual(
      may ? ALL_TOOLS : ALL_TOOLS.filter((tool) => !DELEGATION_TOOLS.includes(tool)),
    )
    expect(contract.adjustments).toEqual(adjustments)
    if (!may) expect(refusal({ above: contract })).toBe('this agent may not delegate')
  })

  it('spawns only whom its profile lets it', () => {
    const above = root({ profile: { may_spawn: ['reviewer'] } })
    expect(refusal({ above })).toBe('Not spawned: this agent may only spawn reviewer.')
    expect(child({ above, name: 'reviewer', profile: {} }).agent.profile_id).toBe('reviewer')
  })

  it('that only reads has nothing to write with, nor have those below it', () => {
    const contract = root({ profile: { isolation: 'read_only', tools: ['read_file', 'write_file', 'spawn'] } })
    expect(contract.permissions.allowed_tools).toEqual(['read_file', 'spawn'])
    expect(contract.permissions.write_paths).toEqual([['**'], []])
    expect(contract.workspace.isolation).toBe('read_only')
    expect(contract.adjustments).toEqual([
      adjustment('permissions.allowed_tools', 'write_file', 'none', 'the profile helper only reads'),
    ])
    expect(unenforceable(contract, { sandboxed: true, priced: true })).toEqual([])
    expect(child({ above: contract }).workspace.isolation).toBe('read_only')
  })

  it('is in a tree of its own where its profile says so and there is something to write', () => {
    expect(root({ profile: { isolation: 'worktree' } }).workspace.isolation).toBe('worktree')
    expect(root({ profile: { isolation: 'worktree', write_paths: [] } }).workspace.isolation).toBe('read_only')
    expect(root({ profile: { isolation: 'shared' } }).workspace.isolation).toBe('shared')
    expect(root({ profile: { write_paths: [] } }).workspace).toMatchObject({ isolation: 'shared', owns: [] })
  })

  it('has its tools from the run', () => {
    const contract = root({ tools: ['read_file', 'ask_user'], profile: { tools: ['read_file', 'run_command'] } })
    expect(contract.permissions.allowed_tools).toEqual(['read_file'])
    expect(contract.adjustments).toEqual([
      adjustment('permissions.allowed_tools', 'run_command', 'none', 'the run may not use it'),
    ])
    const alone = root({ can_ask_person: false, profile: { tools: ['ask_user', 'read_file'] } })
    expect(alone.adjustments).toEqual([
      adjustment('permissions.allowed_tools', 'ask_user', 'none', 'it cannot ask a person'),
    ])
  })

  it.each<[Profile, string[]]>([
    [{ tools: ['fly'], deny: ['swim'] }, ['the profile helper names unknown tools: fly, swim']],
    [
      { write_paths: ['/etc'] },
      ['the profile helper cannot be enforced: "/etc" in write_paths is not relative to the workspace'],
    ],
    [{ budget: { turns: 0 } }, ['the profile helper: turns must be positive']],
    [
      { budget: { calls: 3 } as never },
      [
        'the profile helper: there is no budget of calls; there are tool_calls, turns, context_tokens, wall_ms, total_tokens, cost_usd, sub_agents',
      ],
    ],
    // Whoever chose it.
    [{ models: ['p/cheap', 'fast'] }, ['it cannot have p/m: the profile helper is for p/cheap, pool/fast']],
  ])('is refused where its profile cannot be held: %j', (profile, expected) => {
    expect(faults({ profile })).toEqual(expected)
  })

  it('that nobody could be asked about is refused what its profile asks about', () => {
    const { permissions } = root({ can_ask_person: false, profile: { ask: ['write_file'] } })
    expect(permits(permissions, { tool: 'write_file', effect: 'write', paths: [] })).toMatchObject({
      decision: 'ask',
      by: 'rule',
    })
  })
})

describe('the budget of a root agent with a profile', () => {
  const clamp = (name: string, asked: string, given: string, reason: string) =>
    adjustment(`execution.budget.${name}`, asked, given, reason)
  const model = (window: number | null): RootAsked['model'] => ({
    ...{ provider: 'p', model: 'm', source: 'user', window },
  })

  it.each<[string, RootAsked, object, Adjustment[]]>([
    ['less than the usual', { profile: { budget: { turns: 10, cost_usd: 2 } } }, { turns: 10, cost_usd: 2 }, []],
    [
      'less than was asked for',
      { budget: { turns: 20, cost_usd: null }, profile: { budget: { turns: 10, cost_usd: 2 } } },
      { turns: 10, cost_usd: 2 },
      [
        clamp('turns', '20', '10', 'the profile helper gives no more'),
        clamp('cost_usd', 'no limit', '2', 'the profile helper gives no more'),
      ],
    ],
    [
      'never more',
      { budget: { turns: 5 }, profile: { budget: { turns: 10, tool_calls: 400, total_tokens: null } } },
      { turns: 5, tool_calls: 300, total_tokens: 5_000_000 },
      [
        clamp('tool_calls', '400', '300', 'the run has no more itself'),
        clamp('turns', '10', '5', 'the run has no more itself'),
        clamp('total_tokens', 'no limit', '5000000', 'the run has no more itself'),
      ],
    ],
    ['a share of the window', { model: model(80_000), profile: { context_share: 50 } }, { context_tokens: 40_000 }, []],
    [
      'no share of a window that nobody knows',
      { profile: { context_share: 50, budget: { context_tokens: 20_000 } } },
      { context_tokens: 20_000 },
      [],
    ],
    [
      'a share of what is asked for at most',
      { model: model(80_000), budget: { context_tokens: 30_000 }, profile: { context_share: 50 } },
      { context_tokens: 30_000 },
      [clamp('context_tokens', '40000', '30000', 'the run has no more itself')],
    ],
    [
      'no more than the window',
      { model: model(8000), profile: { budget: { context_tokens: 9000 } } },
      { context_tokens: 8000 },
      [clamp('context_tokens', '9000', '8000', 'm takes no more')],
    ],
  ])('is %s', (_, asked, given, adjustments) => {
    const contract = root(asked)
    expect(contract.execution.budget).toEqual({ ...ROOT_BUDGET, ...given })
    expect(contract.adjustments).toEqual(adjustments)
  })

  it('bounds its one attempt', () => {
    const contract = root({ profile: { budget: { wall_ms: 30_000 }, attempt_timeout_ms: 60_000 } })
    expect(contract.execution.attempt_timeout_ms).toBe(30_000)
    expect(contract.adjustments).toEqual([
      adjustment('execution.attempt_timeout_ms', '60000', '30000', 'it has no more time'),
    ])
  })
})

describe('the model of a root agent', () => {
  const named = (profile: Profile) => ({ name: 'helper', profile, digest: '' })
  const settings = { name: 'p/set', source: 'project' } as const
  const got = (name: string, source: string, adjustments: Adjustment[] = []) => ({
    ...{ ok: true, name, source, adjustments },
  })
  const clamp = (asked: string, given: string, models: string) =>
    adjustment('model', asked, given, `the profile helper is for ${models}`)

  it.each<[string | undefined, typeof settings | undefined, Profile | null, object]>([
    [undefined, undefined, null, { ok: true, name: null }],
    [undefined, undefined, {}, { ok: true, name: null }],
    [undefined, settings, null, got('p/set', 'project')],
    ['q/x', settings, null, got('q/x', 'request')],
    [undefined, settings, { model: 'p/own' }, got('p/own', 'profile')],
    [undefined, undefined, { pool: 'fast' }, got('fast', 'profile')],
    ['fast', settings, { pool: 'fast' }, got('fast', 'request')],
    ['pool/fast', settings, { pool: 'fast' }, got('pool/fast', 'request')],
    ['q/x', settings, { model: 'p/own' }, got('p/own', 'profile', [clamp('q/x', 'p/own', 'p/own alone')])],
    ['q/x', settings, { model: 'p/own', models: ['q/x'] }, got('q/x', 'request')],
    [undefined, settings, { models: ['q/x', 'p/set'] }, got('p/set', 'project')],
    ['q/x', settings, { models: ['q/y', 'p/set'] }, got('p/set', 'project', [clamp('q/x', 'p/set', 'q/y, p/set')])],
    [undefined, settings, { models: ['q/y', 'q/x'] }, got('q/y', 'profile', [clamp('p/set', 'q/y', 'q/y, q/x')])],
    [undefined, undefined, { models: ['q/y', 'q/x'] }, got('q/y', 'profile')],
    ['q/z', undefined, { models: ['q/y'] }, got('q/y', 'profile', [clamp('q/z', 'q/y', 'q/y alone')])],
    ['q/z', settings, { models: [] }, { ok: false, message: 'The profile helper is for no model at all' }],
  ])('asked %j, settings %j, profile %j: %j', (asked, settings, profile, expected) => {
    expect(chooseRootModel({ asked, settings }, profile && named(profile))).toEqual(expected)
  })

  it('bounds those of its sub-agents, as its profile does', () => {
    expect(root({ profile: {} }).model.allowed).toEqual(['p/m', 'p/cheap', 'pool/fast'])
    const contract = root({ profile: { model: 'p/m', models: ['fast', 'q/x'] } })
    expect(contract.model.allowed).toEqual(['p/m', 'pool/fast'])
    expect(child({ above: contract, request: { model: 'p/cheap' } }).adjustments).toEqual([
      adjustment('model', 'p/cheap', 'p/m', 'sub-agents here may use p/m, pool/fast'),
    ])
  })
})
