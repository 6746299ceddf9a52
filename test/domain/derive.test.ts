import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Adjustment,
  type Authority,
  allowedUnasked,
  type Budget,
  type Call,
  type Contract,
  chooseChildModel,
  contractSchema,
  DELEGATION_DEFAULTS,
  DELEGATION_TOOLS,
  type Decision,
  type DelegationRequest,
  type DelegationSettings,
  type Derivation,
  deriveContract,
  ISOLATIONS,
  MODES,
  matchesWord,
  mayWrite,
  openLedger,
  type Parent,
  type Profile,
  permits,
  type RootRequest,
  type Rule,
  reserve,
  rootAuthority,
  rootContract,
  unenforceable,
} from '../../src/domain/index.js'
import '../support/seed.ts'

const FILES = [
  'read_file',
  'write_file',
  'run_command',
  'git_status',
  'git_diff',
  'mcp__tracker__list',
  'mcp__db__query',
]
const TOOLS = [...FILES, 'ask_user', ...DELEGATION_TOOLS]

const DELEGATION = { enabled: true, max_depth: 2, models: ['p/cheap', 'fast'] }
const REQUEST: RootRequest = {
  run_id: 'r1',
  task: 'Mend the roof',
  prompt_digest: 'd'.repeat(64),
  model: { provider: 'p', model: 'm', source: 'user', window: null },
  mode: 'normal',
  rules: [],
  known_tools: TOOLS,
  nameable_tools: TOOLS,
  known_servers: ['tracker', 'db'],
  known_skills: ['roofing', 'painting'],
  budget: {},
  delegation: DELEGATION,
  can_ask_person: true,
  base: 'c0ffee',
}

function root(changes: Partial<RootRequest> = {}): Contract {
  const made = rootContract({ ...REQUEST, ...changes })
  if (!made.ok) throw new Error(made.faults.join())
  return made.contract
}

/** An agent that has spent nothing yet. */
function fresh(contract: Contract, left: Partial<Parent['left']> = {}, agent_id = 'root'): Parent {
  const { total_tokens, cost_usd, sub_agents, wall_ms } = contract.execution.budget
  const all = { total_tokens: total_tokens ?? Infinity, cost_usd: cost_usd ?? Infinity, sub_agents, wall_ms }
  return { agent_id, contract, left: { ...all, ...left } }
}

type Asked = {
  parent?: Parent
  profile?: Profile
  request?: Partial<DelegationRequest>
  settings?: Partial<DelegationSettings>
  window?: number | null
  least_tokens?: number
  least_usd?: number
  known_tools?: string[]
  nameable_tools?: string[]
}

function derive(asking: Asked = {}) {
  const {
    parent = fresh(root()),
    profile,
    request,
    settings,
    window = null,
    least_tokens,
    least_usd,
    ...tools
  } = asking
  const least = {
    ...(least_tokens === undefined ? {} : { least_tokens }),
    ...(least_usd === undefined ? {} : { least_usd }),
  }
  const named = profile ? { name: 'helper', profile, digest: 'f'.repeat(64) } : null
  const asked = { task: 'Count the tiles\nand report', ...request }
  const chosen = chooseChildModel(parent.contract, named, asked)
  if (!chosen.ok) return chosen
  const derivation: Derivation = {
    parent,
    child: { id: 'a1', step_idx: 0 },
    profile: named,
    request: asked,
    settings: { ...DELEGATION_DEFAULTS, ...settings },
    model: { ...chosen, window, ...least },
    known_tools: TOOLS,
    prompt_digest: 'e'.repeat(64),
    ...tools,
  }
  return deriveContract(derivation)
}

function child(asked: Asked = {}): Contract {
  const derived = derive(asked)
  if (!derived.ok) throw new Error(derived.message)
  return derived.contract
}

function refusal(asked: Asked): string {
  const derived = derive(asked)
  if (derived.ok) throw new Error('it was not refused')
  return derived.message
}

const adjustment = (field: string, asked: string, given: string, reason: string): Adjustment => ({
  field,
  asked,
  given,
  reason,
})

describe('a contract that nobody asked anything special of', () => {
  it('is its parent’s, without delegation and without a person, in the usual budget', () => {
    expect(child()).toEqual({
      version: 1,
      parent: {
        run_id: 'r1',
        agent_id: 'root',
        depth: 1,
        step_idx: 0,
        task_prompt: 'Mend the roof',
        goal_summary: 'Mend the roof',
      },
      agent: { handle: null, profile_id: null, profile_digest: null, prompt_digest: 'e'.repeat(64) },
      step: { title: 'Count the tiles', description: 'Count the tiles\nand report', success_criteria: [] },
      permissions: {
        mode: 'normal',
        allowed_tools: FILES,
        allowed_skills: ['roofing', 'painting'],
        allowed_mcp_servers: ['tracker', 'db'],
        read_paths: [['**']],
        write_paths: [['**']],
        rules: [{ mode: 'normal', rules: [] }],
        network: 'tools',
        can_ask_person: false,
        unasked: 'normal',
        can_spawn_children: false,
        max_delegation_depth: 1,
      },
      model: { provider: 'p', model: 'm', source: 'inherited', allowed: ['p/m', 'p/cheap', 'pool/fast'] },
      execution: {
        attempt_timeout_ms: 60_000,
        max_retries: 1,
        close_on_completion: true,
        budget: {
          tool_calls: 15,
          turns: 17,
          context_tokens: 8192,
          wall_ms: 60_000,
          total_tokens: 65_536,
          cost_usd: null,
          sub_agents: 0,
        },
      },
      // In normal mode it would have to ask before it writes, and it cannot.
      workspace: { isolation: 'read_only', base: 'c0ffee', owns: ['**'] },
      outputs: {
        report_format: 'markdown',
        report_path_pattern: '.retinue/reports/<run>/<agent>-step-<idx>-result.md',
      },
      adjustments: [],
    })
  })

  it('has from the request what the request says, and from the profile what it says', () => {
    const contract = child({
      parent: fresh(root({ mode: 'auto', max_concurrent: 3, budget: { cost_usd: 4 } })),
      profile: {
        tools: ['read_file', 'git_*', 'mcp__tracker__*', 'spawn*'],
        skills: ['roof*'],
        mcp_servers: ['tracker'],
        model: 'p/cheap',
        mode: 'normal',
        budget: { tool_calls: 30, wall_ms: 90_000 },
        attempt_timeout_ms: 20_000,
        max_retries: 3,
        can_spawn_children: true,
      },
      request: {
        title: ' Tiles \n',
        tools: ['read_file', 'git_status', 'spawn'],
        owns: ['src/tiles'],
        checks: [{ kind: 'command', command: 'npm test' }],
        success_criteria: ['each is counted'],
        inputs: [{ from: 'a7', title: 'Look', outcome: 'completed', text: 'much text' }],
        budget: { tool_calls: 20, total_tokens: 50_000 },
        max_retries: 2,
      },
      settings: { ask_person: true, report_path_pattern: null },
    })
    expect(contract).toMatchObject({
      agent: { profile_id: 'helper', profile_digest: 'f'.repeat(64) },
      step: {
        title: 'Tiles',
        success_criteria: ['each is counted'],
        inputs: [{ from: 'a7', outcome: 'completed' }],
        checks: [{ kind: 'command', command: 'npm test' }],
      },
      permissions: {
        mode: 'normal',
        allowed_tools: ['read_file', 'git_status', 'spawn'],
        allowed_skills: ['roofing'],
        allowed_mcp_servers: ['tracker'],
        write_paths: [['**'], ['src/tiles']],
        rules: [
          { mode: 'auto', rules: [] },
          { mode: 'normal', rules: [] },
        ],
        can_ask_person: true,
        unasked: 'auto',
        can_spawn_children: true,
        max_delegation_depth: 1,
      },
      model: { provider: 'p', model: 'cheap', source: 'profile', allowed: ['p/cheap'] },
      execution: {
        attempt_timeout_ms: 20_000,
        max_retries: 2,
        max_concurrent: 3,
        budget: {
          tool_calls: 20,
          turns: 22,
          context_tokens: 8192,
          wall_ms: 90_000,
          total_tokens: 50_000,
          cost_usd: 1,
          sub_agents: 10,
        },
      },
      workspace: { isolation: 'read_only', owns: ['src/tiles'] },
      outputs: { report_path_pattern: null },
      adjustments: [],
    })
    // The texts of inputs are in the task, not in the contract.
    expect(contract.step.inputs).toEqual([{ from: 'a7', outcome: 'completed' }])
  })

  it('takes an absent list for the parent’s and an empty one for none', () => {
    const none = child({ profile: { tools: [], skills: [], mcp_servers: [] } }).permissions
    expect(none).toMatchObject({ allowed_tools: [], allowed_skills: [], allowed_mcp_servers: [] })
    expect(child({ request: { tools: [] } }).permissions.allowed_tools).toEqual([])
    expect(child({ request: { owns: [] } }).permissions.write_paths).toEqual([['**'], []])
    const all = child({ profile: {} }).permissions
    expect(all).toMatchObject({ allowed_tools: FILES, allowed_skills: ['roofing', 'painting'] })
  })

  it('keeps its title short and whole', () => {
    expect(child({ request: { task: `\n\n  ${'🏠'.repeat(100)}` } }).step.title).toBe(`${'🏠'.repeat(79)}…`)
    expect(child({ request: { title: '  ' } }).step.title).toBe('Count the tiles')
  })

  it('keeps the rules that its parent lives by, the allowing ones too', () => {
    const rules: Rule[] = [{ decision: 'allow', tool: 'run_command', pattern: null }]
    const command: Call = { tool: 'run_command', effect: 'execute', paths: [], commands: null, sandboxed: true }
    expect(permits(child({ parent: fresh(root({ rules })) }).permissions, command).decision).toBe('allow')
  })
})

describe('how deep a tree may be', () => {
  const spawner: Profile = { can_spawn_children: true }

  it('is counted down, and the last level has no delegation', () => {
    const first = child({ profile: spawner })
    expect(first.permissions).toMatchObject({
      can_spawn_children: true,
      max_delegation_depth: 1,
      allowed_tools: [...FILES, ...DELEGATION_TOOLS],
    })
    const second = child({ parent: fresh(first, {}, 'a1'), profile: spawner })
    expect(second.permissions).toMatchObject({
      can_spawn_children: false,
      max_delegation_depth: 0,
      allowed_tools: FILES,
    })
    expect(second.parent).toMatchObject({
      agent_id: 'a1',
      depth: 2,
      task_prompt: 'Count the tiles\nand report',
      goal_summary: 'Mend the roof',
    })
    expect(second.adjustments).toEqual([
      adjustment('permissions.can_spawn_children', 'true', 'false', 'Maximum sub-agent depth (2) exceeded'),
    ])
    expect(refusal({ parent: fresh(second, {}, 'a1.1') })).toBe('Maximum sub-agent depth (2) exceeded')
  })

  it.each([
    ['where delegation is off', root({ delegation: { ...DELEGATION, enabled: false } })],
    ['where it is absent', root({ delegation: undefined as never })],
    ['in plan mode', root({ mode: 'plan' })],
    ['without sub-agents in the budget', root({ budget: { sub_agents: 0 } })],
    ['where no level is left', root({ delegation: { ...DELEGATION, max_depth: 0 } })],
    ['of a sub-agent whose profile does not say so', child()],
  ])('is nothing %s', (_, contract) => {
    expect(contract.permissions.can_spawn_children).toBe(false)
    expect(contract.permissions.allowed_tools).toEqual(expect.not.arrayContaining(DELEGATION_TOOLS))
    expect(refusal({ parent: fresh(contract) })).toBe('this agent may not delegate')
  })

  it('is nothing where a contract says both yes and no', () => {
    const contract = root()
    contract.permissions.max_delegation_depth = 0
    expect(refusal({ parent: fresh(contract) })).toBe('this agent may not delegate')
  })

  it('ends in plan mode, and where no sub-agents are left for the sub-agent', () => {
    const plan = child({ profile: { ...spawner, mode: 'plan' } })
    expect(plan.permissions).toMatchObject({ mode: 'plan', can_spawn_children: false, allowed_tools: FILES })
    expect(plan.adjustments).toEqual([
      adjustment('permissions.can_spawn_children', 'true', 'false', 'plan mode has no sub-agents'),
    ])
    const last = child({ parent: fresh(root(), { sub_agents: 1 }), profile: spawner })
    expect(last.permissions.can_spawn_children).toBe(false)
    expect(last.execution.budget.sub_agents).toBe(0)
    expect(last.adjustments).toEqual([
      adjustment('permissions.can_spawn_children', 'true', 'false', 'its budget has no sub-agents'),
    ])
  })
})

describe('a mode', () => {
  it.each([
    ['auto', undefined, undefined, 'auto', []],
    ['auto', 'normal', undefined, 'normal', []],
    ['auto', undefined, 'plan', 'plan', []],
    [
      'auto',
      'plan',
      'normal',
      'plan',
      [adjustment('permissions.mode', 'normal', 'plan', 'the profile helper is in plan mode')],
    ],
    [
      'normal',
      undefined,
      'auto',
      'normal',
      [adjustment('permissions.mode', 'auto', 'normal', 'its parent is in normal mode')],
    ],
    [
      'normal',
      'dangerous',
      undefined,
      'normal',
      [adjustment('permissions.mode', 'dangerous', 'normal', 'its parent is in normal mode')],
    ],
    ['normal', 'auto', 'plan', 'plan', []],
  ] as const)('of %s, profile %s, request %s is %s', (above, named, asked, mode, adjustments) => {
    const contract = child({
      parent: fresh(root({ mode: above })),
      ...(named ? { profile: { mode: named } } : {}),
      ...(asked ? { request: { mode: asked } } : {}),
    })
    expect(contract.permissions.mode).toBe(mode)
    expect(contract.adjustments).toEqual(adjustments)
    expect(contract.workspace.isolation).toBe(above === 'auto' && mode !== 'plan' ? 'worktree' : 'read_only')
    expect(unenforceable(contract, { sandboxed: true, priced: true })).toEqual([])
  })

  describe('whose questions nobody answers', () => {
    const write: Call = { tool: 'write_file', effect: 'write', paths: [{ path: 'a.txt', access: 'write' }] }
    const command = (sandboxed: boolean): Call => ({
      ...{ tool: 'run_command', effect: 'execute', paths: [], commands: null },
      sandboxed,
    })
    const fetch: Call = { tool: 'web_fetch', effect: 'fetch', paths: [], address: 'example.org' }
    const server: Call = { tool: 'mcp__db__query', effect: 'external', paths: [], server: 'db' }
    const calls = { write, fenced: command(true), unfenced: command(false), fetch, server }
    const done = (authority: Authority) =>
      Object.entries(calls).flatMap(([name, call]) => (effective(authority, call) === 'allow' ? [name] : []))
    const tools = [...TOOLS, 'web_fetch']
    const spawner: Profile = { can_spawn_children: true }

    it.each([
      ['normal', 'normal', []],
      ['auto', 'auto', ['write', 'fenced']],
      ['auto', 'normal', ['write', 'fenced']],
      ['auto', 'plan', []],
      ['dangerous', 'dangerous', ['write', 'fenced', 'unfenced', 'fetch', 'server']],
      ['dangerous', 'auto', ['write', 'fenced', 'fetch', 'server']],
      ['dangerous', 'normal', ['write', 'fenced', 'fetch', 'server']],
      ['dangerous', 'plan', ['fetch']],
    ] as const)('of %s gives a sub-agent in %s mode what it does itself without one: %j', (mode, below, names) => {
      for (const can_ask_person of [true, false]) {
        const above = root({ mode, can_ask_person, known_tools: tools, nameable_tools: tools })
        const asked = { known_tools: tools, profile: { ...spawner, mode: below } }
        const first = child({ parent: fresh(above), ...asked })
        expect(first.permissions).toMatchObject({ can_ask_person: false, unasked: mode })
        expect(done(first.permissions)).toEqual(names)
        expect(above.permissions).not.toHaveProperty('unasked')
        if (below === 'plan') continue
        // And so down the tree, as long as nothing narrows it.
        const second = child({ parent: fresh(first), known_tools: tools })
        expect(second.permissions.unasked).toBe(mode)
        expect(done(second.permissions)).toEqual(names)
      }
    })

    it('gives it no yes that its parent would have to ask for', () => {
      const parent = root({ mode: 'normal' })
      parent.permissions.unasked = 'dangerous'
      expect(child({ parent: fresh(parent) }).permissions.unasked).toBe('normal')
    })

    it('is answered by the wider of the parent’s mode and what answers there', () => {
      const parent = root({ mode: 'auto', can_ask_person: false })
      parent.permissions.unasked = 'plan'
      expect(child({ parent: fresh(parent) }).permissions.unasked).toBe('auto')
    })
  })

  it('lets a sub-agent ask the person only if its parent can and the settings say so', () => {
    const settings = { ask_person: true }
    const asking = child({ settings }).permissions
    expect(asking).toMatchObject({ can_ask_person: true, allowed_tools: [...FILES, 'ask_user'] })
    const alone = child({ settings, parent: fresh(root({ can_ask_person: false })) }).permissions
    expect(alone).toMatchObject({ can_ask_person: false, allowed_tools: FILES })
  })
})

describe('tools that were asked for', () => {
  const narrow = fresh(root({ tools: ['read_file', 'git_status', 'ask_user', ...DELEGATION_TOOLS] }))
  const field = 'permissions.allowed_tools'

  it.each<[string, Asked, string[], Adjustment[]]>([
    [
      'unknown',
      { request: { tools: ['read_file', 'fly'] } },
      ['read_file'],
      [adjustment(field, 'fly', 'none', 'there is no such tool')],
    ],
    [
      'the parent’s not',
      { request: { tools: ['read_file', 'write_file'] } },
      ['read_file'],
      [adjustment(field, 'write_file', 'none', 'its parent may not use it')],
    ],
    [
      'a profile’s that are the parent’s not',
      { profile: { tools: ['read_file', 'write_file'] } },
      ['read_file'],
      [adjustment(field, 'write_file', 'none', 'its parent may not use it')],
    ],
    [
      'not in the profile',
      { profile: { tools: ['git_*'] }, request: { tools: ['read_file', 'git_status'] } },
      ['git_status'],
      [adjustment(field, 'read_file', 'none', 'the profile helper does not name it')],
    ],
    [
      'for delegation',
      { request: { tools: ['spawn', 'read_file'] } },
      ['read_file'],
      [adjustment(field, 'spawn', 'none', 'it may not have sub-agents')],
    ],
    [
      'for a person',
      { request: { tools: ['ask_user', 'read_file'] } },
      ['read_file'],
      [adjustment(field, 'ask_user', 'none', 'it cannot ask a person')],
    ],
    [
      'there in part',
      { request: { tools: ['git_*'] } },
      ['git_status'],
      [adjustment(field, 'git_*', '1 of 2', 'its parent may not use it')],
    ],
    [
      'not there at all',
      { request: { tools: ['spawn*'] } },
      [],
      [adjustment(field, 'spawn*', 'none', 'it may not have sub-agents')],
    ],
    ['whatever there is', { request: { tools: ['*'] } }, ['read_file', 'git_status'], []],
    [
      'asked for twice',
      { request: { tools: ['fly', 'fly'] } },
      [],
      [adjustment(field, 'fly', 'none', 'there is no such tool')],
    ],
    [
      'not set up',
      { request: { tools: ['web_search', 'read_file'] }, nameable_tools: ['web_search'] },
      ['read_file'],
      [adjustment(field, 'web_search', 'none', 'it is not set up here')],
    ],
    [
      'not set up, and in the profile alone',
      { profile: { tools: ['web_search', 'read_file'] }, nameable_tools: ['web_search'] },
      ['read_file'],
      [],
    ],
    [
      'of a server that is not there',
      { profile: { tools: ['mcp__moon__*', 'read_file'] } },
      ['read_file'],
      [adjustment(field, 'mcp__moon__*', 'none', 'no MCP server that is connected has it')],
    ],
    [
      'named at length',
      { request: { tools: ['x'.repeat(1000)] } },
      [],
      [adjustment(field, `${'x'.repeat(79)}…`, 'none', 'there is no such tool')],
    ],
  ])('and are %s', (_, asked, tools, adjustments) => {
    const contract = child({ parent: narrow, ...asked })
    expect(contract.permissions.allowed_tools).toEqual(tools)
    expect(contract.adjustments).toEqual(adjustments)
  })

  it('are gone with the MCP server that the profile takes away', () => {
    const contract = child({
      profile: { mcp_servers: ['tracker', 'moon'] },
      request: { tools: ['mcp__db__query', 'mcp__tracker__list'] },
    })
    expect(contract.permissions.allowed_tools).toEqual(['mcp__tracker__list'])
    expect(contract.adjustments).toEqual([
      adjustment(field, 'mcp__db__query', 'none', 'the profile helper does not name its MCP server'),
      adjustment('permissions.allowed_mcp_servers', 'moon', 'none', 'its parent has none of that name'),
    ])
  })

  it('refuse a profile that names one that does not exist', () => {
    expect(refusal({ profile: { tools: ['fly', 'read_file', 'swim*'] }, request: { tools: ['read_file'] } })).toBe(
      'Not spawned: the profile helper names unknown tools: fly, swim*. Use another profile, or none.',
    )
  })

  it('are not more because a parent has had one that is no longer there', () => {
    expect(child({ known_tools: ['read_file'] }).permissions.allowed_tools).toEqual(['read_file'])
  })
})

describe('what a sub-agent owns', () => {
  it.each([
    ['/etc', '"/etc" in owns is not relative to the workspace'],
    ['~/x', '"~/x" in owns is not relative to the workspace'],
    ['C:/x', '"C:/x" in owns is not relative to the workspace'],
    ['src/../..', '"src/../.." in owns leaves the workspace: .. is not allowed'],
    ['{src,..}/x', '"{src,..}/x" in owns leaves the workspace: .. is not allowed'],
    ['src\\x', '"src\\x" in owns has a backslash: write folders with /'],
    ['!src', '"!src" in owns negates: list what is meant instead'],
    [' ', 'an empty path in owns names nothing: write . for the whole workspace'],
  ])('is not %j', (glob, fault) => {
    expect(refusal({ request: { owns: ['docs', glob] } })).toBe(`Not spawned: ${fault}.`)
  })

  it('is within what its parent may write, and it is said where it is not', () => {
    const parent = fresh(root({ write_paths: [['**'], ['src', 'docs/*.md']] }))
    const owns = ['src/a/**', './src', 'src/*.ts', 'docs/*.md', 'docs', '**/*.ts', '.']
    const contract = child({ parent, request: { owns } })
    expect(contract.permissions.write_paths).toEqual([['**'], ['src', 'docs/*.md'], owns])
    expect(contract.adjustments).toEqual(
      ['docs', '**/*.ts', '.'].map((asked) =>
        adjustment(
          'permissions.write_paths',
          asked,
          'what of it is in src, docs/*.md',
          'its parent may write src, docs/*.md',
        ),
      ),
    )
    // What matches the name of the folder is not what is in it.
    expect(child({ parent: fresh(root({ write_paths: [['.*']] })), request: { owns: ['.'] } }).adjustments).toEqual([
      adjustment('permissions.write_paths', '.', 'what of it is in .*', 'its parent may write .*'),
    ])
    expect(child({ parent: fresh(root({ write_paths: [[]] })), request: { owns: ['src'] } }).adjustments).toEqual([
      adjustment('permissions.write_paths', 'src', 'none', 'its parent may write nothing'),
    ])
  })
})

describe('a model', () => {
  const choice = (provider: string, model: string, source: string, adjustments: Adjustment[] = []) => ({
    provider,
    model,
    source,
    adjustments,
  })
  const alone = 'the profile helper is for p/cheap alone'
  const others = 'sub-agents here may use p/m, p/cheap, pool/fast'

  it.each<[Profile | null, string | undefined, object, string[]]>([
    [null, undefined, choice('p', 'm', 'inherited'), ['p/m', 'p/cheap', 'pool/fast']],
    [null, 'p/cheap', choice('p', 'cheap', 'request'), ['p/m', 'p/cheap', 'pool/fast']],
    [null, 'fast', choice('pool', 'fast', 'request'), ['p/m', 'p/cheap', 'pool/fast']],
    [
      null,
      'q/vendor/big',
      choice('p', 'm', 'inherited', [adjustment('model', 'q/vendor/big', 'p/m', others)]),
      ['p/m', 'p/cheap', 'pool/fast'],
    ],
    [{ model: 'p/cheap' }, undefined, choice('p', 'cheap', 'profile'), ['p/cheap']],
    [{ pool: 'fast' }, undefined, choice('pool', 'fast', 'profile'), ['pool/fast']],
    [{ model: 'p/cheap' }, 'p/cheap', choice('p', 'cheap', 'request'), ['p/cheap']],
    [
      { model: 'p/cheap' },
      'p/m',
      choice('p', 'cheap', 'profile', [adjustment('model', 'p/m', 'p/cheap', alone)]),
      ['p/cheap'],
    ],
    [{ models: ['p/cheap', 'p/m'] }, undefined, choice('p', 'm', 'inherited'), ['p/m', 'p/cheap']],
    [{ models: ['q/big', 'fast', 'p/cheap'] }, undefined, choice('pool', 'fast', 'profile'), ['p/cheap', 'pool/fast']],
    [{ models: ['p/cheap'] }, 'p/cheap', choice('p', 'cheap', 'request'), ['p/cheap']],
    [
      { models: ['p/cheap'] },
      'p/m',
      choice('p', 'cheap', 'profile', [adjustment('model', 'p/m', 'p/cheap', alone)]),
      ['p/cheap'],
    ],
    [{ model: 'p/cheap', models: ['fast'] }, undefined, choice('p', 'cheap', 'profile'), ['p/cheap', 'pool/fast']],
    [{ model: 'p/cheap', models: ['fast'] }, 'fast', choice('pool', 'fast', 'request'), ['p/cheap', 'pool/fast']],
    [
      { pool: 'fast', models: ['p/cheap', 'q/big'] },
      'p/m',
      choice('pool', 'fast', 'profile', [
        adjustment('model', 'p/m', 'pool/fast', 'the profile helper is for pool/fast, p/cheap, q/big'),
      ]),
      ['p/cheap', 'pool/fast'],
    ],
    // Its profile would have it; its parent may not give it.
    [
      { pool: 'fast', models: ['q/big'] },
      'q/big',
      choice('pool', 'fast', 'profile', [adjustment('model', 'q/big', 'pool/fast', others)]),
      ['pool/fast'],
    ],
    [{ model: 'q/big', models: ['p/m'] }, 'p/m', choice('p', 'm', 'request'), ['p/m']],
    [
      { model: 'q/big', models: ['q/vast', 'fast', 'p/m'] },
      undefined,
      choice('pool', 'fast', 'profile', [adjustment('model', 'q/big', 'pool/fast', others)]),
      ['p/m', 'pool/fast'],
    ],
    [
      { model: 'q/big', models: ['fast'] },
      'p/m',
      choice('pool', 'fast', 'profile', [
        adjustment('model', 'p/m', 'pool/fast', 'the profile helper is for q/big, pool/fast'),
        adjustment('model', 'q/big', 'pool/fast', others),
      ]),
      ['pool/fast'],
    ],
  ])('of profile %j and request %j is %j', (profile, model, chosen, allowed) => {
    const request = { task: 't', ...(model === undefined ? {} : { model }) }
    const named = profile ? { name: 'helper', profile, digest: '' } : null
    expect(chooseChildModel(root(), named, request)).toEqual({ ok: true, ...chosen })
    const contract = child({ request, ...(profile ? { profile } : {}) })
    expect({ ...contract.model, adjustments: contract.adjustments }).toEqual({ ...chosen, allowed })
  })

  const allow = 'with delegation.models (and the models of the profile that delegates), or use another profile.'

  it.each<[Profile, string | undefined, string]>([
    [{ model: 'q/big' }, undefined, `for q/big, and ${others}. Allow q/big ${allow}`],
    // Neither its parent's nor what was asked for is what the profile says.
    [{ model: 'q/big' }, 'p/m', `for q/big, and ${others}. Allow q/big ${allow}`],
    [{ pool: 'slow' }, 'p/cheap', `for pool/slow, and ${others}. Allow pool/slow ${allow}`],
    [{ models: ['q/big', 'slow'] }, 'p/m', `for q/big or pool/slow, and ${others}. Allow q/big or pool/slow ${allow}`],
    [{ models: [] }, undefined, 'for no model at all. Use another profile, or none.'],
    [{ models: [] }, 'p/m', 'for no model at all. Use another profile, or none.'],
  ])('of profile %j and request %j is none, rather than another', (profile, model, message) => {
    expect(refusal({ profile, request: model === undefined ? {} : { model } })).toBe(
      `Not spawned: the profile helper is ${message}`,
    )
  })

  it('that its profile is not for is refused, whoever chose it', () => {
    const derived = deriveContract({
      parent: fresh(root()),
      child: { id: 'a1', step_idx: 0 },
      profile: { name: 'helper', profile: { models: ['p/cheap'] }, digest: '' },
      request: { task: 't' },
      settings: DELEGATION_DEFAULTS,
      model: { provider: 'p', model: 'm', source: 'inherited', adjustments: [], window: null },
      known_tools: TOOLS,
      prompt_digest: '',
    })
    expect(derived).toEqual({ ok: false, message: `Not spawned: it cannot have p/m: ${alone}.` })
  })

  it('may be the parent’s own where its list has forgotten it', () => {
    const contract = root()
    contract.model.allowed = ['p/cheap']
    expect(child({ parent: fresh(contract) }).model.allowed).toEqual(['p/m', 'p/cheap'])
  })

  it('that the parent may not give is refused, whoever chose it', () => {
    const parent = fresh(root())
    const derived = deriveContract({
      parent,
      child: { id: 'a1', step_idx: 0 },
      profile: null,
      request: { task: 't' },
      settings: DELEGATION_DEFAULTS,
      model: { provider: 'q', model: 'big', source: 'request', adjustments: [], window: null },
      known_tools: TOOLS,
      prompt_digest: '',
    })
    expect(derived).toEqual({
      ok: false,
      message: 'Not spawned: its parent may not give it q/big, only p/m, p/cheap, pool/fast.',
    })
  })
})

describe('a budget', () => {
  const budget = (asked: Asked) => child(asked).execution.budget
  const clamp = (name: string, asked: string, given: string, reason: string) =>
    adjustment(`execution.budget.${name}`, asked, given, reason)

  it('comes from the request, else the profile, else the settings', () => {
    const settings = { budget: { tool_calls: 9, turns: 4 } }
    expect(budget({ settings })).toMatchObject({
      tool_calls: 9,
      turns: 4,
      context_tokens: 8192,
      total_tokens: 8 * 8192,
    })
    const profile: Profile = { budget: { tool_calls: 8, context_tokens: 4000 } }
    expect(budget({ settings, profile })).toMatchObject({ tool_calls: 8, turns: 4, total_tokens: 32_000 })
    expect(budget({ settings, profile, request: { budget: { tool_calls: 7 } } })).toMatchObject({ tool_calls: 7 })
  })

  it.each<[string, Asked, Partial<Budget>, Adjustment[]]>([
    [
      'the parent’s own counts',
      { request: { budget: { tool_calls: 400, turns: 151, context_tokens: 130_000 } } },
      { tool_calls: 300, turns: 150, context_tokens: 120_000 },
      [
        clamp('tool_calls', '400', '300', 'its parent has no more itself'),
        clamp('turns', '151', '150', 'its parent has no more itself'),
        clamp('context_tokens', '130000', '120000', 'its parent has no more itself'),
      ],
    ],
    [
      'what the model takes',
      { window: 10_000, request: { budget: { context_tokens: 16_000 } } },
      { context_tokens: 10_000 },
      [clamp('context_tokens', '16000', '10000', 'p/m takes no more')],
    ],
    [
      'the time left',
      { parent: fresh(root(), { wall_ms: 30_000.7 }), request: { budget: { wall_ms: 3_600_000 } } },
      { wall_ms: 30_000 },
      [clamp('wall_ms', '3600000', '30000', 'its parent has no more left')],
    ],
    [
      'the tokens, the money and the sub-agents left',
      {
        parent: fresh(root({ budget: { cost_usd: 1 } }), { total_tokens: 30_000, cost_usd: 0.5, sub_agents: 4 }),
        profile: { can_spawn_children: true },
        request: { budget: { total_tokens: null, cost_usd: null, sub_agents: 50 } },
      },
      { total_tokens: 30_000, cost_usd: 0.5, sub_agents: 3 },
      [
        clamp('total_tokens', 'no limit', '30000', 'its parent has no more left'),
        clamp('cost_usd', 'no limit', '0.5', 'its parent has no more left'),
        clamp('sub_agents', '50', '3', 'its parent has no more left'),
      ],
    ],
    [
      'its profile',
      {
        profile: { budget: { tool_calls: 5, total_tokens: 9000 } },
        request: { budget: { tool_calls: 6, total_tokens: null } },
      },
      { tool_calls: 5, total_tokens: 9000 },
      [
        clamp('tool_calls', '6', '5', 'the profile helper gives no more'),
        clamp('total_tokens', 'no limit', '9000', 'the profile helper gives no more'),
      ],
    ],
    [
      'no sub-agents where it may have none',
      { request: { budget: { sub_agents: 2 } } },
      { sub_agents: 0 },
      [clamp('sub_agents', '2', '0', 'it may not have sub-agents')],
    ],
    [
      'a profile’s wish to what there is',
      { profile: { budget: { tool_calls: 500 } } },
      { tool_calls: 300, turns: 150 },
      [clamp('tool_calls', '500', '300', 'its parent has no more itself')],
    ],
  ])('is held to %s, and says so', (_, asked, given, adjustments) => {
    const contract = child(asked)
    expect(contract.execution.budget).toMatchObject(given)
    expect(contract.adjustments).toEqual(adjustments)
  })

  it('that nobody asked for is held to it without a word, and leaves half of the rest', () => {
    const small = fresh(
      root({ budget: { tool_calls: 4, turns: 3, context_tokens: 5000, wall_ms: 20_000, cost_usd: 2 } }),
      { total_tokens: 40_003, sub_agents: 8 },
    )
    const contract = child({ parent: small, profile: { can_spawn_children: true } })
    expect(contract.execution.budget).toEqual({
      tool_calls: 4,
      turns: 3,
      context_tokens: 5000,
      wall_ms: 20_000,
      total_tokens: 20_001,
      cost_usd: 0.5,
      sub_agents: 2,
    })
    expect(contract.adjustments).toEqual([])
    expect(child({ window: 4000 })).toMatchObject({ execution: { budget: { context_tokens: 4000 } }, adjustments: [] })
  })

  it('has no limit only where its parent has none', () => {
    const parent = fresh(root({ budget: { total_tokens: null } }))
    expect(budget({ parent, request: { budget: { total_tokens: null } } })).toMatchObject({
      total_tokens: null,
      cost_usd: null,
    })
    expect(budget({ parent }).total_tokens).toBe(65_536)
    expect(budget({ parent, profile: { can_spawn_children: true } }).total_tokens).toBe(null)
    expect(budget({ parent, request: { budget: { cost_usd: 3 } } }).cost_usd).toBe(3)
  })

  it.each<[Partial<Budget>, string]>([
    [{ tool_calls: 0 }, 'tool_calls must be positive'],
    [{ turns: -1 }, 'turns must be positive'],
    [{ wall_ms: 4999, cost_usd: 0 }, 'cost_usd must be positive; wall_ms must be at least 5000'],
    [{ sub_agents: -1 }, 'sub_agents must not be negative'],
    [{ total_tokens: 1999 }, 'total_tokens must be at least 2000 for a sub-agent'],
    [
      { calls: 3 } as never,
      'there is no budget of calls; there are tool_calls, turns, context_tokens, wall_ms, total_tokens, cost_usd, sub_agents',
    ],
    [{ tool_calls: 2.5, turns: 3 }, 'execution.budget.tool_calls: Invalid input: expected int, received number'],
  ])('of %j is refused', (wish, fault) => {
    expect(refusal({ request: { budget: wish } })).toBe(`Not spawned: ${fault}.`)
    expect(refusal({ profile: { budget: wish } })).toBe(`Not spawned: ${fault}.`)
  })

  describe('that nobody asked for', () => {
    const lead: Profile = { can_spawn_children: true }
    const part = (limits: Partial<Budget>, left: Partial<Parent['left']>, profile?: Profile) => {
      const { total_tokens, cost_usd } = budget({
        parent: fresh(root({ budget: limits }), left),
        ...(profile ? { profile } : {}),
      })
      return [total_tokens, cost_usd]
    }

    it('is eight full requests and a tenth of the money, more for one that delegates, and half of what is left at most', () => {
      const limits = { total_tokens: 1_000_000, cost_usd: 2 }
      expect(part(limits, {})).toEqual([65_536, 0.2])
      expect(part(limits, {}, lead)).toEqual([250_000, 0.5])
      expect(part(limits, { total_tokens: 100_001, cost_usd: 0.3 })).toEqual([50_000, 0.15])
      expect(part(limits, { total_tokens: 100_001, cost_usd: 0.3 }, lead)).toEqual([50_000, 0.15])
      // Ten that read much at once fit into a limit, however small it is.
      expect(part({ total_tokens: 200_000 }, {})).toEqual([20_000, null])
      expect(part({ total_tokens: 200_000 }, {}, lead)).toEqual([50_000, null])
      // One that has no sub-agents left to have is no other than the rest.
      expect(part(limits, { sub_agents: 1 }, lead)).toEqual([65_536, 0.2])
    })

    it('is the same for eight at once', () => {
      const limits = { total_tokens: 1_200_000, cost_usd: 2 }
      const left = { ...limits }
      for (let n = 0; n < 8; n += 1) {
        const [tokens = 0, cost = 0] = part(limits, left) as number[]
        expect([tokens, cost]).toEqual([65_536, 0.2])
        left.total_tokens -= tokens
        left.cost_usd -= cost
      }
    })

    it('gives way to the settings', () => {
      const settings = { budget: { total_tokens: 30_000, cost_usd: 0.01 } }
      const parent = fresh(root({ budget: { cost_usd: 2 } }))
      expect(budget({ parent, settings })).toMatchObject({ total_tokens: 30_000, cost_usd: 0.01 })
      expect(budget({ parent, settings, profile: lead })).toMatchObject({ total_tokens: 30_000, cost_usd: 0.01 })
    })

    it('is at least what it needs, where that is there', () => {
      const parent = fresh(root({ budget: { total_tokens: 20_000, cost_usd: 0.1 } }), { total_tokens: 3000 })
      expect(budget({ parent, least_usd: 0.0196 })).toMatchObject({ total_tokens: 2000, cost_usd: 0.0196 })
      expect(budget({ parent, least_tokens: 2900 }).total_tokens).toBe(2900)
    })
  })

  const rest = 'o the rest yourself, or answer with what you have.'
  const wait = (aside: string) =>
    `Wait for running sub-agents with spawn_await, which gives back what they do not use of the ${aside} set aside for them, d${rest}`

  it.each<[Partial<Budget>, Partial<Omit<Parent, 'left'>>, Partial<Parent['left']>, Asked, string]>([
    [{ sub_agents: 1 }, {}, { sub_agents: 0 }, {}, `the budget of 1 sub-agent is used up. D${rest}`],
    [{ sub_agents: 1500 }, {}, { sub_agents: 0 }, {}, `the budget of 1,500 sub-agents is used up. D${rest}`],
    [
      { total_tokens: 20_000 },
      {},
      { total_tokens: 1999 },
      {},
      `1,999 tokens are left of 20,000; a sub-agent needs at least 2,000. D${rest}`,
    ],
    [
      { total_tokens: 20_000 },
      { kept: { total_tokens: 6000, cost_usd: 0 }, reserved: { total_tokens: 0, cost_usd: 1 } },
      { total_tokens: 1999 },
      {},
      `7,999 tokens are left of 20,000, of which 6,000 are kept for your own next turns; a sub-agent needs at least 2,000. D${rest}`,
    ],
    [
      { total_tokens: 20_000 },
      { kept: { total_tokens: 6000, cost_usd: 0 }, reserved: { total_tokens: 12_345, cost_usd: 0 } },
      { total_tokens: -500 },
      {},
      `5,500 tokens are left of 20,000, all of it kept for your own next turns; a sub-agent needs at least 2,000. ${wait('12,345')}`,
    ],
    [
      { total_tokens: 20_000 },
      { kept: { total_tokens: 6000, cost_usd: 0 } },
      { total_tokens: -7000 },
      { least_tokens: 8401 },
      `0 tokens are left of 20,000; a sub-agent needs at least 8,401. D${rest}`,
    ],
    [{ cost_usd: 0.3 }, {}, { cost_usd: 0 }, {}, `0 USD are left of 0.3. D${rest}`],
    [
      { cost_usd: 0.1 },
      { kept: { total_tokens: 0, cost_usd: 0.02 }, reserved: { total_tokens: 5000, cost_usd: 0 } },
      { cost_usd: 0.1 - 0.0692156862745 - 0.02 },
      { least_usd: 0.0196078431 },
      `0.0307 USD are left of 0.1, of which 0.02 are kept for your own next turns; a sub-agent needs at least 0.0197. D${rest}`,
    ],
    [
      { cost_usd: 1 },
      { reserved: { total_tokens: 5000, cost_usd: 0.1 + 0.2 } },
      { cost_usd: 0.00002 },
      { least_usd: 0.00003 },
      `less than 0.0001 USD are left of 1; a sub-agent needs at least 0.0001. ${wait('0.3')}`,
    ],
    [
      { wall_ms: 60_000 },
      {},
      { wall_ms: 4987 },
      {},
      `of the budget of 60 seconds, 4.9 are left, and a sub-agent needs at least 5. D${rest}`,
    ],
    [
      { cost_usd: 1 },
      {},
      {},
      { least_usd: 0.0196, settings: { budget: { cost_usd: 0.001 } } },
      'its budget gives it 0.001 USD, and a sub-agent needs at least 0.0196. Ask for more, use another profile, or do it yourself.',
    ],
    [
      {},
      {},
      {},
      { least_tokens: 8400, request: { budget: { total_tokens: 4000 } } },
      'its budget gives it 4,000 tokens, and a sub-agent needs at least 8,400. Ask for more, use another profile, or do it yourself.',
    ],
  ])('is refused where there is too little: of %j %j %j, asked %j', (limits, more, left, asked, message) => {
    const parent = { ...fresh(root({ budget: limits }), left), ...more }
    expect(refusal({ ...asked, parent })).toBe(`Not spawned: ${message}`)
  })

  it('can be more than the usual share, where it is asked for', () => {
    const parent = fresh(root(), { total_tokens: 7999 })
    expect(budget({ parent }).total_tokens).toBe(3999)
    expect(budget({ parent, request: { budget: { total_tokens: 7000 } } }).total_tokens).toBe(7000)
  })

  it('says what was not given in few digits', () => {
    const parent = fresh(root({ budget: { cost_usd: 1 } }), { cost_usd: 0.1 + 0.2 })
    expect(child({ parent, request: { budget: { cost_usd: 5 } } }).adjustments).toEqual([
      clamp('cost_usd', '5', '0.3', 'its parent has no more left'),
    ])
  })

  it('that is tiny for one request is still enough to begin with', () => {
    expect(budget({ request: { budget: { context_tokens: 100, tool_calls: 1 } } }).total_tokens).toBe(2000)
  })

  it('bounds attempts and their number', () => {
    const asked: Asked = { profile: { attempt_timeout_ms: 90_000, max_retries: 1 }, request: { max_retries: 5 } }
    expect(child(asked)).toMatchObject({
      execution: { attempt_timeout_ms: 60_000, max_retries: 1 },
      adjustments: [
        adjustment('execution.attempt_timeout_ms', '90000', '60000', 'it has no more time'),
        adjustment('execution.max_retries', '5', '1', 'the profile helper gives no more'),
      ],
    })
    expect(child({ profile: { attempt_timeout_ms: 10 } }).execution.attempt_timeout_ms).toBe(5000)
    expect(refusal({ request: { max_retries: -1 } })).toMatch('execution.max_retries')
  })
})

it('an empty task is refused', () => {
  expect(refusal({ request: { task: ' \n' } })).toBe('Not spawned: the task is empty. Say what the sub-agent is to do.')
})

describe('the contract of a root agent', () => {
  it('lets it delegate as far as the settings say', () => {
    const contract = root({ max_concurrent: 4, delegation: { ...DELEGATION, models: ['p/m', 'fast', 'pool/fast'] } })
    expect(contract.permissions).toMatchObject({
      can_spawn_children: true,
      max_delegation_depth: 2,
      allowed_tools: TOOLS,
    })
    expect(contract.permissions).toEqual(rootAuthority(REQUEST))
    expect(contract.execution).toMatchObject({ max_concurrent: 4, budget: { sub_agents: 100 } })
    expect(contract.model.allowed).toEqual(['p/m', 'pool/fast'])
    expect(unenforceable(contract, { sandboxed: true, priced: true })).toEqual([])
  })
})

// Any parent, any profile, any request.

const GLOBS = ['**', 'src', 'src/*.ts', 'docs/**', '.']
const PATHS = ['src/a.ts', 'src/deep/b.ts', 'docs/c.md', 'x']
const MODELS = ['p/m', 'p/cheap', 'pool/fast', 'q/big', 'fast']
const PATTERNS = [...TOOLS, '*', 'git_*', 'mcp__tracker__*', 'spawn*']
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const mode = fc.constantFrom(...MODES)
/** Plan mode denies nearly everything, and of several layers the narrowest counts. */
const wideMode = fc.constantFrom<Authority['mode']>(
  'plan',
  'normal',
  'normal',
  'auto',
  'auto',
  'auto',
  'dangerous',
  'dangerous',
)

const rule: fc.Arbitrary<Rule> = fc.record({
  decision: fc.constantFrom<Decision>('allow', 'ask', 'deny'),
  tool: fc.constantFrom(...TOOLS, '*'),
  pattern: fc.option(fc.constantFrom(...GLOBS, 'git *'), { nil: null }),
})
const layers = fc.array(fc.subarray(GLOBS), { minLength: 1, maxLength: 3 })

const authority: fc.Arbitrary<Authority> = fc
  .record({
    allowed_tools: fc.subarray(TOOLS),
    allowed_skills: fc.subarray(['roofing', 'painting']),
    allowed_mcp_servers: fc.subarray(['tracker', 'db']),
    read_paths: layers,
    write_paths: layers,
    rules: fc.array(fc.record({ mode: wideMode, rules: fc.array(rule, { maxLength: 4 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    network: fc.constantFrom<Authority['network']>('none', 'tools', 'all'),
    can_ask_person: fc.boolean(),
    unasked: fc.option(mode, { nil: null }),
    can_spawn_children: fc.constant(true),
    max_delegation_depth: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ unasked, ...value }) => ({
    ...value,
    ...(unasked === null ? {} : { unasked }),
    mode: MODES[Math.min(...value.rules.map((layer) => MODES.indexOf(layer.mode)))] as Authority['mode'],
  }))

const whole = (min: number, max: number) => fc.integer({ min, max })
const limits: fc.Arbitrary<Budget> = fc.record({
  tool_calls: whole(1, 100),
  turns: whole(1, 100),
  context_tokens: whole(1, 50_000),
  wall_ms: whole(6000, 100_000),
  total_tokens: fc.option(whole(9000, 500_000), { nil: null }),
  cost_usd: fc.option(fc.double({ min: 0.001, max: 10, noNaN: true }), { nil: null }),
  sub_agents: whole(1, 60),
})
/** Also such as are nonsense. */
const wish: fc.Arbitrary<Partial<Budget>> = fc.record(
  {
    tool_calls: fc.oneof(whole(-1, 200), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY)),
    turns: whole(-1, 200),
    context_tokens: whole(0, 100_000),
    wall_ms: whole(4000, 200_000),
    total_tokens: fc.option(whole(0, 1_000_000), { nil: null }),
    cost_usd: fc.option(fc.double({ min: -0.1, max: 20, noNaN: true }), { nil: null }),
    sub_agents: whole(-1, 100),
  },
  { requiredKeys: [] },
)
const sensible: fc.Arbitrary<Partial<Budget>> = limits.chain((all) =>
  fc.subarray(Object.keys(all)).map((names) => pick(all, names)),
)

function pick(all: Budget, names: string[]): Partial<Budget> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

const parent: fc.Arbitrary<Parent> = fc
  .record({
    permissions: authority,
    budget: limits,
    part: fc.double({ min: 0.3, max: 1, noNaN: true }),
    depth: whole(0, 2),
    allowed: fc.subarray(['p/m', 'p/cheap', 'pool/fast'], { minLength: 1 }),
  })
  .map(({ permissions, budget, part, depth, allowed }) => {
    const contract = root()
    const rest = (limit: number | null) => (limit === null ? Number.POSITIVE_INFINITY : limit * part)
    return {
      agent_id: 'a1',
      contract: {
        ...contract,
        parent: { ...contract.parent, depth },
        permissions,
        model: { ...contract.model, allowed },
        execution: { ...contract.execution, budget, attempt_timeout_ms: budget.wall_ms },
      },
      left: {
        total_tokens: rest(budget.total_tokens),
        cost_usd: rest(budget.cost_usd),
        sub_agents: Math.floor(rest(budget.sub_agents)),
        wall_ms: rest(budget.wall_ms),
      },
    }
  })

const profile: fc.Arbitrary<Profile> = fc.record(
  {
    tools: fc.subarray(PATTERNS),
    skills: fc.subarray(['roofing', 'paint*', 'flying']),
    mcp_servers: fc.subarray(['tracker', 'd*', 'moon']),
    model: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('p/m', 'p/cheap', 'fast') }, fc.constant('q/big')),
    models: fc.subarray(MODELS, { minLength: 1 }),
    mode,
    budget: sensible,
    attempt_timeout_ms: whole(5000, 200_000),
    max_retries: whole(0, 3),
    can_spawn_children: fc.boolean(),
  },
  { requiredKeys: [] },
)

const request = fc.record(
  {
    task: fc.constant('Count the tiles'),
    tools: fc.subarray([...PATTERNS, 'fly']),
    mode,
    model: fc.constantFrom(...MODELS),
    owns: fc.array(fc.constantFrom(...GLOBS), { maxLength: 2 }),
    budget: fc.oneof({ weight: 9, arbitrary: sensible }, { weight: 1, arbitrary: wish }),
    max_retries: whole(0, 3),
  },
  { requiredKeys: ['task'] },
)

const asked: fc.Arbitrary<Asked> = fc.record({
  parent,
  profile: optional(profile),
  request,
  settings: fc.record({ ask_person: fc.boolean() }),
  window: fc.option(whole(1, 60_000), { nil: null }),
}) as fc.Arbitrary<Asked>

/** The same with a wish for where it works. */
const placed: fc.Arbitrary<Asked> = fc
  .tuple(asked, optional(fc.constantFrom(...ISOLATIONS)), fc.boolean())
  .map(([asked, isolation, byProfile]) => {
    if (isolation === undefined) return asked
    if (byProfile) return { ...asked, profile: { ...asked.profile, isolation } }
    return { ...asked, request: { ...asked.request, isolation } }
  })

const path = fc.record({ path: fc.constantFrom(...PATHS), access: fc.constantFrom<'read' | 'write'>('read', 'write') })
const words = (...list: string[]) => ({
  kind: 'command' as const,
  words: list,
  spelled: [],
  hides: false,
  rides: false,
})
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    tool: fc.constant('read_file'),
    effect: fc.constant('read' as const),
    paths: fc.array(path, { maxLength: 2 }),
  }),
  fc.record({
    tool: fc.constant('write_file'),
    effect: fc.constant('write' as const),
    paths: fc.array(path, { maxLength: 2 }),
  }),
  fc.record({
    tool: fc.constant('run_command'),
    effect: fc.constant('execute' as const),
    paths: fc.constant([]),
    commands: fc.option(fc.array(fc.constantFrom(words('git', 'log'), words('rm', 'x')), { maxLength: 2 }), {
      nil: null,
    }),
    sandboxed: fc.boolean(),
  }),
  fc.record({
    tool: fc.constant('read_file'),
    effect: fc.constant('fetch' as const),
    paths: fc.constant([]),
    address: fc.constant('example.org'),
  }),
  fc.record({
    tool: fc.constant('mcp__db__query'),
    effect: fc.constant('external' as const),
    paths: fc.constant([]),
    server: fc.constant('db'),
  }),
  fc.record({
    tool: fc.constantFrom('spawn', 'delegate_task'),
    effect: fc.constant('delegate' as const),
    paths: fc.constant([]),
    depth: whole(0, 3),
  }),
  fc.record({ tool: fc.constant('ask_user'), effect: fc.constant('ask_person' as const), paths: fc.constant([]) }),
)

/** Calls that change files, or run what might. */
const writing = call.filter(({ effect, paths, sandboxed }) => {
  if (effect === 'execute') return sandboxed !== false
  return effect === 'write' && paths.some(({ access }) => access === 'write')
})

const WIDTH: Record<Decision, number> = { deny: 0, ask: 1, allow: 2 }

/** What really becomes of a call: a question that nobody can be asked is answered by the contract. */
function effective(authority: Authority, call: Call): Decision {
  const { decision, by } = permits(authority, call)
  if (decision !== 'ask' || authority.can_ask_person) return decision
  return by === 'mode' && allowedUnasked(authority, call) ? 'allow' : 'deny'
}

/** Derives only what is not refused; how often that is, is looked at below. */
function derived(asked: Asked): Contract | null {
  const result = derive(asked)
  return result.ok ? result.contract : null
}

function inside(child: Contract, { contract: above, left }: Parent, expecting = expect): void {
  const within = (list: readonly string[], whole: readonly string[]) =>
    expecting(whole).toEqual(expect.arrayContaining([...list]))
  const a = child.permissions
  const b = above.permissions
  within(a.allowed_tools, b.allowed_tools)
  within(a.allowed_skills, b.allowed_skills)
  within(a.allowed_mcp_servers, b.allowed_mcp_servers)
  within(child.model.allowed, ['p/m', ...above.model.allowed])
  within([`${child.model.provider}/${child.model.model}`], ['p/m', ...above.model.allowed])
  for (const name of ['read_paths', 'write_paths', 'rules'] as const) {
    for (const layer of b[name]) expecting(a[name]).toContainEqual(layer)
  }
  expecting(MODES.indexOf(a.mode)).toBeLessThanOrEqual(MODES.indexOf(b.mode))
  expecting(a.network).toBe(b.network)
  expecting(!a.can_ask_person || b.can_ask_person).toBe(true)
  expecting(a.max_delegation_depth).toBe(b.max_delegation_depth - 1)
  expecting(a.can_spawn_children && (a.max_delegation_depth === 0 || a.mode === 'plan')).toBe(false)
  if (!a.can_spawn_children) expecting(a.allowed_tools.filter((tool) => DELEGATION_TOOLS.includes(tool))).toEqual([])
  if (!a.can_ask_person) expecting(a.allowed_tools).not.toContain('ask_user')

  const got = child.execution.budget
  const had = above.execution.budget
  for (const name of ['tool_calls', 'turns', 'context_tokens', 'wall_ms'] as const) {
    expecting(got[name]).toBeLessThanOrEqual(had[name])
  }
  expecting(got.wall_ms).toBeLessThanOrEqual(left.wall_ms)
  expecting(child.execution.attempt_timeout_ms).toBeLessThanOrEqual(got.wall_ms)
  for (const name of ['total_tokens', 'cost_usd'] as const) {
    expecting(got[name] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(left[name])
  }
  expecting(got.sub_agents + 1).toBeLessThanOrEqual(left.sub_agents)
  const ledger = { ...openLedger(had), spent: { ...openLedger(had).spent } }
  for (const name of ['total_tokens', 'cost_usd', 'sub_agents'] as const) {
    const limit = had[name]
    if (limit !== null) ledger.spent[name] = limit - left[name]
  }
  if (got.cost_usd === null || got.cost_usd <= left.cost_usd / 2) {
    // (Where all of the money goes to one, the last bit of a float is not worth a test.)
    expecting(reserve(ledger, { ...got, sub_agents: got.sub_agents + 1 }).ok).toBe(true)
  }
  expecting(contractSchema.safeParse(child).success).toBe(true)
}

const isAboutReading = (fault: string) => fault.includes('read_only')

describe('whatever is asked for', () => {
  it('nothing widens: a sub-agent does nothing that its parent could not do, and nothing unasked that it would have to ask', () => {
    let unasked = 0
    fc.assert(
      fc.property(asked, fc.array(call, { minLength: 1, maxLength: 8 }), (asked, calls) => {
        const contract = derived(asked)
        const above = asked.parent?.contract.permissions as Authority
        fc.pre(contract !== null)
        for (const call of calls) {
          expect(WIDTH[permits(contract.permissions, call).decision]).toBeLessThanOrEqual(
            WIDTH[permits(above, call).decision],
          )
          const done = effective(contract.permissions, call)
          expect(WIDTH[done]).toBeLessThanOrEqual(WIDTH[effective(above, call)])
          if (done === 'allow' && permits(contract.permissions, call).decision === 'ask') unasked += 1
        }
      }),
      { numRuns: 2000 },
    )
    expect(unasked).toBeGreaterThan(10)
  }, 120_000)

  it('one that is said to write nothing has no call by which it could, nor have those below it', () => {
    const seen = { reading: 0, done: 0 }
    fc.assert(
      fc.property(placed, placed, fc.array(writing, { minLength: 4, maxLength: 8 }), (first, second, calls) => {
        const contract = derived(first)
        fc.pre(contract !== null)
        const below = derived({ ...second, parent: fresh(contract, {}, 'a1.1') })
        if (!mayWrite(contract) && below) expect(mayWrite(below)).toBe(false)
        expect(contract.workspace.isolation === 'read_only').toBe(!mayWrite(contract))
        expect(unenforceable(contract, { sandboxed: true, priced: true }).filter(isAboutReading)).toEqual([])
        for (const call of calls) {
          const done = effective(contract.permissions, call) !== 'deny'
          // With nothing of its own a command still runs, behind a fence that lets it write nothing.
          const isFenced =
            call.effect === 'execute' && contract.permissions.write_paths.some(({ length }) => length === 0)
          if (done && !isFenced) expect(mayWrite(contract)).toBe(true)
          if (done) seen.done += 1
          else seen.reading += 1
        }
      }),
      { numRuns: 2000 },
    )
    expect(seen.done).toBeGreaterThan(100)
    expect(seen.reading).toBeGreaterThan(100)
  }, 120_000)

  it('every list and every number is inside the parent’s, and so are those of the next level', () => {
    let levels = [0, 0]
    fc.assert(
      fc.property(asked, asked, (first, second) => {
        const contract = derived(first)
        fc.pre(contract !== null)
        inside(contract, first.parent as Parent)
        levels = [(levels[0] ?? 0) + 1, levels[1] ?? 0]
        const parent = fresh(contract, {}, 'a1.1')
        const below = derived({ ...second, parent })
        if (below === null) return
        inside(below, parent)
        levels = [levels[0] ?? 0, (levels[1] ?? 0) + 1]
      }),
      { numRuns: 2000 },
    )
    // Properties of nothing are no properties.
    expect(levels[0]).toBeGreaterThan(1000)
    expect(levels[1]).toBeGreaterThan(50)
  }, 120_000)

  it('a wish that is not granted in full is among the adjustments', () => {
    fc.assert(
      fc.property(asked, (asked) => {
        const contract = derived(asked)
        fc.pre(contract !== null)
        const request = asked.request as DelegationRequest
        const told = (field: string, wish: string) =>
          contract.adjustments.some((one) => one.field === field && one.asked === wish && one.reason !== '')
        const { permissions, execution } = contract
        if (request.mode)
          expect(told('permissions.mode', request.mode)).toBe(
            request.mode !== permissions.mode && MODES.indexOf(request.mode) > MODES.indexOf(permissions.mode),
          )
        for (const tool of request.tools ?? []) {
          if (tool.includes('*')) {
            if (tool !== '*' && !permissions.allowed_tools.some((name) => matchesWord(tool, name)))
              expect(told('permissions.allowed_tools', tool)).toBe(true)
          } else expect(told('permissions.allowed_tools', tool)).toBe(!permissions.allowed_tools.includes(tool))
        }
        if (request.model) {
          const name = request.model === 'fast' ? 'pool/fast' : request.model
          expect(told('model', request.model)).toBe(name !== `${contract.model.provider}/${contract.model.model}`)
        }
        for (const [name, value] of Object.entries(request.budget ?? {}) as [keyof Budget, number | null][]) {
          const given = execution.budget[name]
          const adjusted = contract.adjustments.find(({ field }) => field === `execution.budget.${name}`)
          expect(adjusted === undefined).toBe(given === value)
        }
        if (request.max_retries !== undefined && execution.max_retries < request.max_retries)
          expect(told('execution.max_retries', String(request.max_retries))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  }, 120_000)
})
